"""The documentation site: `make site`. Warnings are errors, a page in no section is one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]

from unspoken._version import __version__  # noqa: E402

project = "unspoken"
author = "the unspoken project"
version = release = __version__
# Reads plain Markdown as myst_parser does, and runs the notebooks in docs/notebooks.
extensions = ["myst_nb"]
source_suffix = {".md": "myst-nb"}
nb_execution_mode = "auto"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
root_doc = "index"
exclude_patterns = ["_build", "site"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "unspoken"
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
highlight_language = "text"


def setup(app: Any) -> dict[str, bool]:
    """Write the pages that are made of what the methods declare, before anything is read."""
    from made_pages import write_pages

    write_pages(HERE / "made")
    return {"parallel_read_safe": True}
