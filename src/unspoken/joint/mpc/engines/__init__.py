"""Engines under the same shares, behind one interface; what each mode means stands here alone."""
