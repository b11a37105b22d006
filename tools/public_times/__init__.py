"""Kernels of others whose times on a GPU are public: how far off is the model where we have no GPU?"""
