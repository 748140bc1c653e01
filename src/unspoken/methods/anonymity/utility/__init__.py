"""What a release is still good for, beside what it risks."""

from __future__ import annotations

from unspoken.methods.anonymity.utility.release_utility import ReleaseUtility, release_utility
from unspoken.methods.anonymity.utility.risk_utility_frontier import Frontier, Tried, frontier

__all__ = ["Frontier", "ReleaseUtility", "Tried", "frontier", "release_utility"]
