"""What any room may lean on, and which knows nothing of PTX."""
