"""What editors and documents ask about PTX, answered by the parser, the checker and the rows.

`document`, `locate`, `hover` and `complete` are plain functions of a text and a place in it; `server` alone
knows the language server protocol, and pygls. `highlight` colours PTX for Pygments.
"""
