"""Work in processes that can be killed, shared out over workers, one at a time on a GPU."""
