"""What travels between parties: frames, and the transports that carry them."""
