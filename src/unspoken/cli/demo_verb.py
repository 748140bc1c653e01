"""`unspoken demo`: the whole walk on a real table, with proof and with attacks."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import Adder, emit, verb

if TYPE_CHECKING:
    from unspoken.cli.demo_walk import Story

PARTS = {"custodian", "miner", "report.html"}


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "demo", run,
                  "Protect a real table, mine it in another process, decode, compare and attack. "
                  "Exit status 1 if a decoded model is not the one of the original.")
    parser.add_argument("--out", type=Path, default=Path("demo-out"), metavar="DIR",
                        help="where everything goes (default: %(default)s)")
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier demo in DIR")


def run(args: argparse.Namespace) -> int:
    """Run the demo and write its folder at once or not at all."""
    from unspoken.table.atomic_files import write_folder

    _check_place(args.out, args.overwrite)
    stories: list[Story] = []
    write_folder(args.out, lambda folder: stories.append(_tell(folder, args.json)))
    story = stories[0]
    emit(args, _data(args, story), _ending(args, story))
    return 0 if story.identical else 1


def _check_place(out: Path, overwrite: bool) -> None:
    from unspoken.errors import InputError

    if not out.exists():
        return
    if not out.is_dir() or {entry.name for entry in out.iterdir()} - PARTS:
        raise InputError(f"'{out}' must be a new folder, or one of an earlier demo. It holds "
                         "something else. Choose another name.")
    if any(out.iterdir()) and not overwrite:
        raise InputError(f"'{out}' must not exist yet. Choose another name, or say --overwrite.")


def _tell(folder: Path, quiet: bool) -> Story:
    from unspoken.cli.demo_page import attack_text, build_page
    from unspoken.cli.demo_walk import walk

    story = walk(folder, (lambda _: None) if quiet else _say)
    if not quiet:
        _say(f"\n{attack_text(story)}\n")
    build_page(story).save(folder / "report.html")
    return story


def _say(line: str) -> None:
    print(line, flush=True)


def _ending(args: argparse.Namespace, story: Story) -> str:
    import textwrap

    from unspoken.cli.demo_page import LESSON

    same = sum(proof.identical for proof in story.proofs)
    return "\n".join([
        *textwrap.wrap(LESSON, 98), "",
        f"{same} of {len(story.proofs)} decoded models are identical to the original's. "
        f"Report: {args.out / 'report.html'}",
    ])


def _data(args: argparse.Namespace, story: Story) -> dict[str, Any]:
    from unspoken.cli.demo_page import ATTACKS, reach

    return {
        "out": str(args.out), "report": str(args.out / "report.html"),
        "identical": story.identical,
        "models": [asdict(proof) | {"identical": proof.identical} for proof in story.proofs],
        "attacks": [{"attack": name, "mode": one.mode,
                     **asdict(reach(one, adversaries, knowledge))}
                    for name, adversaries, knowledge in ATTACKS for one in story.protected],
    }
