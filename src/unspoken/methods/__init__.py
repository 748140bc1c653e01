"""Release methods, one folder per family; what belongs to a method lies with it."""

FAMILIES = (
    "unspoken.methods.encoding.method",
    "unspoken.methods.rotation.method",
    "unspoken.methods.distortion.method",
    "unspoken.methods.baskets.method",
    "unspoken.methods.anonymity.method",
    "unspoken.methods.private.method",
)
"""Where the methods are declared: a new family is one folder and one line here."""
