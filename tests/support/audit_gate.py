"""The exit status that belongs to what `unspoken audit --json` printed."""

REFUSED = ("high", "policy", "unknown")
ALLOWED = ("low", "raised")


def gate_status(answer):
    """Return 0 exactly if the verdict, without a policy, is neither refusal nor "not assessed"."""
    verdict = answer["verdict"]
    assert answer["audit"]["judgement"] is None
    assert (verdict["level"] in REFUSED) != (verdict["level"] in ALLOWED)
    assert verdict["advice"].startswith("do not release") == (verdict["level"] in REFUSED)
    status = 1 if verdict["level"] in REFUSED else 0
    assert answer["passed"] is (status == 0)
    return status
