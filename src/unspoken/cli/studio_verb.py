"""`unspoken studio`: pages in a browser, to look before something is released."""

from __future__ import annotations

import argparse
from pathlib import Path

from unspoken.cli.common import Adder, verb
from unspoken.cli.data_places import DATA_HELP, data_place


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "studio", run,
                  "Open pages in a browser: look at a table, try methods side by side, decide and "
                  "sign. Runs on this machine alone; the address that is printed works once.")
    parser.add_argument("data", type=data_place, nargs="?", metavar="DATA",
                        help=f"the table to load at once: {DATA_HELP}")
    parser.add_argument("--table", metavar="NAME", help="the table to read in a database")
    parser.add_argument("--port", type=int, default=0, metavar="N",
                        help="the port (default: any that is free)")
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    parser.add_argument("--folder", type=Path, metavar="DIR",
                        help="where uploads, drafts and signed releases are kept (default: beside "
                             "DATA with -studio, or unspoken-studio)")
    parser.add_argument("--root", type=Path, default=Path(), metavar="DIR",
                        help="the folder whose files may be opened by path (default: this one)")
    parser.add_argument("--host", default="", metavar="NAME",
                        help="behind a reverse proxy: the public host name")
    parser.add_argument("--proxy-secret", type=Path, metavar="FILE",
                        help="behind a reverse proxy: the file of the secret that it sends")


def run(args: argparse.Namespace) -> int:
    """Run a studio until it is ended."""
    from unspoken.studio.run_studio import (
        StudioSettings,
        check_settings,
        default_folder,
        serve_studio,
    )

    settings = StudioSettings(args.folder or default_folder(args.data), args.root, args.port,
                              args.data, args.table, not args.no_browser, args.host,
                              args.proxy_secret)
    check_settings(settings)
    serve_studio(settings)
    return 0
