"""k-means over columns or rows of several owners (vcz2006 sections 7.2.1 and 7.2.2).

`rules` holds what everybody knows, and the arithmetic that all ways have in common; `closest`
finds the nearest centre on shares; `hidden` runs the whole loop on shares; `vertical` and
`horizontal` are the two ways in which data can lie; `central` does the same on pooled data.
"""
