"""Association rules: every set of a few items counted in a plain loop."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from support.random_studies.trials import Trial, owners_of, same

ITEMS = ("a", "b", "c", "d", "e")


def _baskets(random, count):
    """Return baskets, of which some items are rare and some always come together."""
    chances, out = random.uniform(0.05, 0.9, len(ITEMS)), []
    for _ in range(count):
        basket = {item for item, chance in zip(ITEMS, chances, strict=True)
                  if random.random() < chance}
        out.append(basket | ({"b"} if "a" in basket and random.random() < 0.9 else set()))
    return out


def _associations(baskets, support, confidence, longest):
    """Return frequent sets and rules of all baskets."""
    total = len(baskets)
    counts = {items: sum(set(items) <= basket for basket in baskets)
              for size in range(1, longest + 1) for items in combinations(ITEMS, size)}
    least = Fraction(str(support)) * total
    frequent = {items for items, count in counts.items() if count >= least and count > 0}
    rules = set()
    for items in frequent:
        for size in range(1, len(items)):
            for left in combinations(items, size):
                if counts[items] >= Fraction(str(confidence)) * counts[left]:
                    rules.add((left, tuple(i for i in items if i not in left)))
    return frequent, rules


def _listed(found, name):
    """Return one list of sets of a result's file."""
    plain = found.to_json()
    codes, out = iter(plain[f"{name}_codes"]), []
    for size in plain[f"{name}_sizes"]:
        out.append(tuple(sorted(plain["items"][next(codes)] for _ in range(size))))
    return out


def _check(baskets, support, confidence, longest):
    def check(outputs):
        frequent, rules = _associations(baskets, support, confidence, longest)
        for found in outputs.values():
            sets = _listed(found, "sets")
            yield same("sets", (len(sets), set(sets)), (len(frequent), frequent))
            pairs = list(zip(_listed(found, "left"), _listed(found, "right"), strict=True))
            yield same("rules", (len(pairs), set(pairs)), (len(rules), rules))
    return check


def _thresholds(random):
    support, confidence = (0.1, 0.2, 0.25, 0.5), (0.5, 0.75, 0.9, 1.0)
    return (float(random.choice(support)), float(random.choice(confidence)),
            int(random.integers(2, 5)))


def draw_rules(random):
    """Baskets of several owners; counts that meet thresholds exactly."""
    owners, rules = owners_of(random), _thresholds(random)
    own = {name: [b for b in _baskets(random, int(random.integers(5, 30))) if b] or [{"a"}]
           for name in owners}
    files = {name: ("\n".join(",".join(sorted(b)) for b in part) + "\n", "basket")
             for name, part in own.items()}
    support, confidence, longest = rules
    parameters = {"items": list(ITEMS), "support": support, "confidence": confidence,
                  "longest": longest}
    return Trial("rules", parameters, files, _check([b for part in own.values() for b in part],
                                                    *rules))


def draw_rules_columns(random):
    """Items of three owners in the same baskets, of which some are empty at one of them."""
    rules, baskets = _thresholds(random), _baskets(random, int(random.integers(20, 60)))
    owned = {"north": ("a", "b"), "south": ("c", "d"), "east": ("e",)}
    for place, items in enumerate(owned.values()):
        baskets[place] = baskets[place] | set(items)
    files = {name: ("\n".join(",".join(sorted(b & set(items))) for b in baskets) + "\n", "basket")
             for name, items in owned.items()}
    support, confidence, longest = rules
    parameters = {"support": support, "confidence": confidence, "longest": longest, "fewest": 1,
                  "same_order": True, **{f"items_{n}": list(i) for n, i in owned.items()}}
    return Trial("rules-columns", parameters, files, _check(baskets, *rules))


DRAWS = {"rules": draw_rules, "rules-columns": draw_rules_columns}
