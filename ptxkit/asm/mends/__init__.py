"""Changes of one place of a text that may be what was meant; `running.mending` tries them out."""
