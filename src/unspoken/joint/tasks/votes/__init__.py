"""Local models of several owners vote on private records (vcz2006 chapter 4)."""
