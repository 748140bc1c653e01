"""The blocks of a page, and what its comments say about running them.

A comment on the line before a block may say: `before: COMMAND` (run first; readers do not see it),
`status: 1` (how the commands end), `file: NAME` (the block is written to a file), and `not run:
REASON`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

FENCE = re.compile(r"^(\s*)```(\S*)\s*$")
COMMENT = re.compile(r"^\s*<!--\s*(before|status|file|not run):\s*(.*?)\s*-->\s*$")
INDENTED = re.compile(r"^ {4,}unspoken ")


@dataclass(frozen=True)
class Block:
    """A fenced or an indented block; `kind` is its language, "" for none."""

    line: int
    kind: str
    text: str
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def commands(self) -> list[list[str]]:
        """Return what stands after the prompts, as words; lines that end in a \\ go on."""
        whole = re.sub(r"\\\n\s*", " ", self.text)
        typed = re.findall(r"^\$ (.*)$", whole, re.M) or (
            [] if self.kind else re.findall(r"^\s*(unspoken .*)$", whole, re.M))
        return [shlex.split(line, comments=True) for line in typed]


def notes_before(lines: list[str], at: int) -> dict[str, str]:
    """Return what the comments right above a block say."""
    said = {}
    for line in reversed(lines[:at]):
        comment = COMMENT.match(line)
        if comment:
            said[comment[1]] = comment[2]
        elif line.strip():
            break
    return said


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, and indented ones that hold commands."""
    lines, found, at = page.split("\n"), [], 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
            text = "\n".join(line.removeprefix(fence[1]) for line in lines[at + 1:end])
            found.append(Block(at + 1, fence[2], text, notes_before(lines, at)))
            at = end
        elif INDENTED.match(lines[at]):
            end = next((i for i in range(at, len(lines)) if lines[i][:4].strip()
                        or not lines[i].strip()), len(lines))
            found.append(Block(at + 1, "", "\n".join(lines[at:end]), notes_before(lines, at)))
            at = end
        at += 1
    return found
