"""How quick the studio is: first paint, slider to picture, a million rows, the size of the extra.

    PYTHONPATH=src:tests python bench/studio_pages.py DATA [ROWS]

DATA is a table such as Adult; with ROWS it is repeated up to that many rows for the last part.
Needs Chromium and playwright, as the tests do.
"""

from __future__ import annotations

import importlib.metadata
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from support.browser import chromium, opened
from support.studio_server import studio

EXTRA = ("starlette", "uvicorn", "anyio", "idna", "sniffio", "h11", "click", "typing_extensions")
PAINTS = "performance.getEntriesByName('first-contentful-paint')"
TIMES = 15


def main(data: Path, rows: int) -> None:
    """Print all figures."""
    print(f"extra: {extra_size() / 2**20:.1f} MiB installed")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "data.parquet"
        table = pq.read_table(data)
        pq.write_table(table, place)
        measure(Path(folder), place, "as it is", table.num_rows)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "data.parquet"
        drawn = np.random.default_rng(0).integers(0, table.num_rows, rows)
        pq.write_table(table.take(pa.array(drawn)), place)
        measure(Path(folder), place, "repeated", rows)


def extra_size() -> int:
    """Return the bytes that the extra installs."""
    total = 0
    for name in EXTRA:
        try:
            files = importlib.metadata.distribution(name).files or []
        except importlib.metadata.PackageNotFoundError:
            continue
        total += sum(place.stat().st_size for one in files
                     if (place := Path(str(one.locate()))).is_file())
    return total


def measure(folder: Path, place: Path, words: str, rows: int) -> None:
    """Print the figures of one table."""
    began = time.perf_counter()
    with studio(folder, place) as running, chromium() as browser:
        print(f"{rows:,} rows, {words}: ready after {time.perf_counter() - began:.2f} s")
        with opened(browser, running) as page:
            page.wait_for_selector("text=of the people are the only one", timeout=300_000)
            print(f"  raw risks shown after {time.perf_counter() - began:.2f} s")
            paints = []
            for _ in range(TIMES):
                page.goto(running.base + "/")
                page.wait_for_function(f"() => {PAINTS}.length > 0")
                paints.append(page.evaluate(f"{PAINTS}[0].startTime"))
            print(f"  first paint of the data page: {statistics.median(paints):.0f} ms "
                  f"(highest {max(paints):.0f})")
            print("  slider to picture:", *slid(page, running.base))


def slid(page: object, base: str) -> tuple[str, ...]:
    """Return how long a move of the slider takes until the new picture stands."""
    page.goto(base + "/try?m=mondrian")
    page.wait_for_selector("#look-0 .bars", timeout=60_000)
    page.wait_for_timeout(3000)
    page.evaluate("""() => { window.times = []; const look = document.getElementById('look-0');
        new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
            if (window.moved) { window.times.push(performance.now() - window.moved);
                                window.moved = 0; } }))).observe(look, {childList: true});
        document.getElementById('c0-k').addEventListener('input',
            () => { window.moved = performance.now(); }); }""")
    page.focus("#c0-k")
    for _ in range(TIMES):
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => window.moved === 0", timeout=30_000)
    found = page.evaluate("window.times")
    return f"{statistics.median(found):.0f} ms (highest {max(found):.0f})",


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
