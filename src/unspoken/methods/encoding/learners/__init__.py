"""Learners whose settings are pinned, so that both sides mine the same tree."""
