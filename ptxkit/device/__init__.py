"""What both devices are: their protocol, how arguments are packed, what a launch must satisfy."""
