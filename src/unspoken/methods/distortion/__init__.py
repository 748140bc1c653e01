"""People distort their own values; distributions can still be learned (as2000)."""
