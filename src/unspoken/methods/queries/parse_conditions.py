"""Reading conditions from text: "age > 30 and sex = 'F'".

    condition := either ("or" either)*          either := one ("and" one)*
    one       := "not" one | "(" condition ")" | NAME test
    test      := SIGN constant | ["not"] "in" "(" constant ("," constant)* ")"
               | "is" ["not"] "missing"

NAME is a word or "a name in double quotes"; texts stand in single quotes; a quote inside is
doubled. Nothing recurses deeper than the bound on conditions, and nothing is evaluated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from unspoken.errors import InputError
from unspoken.methods.queries.predicates import (
    MAX_DEPTH,
    MAX_TEXT,
    SIGNS,
    WORDS,
    All,
    Among,
    Compare,
    Constant,
    Missing,
    Not,
    Predicate,
    Some,
    bounded,
    conjuncts,
    constant,
)

# Numbers give no digit back (++): ten thousand digits before a letter would take seconds.
_TOKEN = re.compile(r"""\s*(?:
    (?P<number>[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?)(?![A-Za-z_0-9.])
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | "(?P<name>(?:[^"]|"")+)"
  | '(?P<text>(?:[^']|'')*)'
  | (?P<sign><=|>=|!=|<>|==|[=<>(),*])
)""", re.VERBOSE)
_SAME = {"==": "=", "<>": "!="}


@dataclass(frozen=True)
class Token:
    """One word, name, number, text or sign, and where it stands."""

    kind: str
    text: str
    at: int


def parse(text: str) -> Predicate:
    """Return the condition that a text says."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise InputError(f"A condition must be a text of at most {MAX_TEXT} characters.")
    reader = Reader(text)
    predicate = reader.condition(0)
    if reader.now.kind != "end":
        reader.wrong("'and', 'or' or the end")
    return bounded(predicate)


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, with one for its end."""
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise InputError(f"The condition cannot be read at character {at + 1}: "
                             f"'{text[at:at + 20].strip()}'. Write for example: "
                             "age > 30 and sex = 'F'.")
        kind, word = match.lastgroup, match.group(match.lastgroup)
        if kind == "word" and word.lower() in WORDS:
            kind, word = "keyword", word.lower()
        tokens.append(Token(kind, word, match.start(kind if kind != "keyword" else "word")))
        at = match.end()
    return [*tokens, Token("end", "the end", end)]


class Reader:
    """One token after the other."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens_of(text)
        self._next = 0

    @property
    def now(self) -> Token:
        """Return the token that comes next."""
        return self._tokens[self._next]

    def take(self, *texts: str) -> bool:
        """Step over a sign or a keyword if it is one of these."""
        if self.now.kind in ("sign", "keyword") and self.now.text in texts:
            self._next += 1
            return True
        return False

    def step(self) -> None:
        """Go past the next token; the end stays."""
        self._next += self.now.kind != "end"

    def need(self, text: str) -> None:
        """Step over a sign or a keyword, or refuse."""
        if not self.take(text):
            self.wrong(f"'{text}'")

    def wrong(self, allowed: str) -> NoReturn:
        """Refuse the text at the next token."""
        raise InputError(f"The condition must have {allowed} at character {self.now.at + 1}. "
                         f"Got '{self.now.text[:40]}'. Texts stand in single quotes, names that "
                         "are no plain words in double quotes.")

    def condition(self, depth: int) -> Predicate:
        """Return a condition, as far as it goes."""
        parts = [self._either(depth)]
        while self.take("or"):
            parts.append(self._either(depth))
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _either(self, depth: int) -> Predicate:
        parts = list(conjuncts(self._one(depth)))
        joined = False
        while self.take("and"):
            joined = True
            parts.extend(conjuncts(self._one(depth)))
        return All(tuple(parts)) if joined or len(parts) > 1 else parts[0]

    def _one(self, depth: int) -> Predicate:
        turns = 0
        while self.take("not"):
            turns += 1
        predicate = self._inner(depth + turns)
        for _ in range(turns):
            predicate = Not(predicate)
        return predicate

    def _inner(self, depth: int) -> Predicate:
        # Here, because "not not not ..." nests without any bracket.
        if depth > MAX_DEPTH:
            raise InputError(f"A condition must be nested at most {MAX_DEPTH} deep.")
        if self.take("("):
            predicate = self.condition(depth + 1)
            self.need(")")
            return predicate
        if self.now.kind not in ("word", "name"):
            self.wrong("a column")
        name = self.now.text.replace('""', '"') if self.now.kind == "name" else self.now.text
        self._next += 1
        return self._test(name)

    def _test(self, name: str) -> Predicate:
        if self.take("is"):
            opposite = self.take("not")
            self.need("missing")
            return Not(Missing(name)) if opposite else Missing(name)
        opposite = self.take("not")
        if self.take("in"):
            return Not(self._among(name)) if opposite else self._among(name)
        sign = self.now.text
        if opposite or not self.take(*SIGNS, *_SAME):
            self.wrong("a comparison, 'in' or 'is missing'")
        return Compare(name, _SAME.get(sign, sign), self._constant())

    def _among(self, name: str) -> Predicate:
        self.need("(")
        values = [self._constant()]
        while self.take(","):
            values.append(self._constant())
        self.need(")")
        return Among(name, tuple(dict.fromkeys(values)))

    def _constant(self) -> Constant:
        token = self.now
        self._next += token.kind != "end"
        if token.kind == "text":
            return constant(token.text.replace("''", "'"))
        if token.kind == "number":
            return constant(int(token.text) if re.fullmatch(r"[-+]?\d{1,19}", token.text)
                            else float(token.text))
        if token.kind == "keyword" and token.text in ("true", "false"):
            return token.text == "true"
        self._next -= token.kind != "end"
        self.wrong("a number, a text in single quotes, true or false")
