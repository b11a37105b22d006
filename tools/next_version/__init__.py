"""What a new ptxas takes that the rows lack: `python -m tools.next_version INPUT.. --rows 5000`.

Statements come from texts (PTX files, a manual's Markdown, a library's inline assembly) and from rows, each
with a modifier more. They are put to the new ptxas and to the one before. A statement is new where the one
before refuses it, the new one takes it, and refuses it for the version before with a message that says so.
The rows lack it where the checker refuses it for the newest version that they know. Nothing is taken out of
a binary but what it prints.
"""
