"""What a published model tells about the people it was learned from."""
