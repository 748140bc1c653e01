"""`python -m tacit`: the same as the command `tacit`."""

from __future__ import annotations

import sys

from tacit.cli.main import main

sys.exit(main())
