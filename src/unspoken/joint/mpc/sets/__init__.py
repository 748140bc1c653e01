"""Sets of ids: intersection, union and alignment by encryptions that commute."""
