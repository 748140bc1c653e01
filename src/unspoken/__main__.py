"""`python -m unspoken`: the same as the command `unspoken`."""

from __future__ import annotations

import sys

from unspoken.cli.main import main

sys.exit(main())
