"""The process that runs SPU. It needs `spu` and numpy, not unspoken, so any Python may run it.

Requests come on standard input, answers go to standard output: a length, a JSON header, raw
arrays. A value comes as this party's additive share (CHEETAH) or as its share and the next
party's, element by element (ABY3), which is how SPU keeps them: nothing is shared again.
"""

from __future__ import annotations

import json
import os
import queue
import struct
import sys
import threading
from typing import Any, BinaryIO

import numpy as np

LENGTH = struct.Struct("<I")
MAX_HEADER = 1 << 16
MAX_BYTES = 1 << 31
PARTS = {"CHEETAH": 1, "ABY3": 2}
STORED = {("CHEETAH", "number"): "cheetah.AShr<FM64>", ("CHEETAH", "bit"): "cheetah.BShr<FM64,1>",
          ("ABY3", "number"): "aby3.AShr<FM64>", ("ABY3", "bit"): "aby3.BShr<PT_U8,1>"}


def tensor(shape: list[int], kind: str = "number") -> str:
    """Return the type of a secret array in SPU's language."""
    sizes = "".join(f"{size}x" for size in shape)
    return f"tensor<{sizes}!pphlo.secret<{'i1' if kind == 'bit' else 'i64'}>>"


def public(shape: list[int], value: int, name: str) -> tuple[str, str]:
    """Return the line that makes a public array, and its type."""
    kind = "tensor<" + "".join(f"{size}x" for size in shape) + "i64>"
    return f"%{name} = pphlo.constant dense<{value}> : {kind}", kind


def program(op: str, shapes: list[list[int]], bits: int, version: str) -> str:
    """Return one operation as a program of SPU."""
    kinds, lines, out = BUILD[op](shapes, bits)
    args = ", ".join(f"%a{i}: {tensor(s, k)}" for i, (s, k) in enumerate(zip(shapes, kinds,
                                                                         strict=True)))
    body = "\n    ".join(lines)
    return (f'module @unspoken attributes {{pphlo.version = "{version}"}} {{\n'
            f"  func.func @main({args}) -> ({out}) {{\n    {body}\n"
            f"    return %r : {out}\n  }}\n}}\n")


def _multiply(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    kind = tensor(shapes[0])
    return ["number"] * 2, [f"%r = pphlo.multiply %a0, %a1 : {kind}"], kind


def _matmul(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    one, other = tensor(shapes[0]), tensor(shapes[1])
    out = tensor([shapes[0][0], shapes[1][1]])
    return ["number"] * 2, [f"%r = pphlo.dot %a0, %a1 : ({one}, {other}) -> {out}"], out


def _below(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    return _test("less", shapes[0])


def _zero(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    return _test("equal", shapes[0])


def _test(verb: str, shape: list[int]) -> tuple[list[str], list[str], str]:
    line, kind = public(shape, 0, "zero")
    out = tensor(shape, "bit")
    return ["number"], [line, f"%r = pphlo.{verb} %a0, %zero : ({tensor(shape)}, {kind}) "
                              f"-> {out}"], out


def _and(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    kind = tensor(shapes[0], "bit")
    return ["bit"] * 2, [f"%r = pphlo.and %a0, %a1 : {kind}"], kind


def _numbers(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    """A secret zero is added, because only then SPU turns bits into additive shares."""
    kind = tensor(shapes[1])
    return ["bit", "number"], [
        f"%c = pphlo.convert %a0 : ({tensor(shapes[0], 'bit')}) -> {kind}",
        f"%r = pphlo.add %c, %a1 : {kind}"], kind


def _shift(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    line, public_kind = public(shapes[0], bits, "by")
    kind = tensor(shapes[0])
    return ["number"] * 2, [
        line, f"%c = pphlo.shift_right_arithmetic %a0, %by : ({kind}, {public_kind}) -> {kind}",
        f"%r = pphlo.add %c, %a1 : {kind}"], kind


def _bits(shapes: list[list[int]], bits: int) -> tuple[list[str], list[str], str]:
    """Exclusive or with a public number turns additive shares into shares of 64 bits."""
    line, public_kind = public(shapes[0], 0, "none")
    kind = tensor(shapes[0])
    return ["number"], [line, f"%r = pphlo.xor %a0, %none : ({kind}, {public_kind}) "
                              f"-> {kind}"], kind


BUILD = {"multiply": _multiply, "matmul": _matmul, "below": _below, "zero": _zero, "and": _and,
         "numbers": _numbers, "shift": _shift, "bits": _bits}


class Machine:
    """One party's SPU."""

    def __init__(self, start: dict[str, Any]) -> None:
        import spu
        from spu import libspu

        self.spu, self.lib = spu, libspu
        self.protocol = start["protocol"]
        config = libspu.RuntimeConfig()
        config.ParseFromJsonString(json.dumps({"protocol": self.protocol, "field": "FM64"}))
        desc = libspu.link.Desc()
        for name, address in start["parties"]:
            desc.add_party(name, address)
        desc.recv_timeout_ms = int(start["patience_ms"])
        desc.connect_retry_times = 120
        desc.connect_retry_interval_ms = 250
        desc.http_timeout_ms = int(start["patience_ms"])
        self.link = libspu.link.create_brpc(desc, start["rank"])
        self.runtime = spu.Runtime(self.link, config)
        self.version = spu.__version__

    def run(self, header: dict[str, Any], arrays: list[bytes]) -> bytes:
        """Run one operation; return this party's part of the result."""
        op, shapes = header["op"], header["shapes"]
        kinds, _, _ = BUILD[op](shapes, header["bits"])
        names = [f"i{i}" for i in range(len(shapes))]
        for name, kind, shape, raw in zip(names, kinds, shapes, arrays, strict=True):
            self.runtime.set_var(name, self._value(raw, kind, shape))
        code = program(op, shapes, header["bits"], self.version)
        self.runtime.run(self.spu.Executable(name=op, input_names=names, output_names=["o"],
                                             code=code.encode()))
        content = self._content(self.runtime.get_var("o"))
        for name in (*names, "o"):
            self.runtime.del_var(name)
        return content

    def _value(self, raw: bytes, kind: str, shape: list[int]) -> Any:
        meta = self.spu.ValueMeta()
        meta.data_type = self.spu.DataType.DT_I1 if kind == "bit" else self.spu.DataType.DT_I64
        meta.is_complex = False
        meta.visibility = self.spu.Visibility.VIS_SECRET
        meta.shape = list(shape)
        meta.storage_type = STORED[self.protocol, kind]
        chunk = self.spu.ValueChunk()
        chunk.total_bytes, chunk.chunk_offset, chunk.content = len(raw), 0, raw
        share = self.lib.Share()
        share.meta, share.share_chunks = meta.SerializeToString(), [chunk.SerializeToString()]
        return share

    def _content(self, share: Any) -> bytes:
        """Return the words of a result: the first part of each element, eight bytes each."""
        pieces = []
        for raw in share.share_chunks:
            chunk = self.spu.ValueChunk()
            chunk.ParseFromString(raw)
            pieces.append(chunk.content)
        meta = self.spu.ValueMeta()
        meta.ParseFromString(share.meta)
        narrow = "PT_U8" in meta.storage_type
        words = np.frombuffer(b"".join(pieces), np.uint8 if narrow else "<u8")
        own = words.reshape(-1, PARTS[self.protocol])[:, 0]
        return bytes(np.ascontiguousarray(own, "<u8").tobytes())

    def stop(self) -> None:
        """Leave the others in peace."""
        self.link.stop_link()


def read(stream: BinaryIO, size: int) -> bytes:
    """Read exactly this many bytes."""
    content = stream.read(size)
    if len(content) != size:
        raise EOFError
    return content


def request(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]]:
    """Read one request."""
    length = LENGTH.unpack(read(stream, LENGTH.size))[0]
    if length > MAX_HEADER:
        raise ValueError("header too long")
    header = json.loads(read(stream, length))
    sizes = header.get("sizes", [])
    if sum(sizes) > MAX_BYTES:
        raise ValueError("arrays too long")
    return header, [read(stream, size) for size in sizes]


def answer(stream: BinaryIO, header: dict[str, Any], raw: bytes = b"") -> None:
    """Write one answer."""
    text = json.dumps({**header, "size": len(raw)}).encode()
    stream.write(LENGTH.pack(len(text)) + text + raw)
    stream.flush()


def read_on(stream: BinaryIO, line: queue.Queue[Any]) -> None:
    """Read requests in a thread, until the last one or the end of the party."""
    header: dict[str, Any] = {}
    try:
        while header.get("op") != "stop":
            header, arrays = request(stream)
            line.put((header, arrays))
    except EOFError:
        # SPU may be waiting for others for an hour; nobody needs what it computes any more.
        os._exit(0)
    except Exception as error:
        line.put(error)


def taken(line: queue.Queue[Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Return the next request, or raise why there is none."""
    incoming: Exception | tuple[dict[str, Any], list[bytes]] = line.get()
    if isinstance(incoming, Exception):
        raise incoming
    return incoming


def main() -> None:
    """Serve until standard input ends. SPU's own chatter must not reach standard output."""
    stdin = sys.stdin.buffer
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    line: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=read_on, args=(stdin, line), daemon=True).start()
    try:
        serve(line, stdout)
    except Exception as error:
        answer(stdout, {"failed": f"{type(error).__name__}: {reason(error)}"})
    # What SPU started in other threads must not keep the process.
    os._exit(0)


def reason(error: Exception) -> str:
    """Return what SPU says in one line; its messages name operations and connections, no values."""
    words = str(error).partition("stacktrace:")[0].strip().removeprefix("what:")
    return " ".join(words.split())[:300]


def serve(line: queue.Queue[Any], stdout: BinaryIO) -> None:
    """Meet the others, then run requests until one of them is to stop."""
    header, _ = taken(line)
    machine = Machine(header)
    answer(stdout, {"version": machine.version})
    while True:
        header, arrays = taken(line)
        if header["op"] == "stop":
            machine.stop()
            answer(stdout, {})
            return
        answer(stdout, {}, machine.run(header, arrays))


if __name__ == "__main__":
    main()
