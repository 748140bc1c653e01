"""Where an owner's number stands among those of all owners (vcz2006 chapter 8: benchmarking)."""
