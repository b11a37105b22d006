"""Calls of the driver that are wrong, by chapters: what a device answers to each is its code.

A chapter is a module with a table `CALLS` of what a call is and the call, which takes `Fixtures`; `begin`
gives what a process of the chapter has before its first call. `python -m wrong_calls` says how they are made.
Wrong values are those that a program's bug
makes: zero, handles that were destroyed, handles of something else, numbers out of range, structures that
contradict themselves.
"""
