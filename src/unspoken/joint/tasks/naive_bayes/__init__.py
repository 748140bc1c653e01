"""Naive Bayes of several owners (vcz2006 sections 4.5.1 and 4.5.2), and private classification.

`layout` is what everybody knows, `moments` turns shared sums into means and variances.
`horizontal`: rows are spread, and sums or ratios come out. `vertical`: columns are spread, the
parameters stay split, and only the class of a new record comes out. `scoring` finds that class on
shares; `private` uses it where one side has a model and the other the records. `central` is the
same on pooled data.
"""
