"""Formulas of one column, read without running anything: only what is listed is let in."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

LONGEST = 200
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
SIGNS = (ast.USub, ast.UAdd)
NAMED = ("log", "log1p", "sqrt", "exp")
WORDS = "x, numbers, + - * / **, log, log1p, sqrt and exp"


@dataclass(frozen=True)
class Formula:
    """A rule for parameters: a formula of x as text, or a function of an array."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a formula of {WORDS}, such as '0.9*x + 10'"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        if callable(value):
            return True
        return (isinstance(value, str) and len(value) <= LONGEST
                and parsed_formula(value) is not None)


def parsed_formula(text: str) -> ast.expr | None:
    """Return a formula as a tree; None if it holds anything but what is listed."""
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body if _known(body) else None


def _known(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        number: Any = node.value
        return type(number) in (int, float) and abs(number) < 1e15
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATORS and _known(node.left) and _known(node.right)
    if isinstance(node, ast.UnaryOp):
        return type(node.op) in SIGNS and _known(node.operand)
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id in NAMED
        return named and not node.keywords and len(node.args) == 1 and _known(node.args[0])
    return isinstance(node, ast.Name) and node.id == "x"
