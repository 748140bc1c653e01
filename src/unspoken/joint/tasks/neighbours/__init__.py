"""Classes by the nearest neighbours, among the rows of several owners (vcz2006 section 7.3.3).

`params` says how distances are measured and how ties are decided; `program_rows` is what every
party runs; `pooled` does the same in one place.
"""
