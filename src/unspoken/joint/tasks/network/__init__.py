"""The structure of a Bayesian network over the columns of several sites (vcz2006 section 4.5.3).

`terms` is what everybody knows, `factorials` gives ln x! on shares, `counting` the counts of all
candidate parents, `k2` is the program, and `central` the same on pooled columns.
"""
