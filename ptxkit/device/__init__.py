"""What both devices are: their protocol, and how arguments are packed."""
