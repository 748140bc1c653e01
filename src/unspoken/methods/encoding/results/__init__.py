"""What goes back to a miner: forms of a decoded model, what each gives away, and a policy."""
