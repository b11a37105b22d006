"""What leads programs to a virtual GPU beyond the libraries' names: variables of their environment, and for
Python programs a hook that waits for the packages that need one. Nothing is changed on disk, and nothing of
a package that has a setting for it.
"""
