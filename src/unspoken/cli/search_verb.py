"""`unspoken search`: nearest records in a store that sees rotated ones only (liu2006 2.1)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import (
    Adder,
    add_passphrase,
    add_reading,
    emit,
    load_key,
    must_be_new,
    nested_verb,
    read_table,
    verb,
    write_rows,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.arrays import Floats
    from unspoken.methods.rotation.similarity_outsourcing import SimilarityOutsourcing

MOST_BYTES = 1 << 30
"""The largest question or answer that is read."""


def add(verbs: Adder) -> None:
    """Add the verb with the three steps of a search."""
    parser = verb(verbs, "search", _one_of,
                  "Search a table that lies with somebody else, who sees rotated records only. The "
                  "owner writes a question (ask), the store answers it (answer), the owner reads "
                  "what came back (open). The store learns every distance between records and "
                  "queries. Made by 'unspoken protect --method similarity-outsourcing'.")
    steps = parser.add_subparsers(title="steps", metavar="STEP", dest="step")
    _add_ask(steps)
    _add_answer(steps)
    _add_open(steps)


def _one_of(args: argparse.Namespace) -> int:
    raise InputError("'unspoken search' needs the name of a step: ask, answer or open.")


def _add_queries(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=data_place, metavar="QUERIES",
                        help=f"records to look for, with the columns of the table: {DATA_HELP}")
    parser.add_argument("--key", type=Path, required=True, metavar="FILE",
                        help="the owner's key of the release")
    add_passphrase(parser)
    add_reading(parser)


def _add_ask(steps: Adder) -> None:
    parser = nested_verb(steps, "ask", _ask, "Write a question to the store: the queries, rotated "
                         "as the records were, and how many records are wanted.")
    _add_queries(parser)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--nearest", type=int, metavar="N", help="the N nearest records of each")
    wanted.add_argument("--within", type=float, metavar="R", help="all records within a distance")
    parser.add_argument("--out", type=Path, required=True, metavar="QUESTION",
                        help="where the question goes; it is sent to the store")


def _add_answer(steps: Adder) -> None:
    parser = nested_verb(steps, "answer", _answer, "Answer a question at the store, without a key.")
    parser.add_argument("release", type=Path, metavar="RELEASE", help="the release that is stored")
    parser.add_argument("question", type=Path, metavar="QUESTION", help="what the owner sent")
    parser.add_argument("--out", type=Path, required=True, metavar="ANSWER",
                        help="where the answer goes; it is sent back to the owner")


def _add_open(steps: Adder) -> None:
    parser = nested_verb(steps, "open", _open, "Read what the store sent back: the records of the "
                         "table, exactly those that a search in the plain data gives.")
    _add_queries(parser)
    parser.add_argument("--question", type=Path, required=True, metavar="QUESTION",
                        help="the question that was sent")
    parser.add_argument("--answer", type=Path, required=True, metavar="ANSWER",
                        help="what the store sent back")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE",
                        help="where the records go, nearest first for each query: .csv or "
                             ".parquet, readable by you alone")


def _ask(args: argparse.Namespace) -> int:
    from unspoken.methods.rotation.search_files import ask

    must_be_new(args.out, "The question")
    owner = _owner(args)
    question = ask(owner, _queries(args, owner), args.nearest, args.within)
    _write(args.out, question.to_json())
    emit(args, {"question": str(args.out), "queries": int(question.queries.shape[0])},
         f"{question.queries.shape[0]:,} queries written to {args.out}, rotated. Send it to the "
         "store, which learns their distances from every record.")
    return 0


def _answer(args: argparse.Namespace) -> int:
    from unspoken.methods.rotation.search_files import Question, answer
    from unspoken.release.release import Release

    must_be_new(args.out, "The answer")
    reply = answer(Release.load(args.release), Question.from_json(_read(args.question)))
    _write(args.out, reply.to_json())
    records = sum(one.rows.size for one in reply.candidates)
    emit(args, {"answer": str(args.out), "records": records},
         f"{records:,} records that may belong to the answers written to {args.out}. Send it back "
         "to the owner.")
    return 0


def _open(args: argparse.Namespace) -> int:
    from unspoken.methods.rotation.search_files import Question, Reply, read_answer
    from unspoken.release.record_key import released_rows

    must_be_new(args.out, "The records")
    owner = _owner(args)
    reply = Reply.from_json(_read(args.answer), owner.motion_.inner, released_rows(owner.key_))
    answers = read_answer(owner, _queries(args, owner), Question.from_json(_read(args.question)),
                          reply)
    rows = _rows(owner, answers)
    write_rows(args.out, rows)
    emit(args, {"records_file": str(args.out), "records": rows.num_rows, "queries": len(answers)},
         f"{rows.num_rows:,} records for {len(answers):,} queries written to {args.out}.")
    return 0


def _owner(args: argparse.Namespace) -> SimilarityOutsourcing:
    from unspoken.methods.rotation.similarity_outsourcing import SimilarityOutsourcing

    return SimilarityOutsourcing.from_key(load_key(args)).ready()


def _queries(args: argparse.Namespace, owner: SimilarityOutsourcing) -> Floats:
    """Return queries over the columns of the key; a missing column is refused by its name."""
    from unspoken.methods.rotation.category_embedding import spread_as_in

    table = read_table(args, args.data, None)
    return spread_as_in(owner.key_, table).numbers(owner.motion_.features)


def _rows(owner: SimilarityOutsourcing, answers: Any) -> Any:
    """Return all answers as one table: query, row of the original, distance, and the record."""
    import numpy as np
    import pyarrow as pa

    records = owner.motion_.as_table(np.concatenate([one.records for one in answers]))
    number = np.repeat(np.arange(len(answers)), [one.rows.size for one in answers])
    front = {"query": number, "row": np.concatenate([one.rows for one in answers]),
             "distance": np.concatenate([one.distances for one in answers])}
    taken = {name if name not in front else f"{name} of the record": records[name]
             for name in records.column_names}
    return pa.table({**front, **taken})


def _read(path: Path) -> Any:
    from unspoken.models.hostile_json import Limits, parse_json, read_bytes

    limits = Limits(max_bytes=MOST_BYTES)
    return parse_json(read_bytes(path, limits), limits)


def _write(path: Path, document: dict[str, Any]) -> None:
    from unspoken.table.atomic_files import write_file

    write_file(path, json.dumps(document, allow_nan=False).encode(), 0o600, overwrite=False)
