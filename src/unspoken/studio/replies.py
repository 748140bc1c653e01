"""Answers that several pages give, and work that must not hold up the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


async def off_the_loop(work: Callable[..., Result], *args: Any) -> Result:
    """Do some work in a thread, so that other pages are answered meanwhile."""
    return await asyncio.to_thread(work, *args)


def see_other(place: str) -> Any:
    """Return an answer that leads to another page after a form was sent."""
    from starlette.responses import RedirectResponse

    return RedirectResponse(place, status_code=303)


def text_reply(text: str, status: int = 200) -> Any:
    """Return plain text."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(text, status)


def json_reply(data: Any, status: int = 200) -> Any:
    """Return JSON."""
    from starlette.responses import JSONResponse

    return JSONResponse(data, status)
