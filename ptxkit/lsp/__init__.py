"""The language server: what an editor asks about PTX, answered by the parser, the checker and the rows.

`document`, `locate`, `hover` and `complete` are plain functions of a text and a place in it; `server` alone
knows the protocol, and pygls.
"""
