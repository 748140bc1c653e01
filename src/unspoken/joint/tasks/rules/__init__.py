"""Association rules over what several owners have (vcz2006 section 6.2).

`horizontal`: every owner has baskets of its own customers. `vertical`: every owner has some items
of the same baskets.
"""
