"""The next values of series that owners have parts of (vcz2006 chapter 8: forecasting)."""
