"""Distance-based outliers of several owners (vcz2006 section 7.3).

`rules` holds what everybody knows, the edges of the definition among it; `counting` compares
distances and counts, block by block; `vertical` (Algorithm 4) and `horizontal` (Algorithm 3) are
the two ways in which data can lie; `third` is the faster and weaker way of section 7.3.7;
`central` does the same on pooled data.
"""
