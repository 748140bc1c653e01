"""More files of the exchange, and seeded ways to spoil them: packed models, sealed keys, releases.

Lengths, digests and fingerprints are made right again, so that what is spoiled is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from support.model_mutations import WHOLE, spoil_one, spoiled_json

PASSPHRASE = "fuzz"
CHEAP = {"kdf": "argon2id", "cipher": "aes-256-gcm", "memory_kib": 64, "iterations": 1, "lanes": 1,
         "salt": "07" * 16, "nonce": "09" * 12}
_KEY = struct.Struct("<8sIIQ")
_MODEL = struct.Struct("<8sIQQ")


def flipped(content: bytes, rng, most: int = 4) -> bytes:
    """Return some bytes changed, or the file cut off."""
    if rng.random() < 0.1:
        return content[: int(rng.integers(0, len(content)))]
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, most + 1))):
        changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed)


def spoiled_packed(content: bytes, rng) -> bytes:
    """Spoil the document, the list of arrays, or the numbers of a packed model."""
    magic, version, head_size, _ = _MODEL.unpack_from(content)
    if rng.random() < 0.1:
        return flipped(content, rng)
    head = json.loads(content[_MODEL.size:_MODEL.size + head_size])
    body = content[_MODEL.size + head_size:]
    size = sum(np.dtype(kind).itemsize * count for kind, count in head["arrays"])
    numbers = pa.decompress(body, decompressed_size=size, codec="zstd", asbytes=True)
    roll = rng.random()
    if roll < 0.4:
        numbers = flipped(numbers, rng)
    elif roll < 0.7:
        head = spoiled_json(head, rng)
    elif roll < 0.8:
        place = int(rng.integers(len(head["arrays"])))
        head["arrays"][place][1] = int(rng.choice([0, 1, 2**20, 2**31, 2**40, 2**47]))
    else:
        head, numbers = _bomb(head, rng)
    body = pa.compress(numbers, codec="zstd", asbytes=True)
    written = json.dumps(head).encode()
    return _MODEL.pack(magic, version, len(written), len(body)) + written + body


def _bomb(head, rng):
    """Few bytes that unpack to many numbers: one array, or one array in many places."""
    count = int(rng.choice([10**5, 3 * 10**6]))
    place = int(rng.integers(len(head["arrays"])))
    head["arrays"] = [["|i1", count] for _ in head["arrays"]] if rng.random() < 0.3 else \
        [["<f8", count] if n == place else each for n, each in enumerate(head["arrays"])]
    size = sum(np.dtype(kind).itemsize * length for kind, length in head["arrays"])
    return head, bytes(size)


def sealed(content: bytes, how=CHEAP) -> bytes:
    """Return an open key file sealed, by `cryptography` alone."""
    head, body = key_parts(content)
    secret = Argon2id(salt=bytes.fromhex(how["salt"]), length=32, iterations=how["iterations"],
                      lanes=how["lanes"], memory_cost=how["memory_kib"]).derive(PASSPHRASE.encode())
    aad = json.dumps([head["mechanism"], head["fingerprint"]]).encode()
    closed = AESGCM(secret).encrypt(bytes.fromhex(how["nonce"]), body, aad)
    return key_file({**head, "sealed": dict(how)}, closed)


def key_parts(content: bytes):
    """Return the header and the body of a key file."""
    _, _, head_size, body_size = _KEY.unpack_from(content)
    start = _KEY.size + head_size
    return json.loads(content[_KEY.size:start]), content[start:start + body_size]


def key_file(head, body: bytes) -> bytes:
    """Return a key file with the right lengths and checksum."""
    written = json.dumps(head, sort_keys=True).encode()
    whole = _KEY.pack(b"UNSPOKEN", 1, len(written), len(body)) + written + body
    return whole + hashlib.sha256(whole).digest()


def spoiled_sealed(content: bytes, rng, spoil_key) -> bytes:
    """Spoil how a key is sealed, the sealed bytes, or what was sealed."""
    roll = rng.random()
    if roll < 0.4:
        head, body = key_parts(content)
        spoil_one(head["sealed"], rng)
        if rng.random() < 0.3:
            head["sealed"].update(memory_kib=int(rng.choice(WHOLE[:6])), lanes=int(
                rng.choice([1, 8, 64, 2**31])), iterations=int(rng.choice([1, 8, 2**31])))
        return key_file(head, body)
    if roll < 0.55:
        head, body = key_parts(content)
        return key_file(head, flipped(body, rng))
    if roll < 0.6:
        return flipped(content, rng)
    head, body = key_parts(content)
    opened = _opened(head, body)
    inner = spoil_key(opened, rng)
    try:
        return sealed(inner)
    except (ValueError, KeyError, TypeError, struct.error):
        return inner


def _opened(head, body: bytes) -> bytes:
    how = head.pop("sealed")
    secret = Argon2id(salt=bytes.fromhex(how["salt"]), length=32, iterations=how["iterations"],
                      lanes=how["lanes"], memory_cost=how["memory_kib"]).derive(PASSPHRASE.encode())
    aad = json.dumps([head["mechanism"], head["fingerprint"]]).encode()
    return key_file(head, AESGCM(secret).decrypt(bytes.fromhex(how["nonce"]), body, aad))


def spoiled_parquet(content: bytes, rng) -> bytes:
    """Spoil the bytes of a Parquet file, its columns, its rows, or pack far too many into it."""
    roll = rng.random()
    if roll < 0.4:
        return flipped(content, rng, 8)
    if roll < 0.6:
        return _other_footer(content, rng)
    table = pq.read_table(io.BytesIO(content))
    if roll < 0.8:
        return _written(_other_column(table, rng))
    return _written(_many_rows(table, rng), row_group_size=10**9)


def _other_footer(content: bytes, rng) -> bytes:
    """Change bytes of the footer alone: counts of rows, offsets, types."""
    (size,) = struct.unpack("<I", content[-8:-4])
    footer = flipped(content[-8 - size:-8], rng)
    return content[:-8 - size] + footer + struct.pack("<I", len(footer)) + b"PAR1"


def _other_column(table: pa.Table, rng) -> pa.Table:
    name = table.column_names[int(rng.integers(table.num_columns))]
    rows = table.num_rows
    others = [pa.array([[1.0]] * rows), pa.array([{"a": 1}] * rows), pa.nulls(rows),
              pa.array(["x" * 100] * rows), pa.array([b"\xff"] * rows, pa.binary()),
              pa.array([2**62] * rows), pa.array([True] * rows), pa.array([1] * rows, pa.int8()),
              pa.array([0] * rows, pa.timestamp("ns")), pa.array([float("nan")] * rows),
              pa.array([float("inf")] * rows), pa.array([1e39] * rows),
              pa.array(["a"] * rows).dictionary_encode()]
    other = others[int(rng.integers(len(others)))]
    if rng.random() < 0.2:
        return table.drop_columns([name])
    if rng.random() < 0.2:
        return table.append_column(name, other)
    return table.set_column(table.column_names.index(name), name, other)


def _many_rows(table: pa.Table, rng) -> pa.Table:
    """Equal values take no room in a file, and all of it in memory."""
    rows = int(rng.choice([0, 1, 10**6, 2 * 10**7]))
    if rows < 2:
        return table.slice(0, rows)
    columns = {name: pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)),
                                                    table[name].combine_chunks().slice(0, 1))
               for name in table.column_names}
    return pa.table(columns)


def _written(table: pa.Table, **options) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", **options)
    return out.getvalue()


def fingerprint_of(manifest) -> str:
    """Return the fingerprint that a manifest must have, computed here."""
    shown = {name: manifest[name] for name in ("id", "mechanism", "schema", "guarantee")}
    text = json.dumps(shown, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def spoiled_manifest(manifest, rng) -> bytes:
    """Spoil what a manifest says, and make its fingerprint right again where it can be."""
    spoilt = spoiled_json(manifest, rng)
    with contextlib.suppress(KeyError, TypeError):
        spoilt["fingerprint"] = fingerprint_of(spoilt)
    return json.dumps(spoilt).encode()
