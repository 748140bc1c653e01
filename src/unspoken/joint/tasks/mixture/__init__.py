"""Gaussian mixtures by EM over the rows of several owners (vcz2006 section 7.2.1).

`terms` is what everybody knows, `steps` the two steps of EM, `guards` refuses to open clusters that
are, or change by, too few members, `em` is the program, and `central` the same on pooled rows.
"""
