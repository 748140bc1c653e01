"""Questions as text, in the manner of SQL.

    select count() where age > 30 and work = 'state' group by sex
    select quantile(age, 0.5)
    select histogram(age, 20, 40, 60) epsilon 0.05

    question := "select" WORD "(" [NAME] ("," number)* ")" ["where" condition]
                ["group" "by" NAME ("," NAME)*] ["epsilon" number]

Conditions are those of `parse_conditions`.
"""

from __future__ import annotations

from typing import Any

from unspoken.errors import InputError
from unspoken.methods.queries.parse_conditions import Reader
from unspoken.methods.queries.predicates import MAX_TEXT
from unspoken.methods.queries.service.question import Question, question_from_json


def question_of(data: Any) -> Question:
    """Return the question that a text or JSON data states."""
    return read_question(data) if isinstance(data, str) else question_from_json(data)


def read_question(text: str) -> Question:
    """Return the question that a text asks."""
    if len(text) > MAX_TEXT:
        raise InputError(f"A question must be a text of at most {MAX_TEXT} characters.")
    reader = _QuestionReader(text)
    reader.need_word("select")
    select = reader.name("what to select").lower()
    column, numbers = reader.arguments()
    where = str(reader.condition(0)) if reader.word("where") else None
    group = reader.groups()
    epsilon = reader.number() if reader.word("epsilon") else None
    if reader.now.kind != "end":
        reader.wrong("'where', 'group by', 'epsilon' or the end")
    if select == "quantile":
        if len(numbers) != 1:
            raise InputError("A quantile is asked for as quantile(COLUMN, 0.5).")
        return Question(select, column, where, group, numbers[0], (), epsilon)
    return Question(select, column, where, group, None, numbers, epsilon)


class _QuestionReader(Reader):
    """Conditions, and the words around them."""

    def word(self, text: str) -> bool:
        """Step over a word if it is this one."""
        if self.now.kind == "word" and self.now.text.lower() == text:
            self.step()
            return True
        return False

    def need_word(self, text: str) -> None:
        """Step over a word, or refuse."""
        if not self.word(text):
            self.wrong(f"'{text}'")

    def name(self, what: str = "a column") -> str:
        """Return a name."""
        if self.now.kind not in ("word", "name"):
            self.wrong(what)
        text = self.now.text.replace('""', '"') if self.now.kind == "name" else self.now.text
        self.step()
        return text

    def number(self) -> float:
        """Return a number."""
        if self.now.kind != "number":
            self.wrong("a number")
        value = float(self.now.text)
        self.step()
        return value

    def arguments(self) -> tuple[str | None, tuple[float, ...]]:
        """Return the column and the numbers in the parentheses."""
        self.need("(")
        if self.take("*") or (self.now.kind == "sign" and self.now.text == ")"):
            self.need(")")
            return None, ()
        column, numbers = self.name(), []
        while self.take(","):
            numbers.append(self.number())
        self.need(")")
        return column, tuple(numbers)

    def groups(self) -> tuple[str, ...]:
        """Return the columns after 'group by'."""
        if not self.word("group"):
            return ()
        self.need_word("by")
        names = [self.name()]
        while self.take(","):
            names.append(self.name())
        return tuple(names)
