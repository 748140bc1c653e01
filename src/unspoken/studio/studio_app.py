"""The application: which page answers what, for whom, and how an error looks."""

from __future__ import annotations

import os
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from unspoken.errors import InputError, MissingExtraError, UnspokenError
from unspoken.studio import (
    answer_pages,
    brought_pages,
    decide_pages,
    frontier_pages,
    history_pages,
    joint_pages,
    joint_run_pages,
    load_pages,
    model_pages,
    query_pages,
    survey_pages,
    try_pages,
)
from unspoken.studio.desk import Desk
from unspoken.studio.desks import Desks, desk_of, desks_of
from unspoken.studio.doorkeeper import Doorkeeper
from unspoken.studio.form_fields import Forbidden, check_csrf
from unspoken.studio.layout import html, verdict
from unspoken.studio.replies import json_reply, off_the_loop, text_reply
from unspoken.studio.sign_decision import finish_signed
from unspoken.studio.visitor import CUSTODIAN, EVERYBODY, OFFICER, ROLES

Page = Callable[[Any], Awaitable[Any]]
BOTH = (CUSTODIAN, OFFICER)
_KINDS = {".css": "text/css", ".js": "text/javascript"}
PAGES: tuple[tuple[str, str, Page, tuple[str, ...]], ...] = (
    ("GET", "/", load_pages.show, BOTH),
    ("GET", "/data/risks", load_pages.risks, BOTH),
    ("POST", "/data/upload", load_pages.upload, (CUSTODIAN,)),
    ("POST", "/data/brought", brought_pages.brought, (CUSTODIAN,)),
    ("POST", "/data/open", load_pages.open_path, (CUSTODIAN,)),
    ("POST", "/data/roles", load_pages.declare, (CUSTODIAN,)),
    ("POST", "/data/look", load_pages.look, (OFFICER,)),
    ("POST", "/data/clear", load_pages.clear, BOTH),
    ("GET", "/try", try_pages.show, BOTH),
    ("POST", "/try/look", try_pages.look, BOTH),
    ("POST", "/try/full", try_pages.full, BOTH),
    ("GET", "/try/full/{job}", try_pages.full_figures, BOTH),
    ("GET", "/frontier", frontier_pages.show, BOTH),
    ("POST", "/frontier", frontier_pages.start, BOTH),
    ("GET", "/decide", decide_pages.show, BOTH),
    ("POST", "/decide/choose", decide_pages.choose, BOTH),
    ("POST", "/decide/drafts", decide_pages.make, (CUSTODIAN,)),
    ("GET", "/decide/drafts/{name}", decide_pages.draft, BOTH),
    ("POST", "/decide/drafts/{name}/sign", decide_pages.sign, (OFFICER,)),
    ("POST", "/decide/drafts/{name}/undo", decide_pages.undo, BOTH),
    ("GET", "/decide/{kind}/{name}/{file}", decide_pages.document, BOTH),
    ("GET", "/history", history_pages.show, BOTH),
    ("POST", "/history/budget", history_pages.start_budget, BOTH),
    ("GET", "/surveys", survey_pages.show, BOTH),
    ("POST", "/surveys", survey_pages.start, (CUSTODIAN,)),
    ("GET", "/surveys/{name}", survey_pages.one, BOTH),
    ("GET", "/surveys/{name}/results", survey_pages.results, BOTH),
    ("POST", "/surveys/{name}/close", survey_pages.close, (CUSTODIAN,)),
    ("GET", "/models", model_pages.show, BOTH),
    ("POST", "/models/upload", model_pages.upload, (CUSTODIAN,)),
    ("GET", "/models/{name}", model_pages.one, BOTH),
    ("POST", "/models/{name}/recipe", model_pages.upload_recipe, (CUSTODIAN,)),
    ("POST", "/models/{name}/decode", model_pages.decode, (CUSTODIAN,)),
    ("POST", "/models/{name}/try", model_pages.try_record, BOTH),
    ("POST", "/models/{name}/remove", model_pages.remove, (CUSTODIAN,)),
    ("GET", "/queries", query_pages.show, tuple(ROLES)),
    ("POST", "/queries", query_pages.put, tuple(ROLES)),
    ("POST", "/queries/start", query_pages.start, (CUSTODIAN,)),
    ("GET", "/joint", joint_pages.show, BOTH),
    ("POST", "/joint/identity", joint_pages.identity, (CUSTODIAN,)),
    ("POST", "/joint/studies", joint_pages.write, (CUSTODIAN,)),
    ("POST", "/joint/upload", joint_pages.upload, (CUSTODIAN,)),
    ("GET", "/joint/studies/{name}", joint_pages.study, BOTH),
    ("POST", "/joint/studies/{name}/consent", joint_pages.consent, (CUSTODIAN,)),
    ("GET", "/joint/runs/{name}", joint_run_pages.show, BOTH),
    ("GET", "/joint/runs/{name}/parties", joint_run_pages.parties, BOTH),
)
_FOR_RESPONDENTS = ("studio.css", "survey.js")


def make_studio(desk: Desk, hosts: frozenset[str], schemes: tuple[str, ...] = ("http",),
                proxy_secret: str = "") -> Doorkeeper:
    """Return the application behind its doorkeeper."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise MissingExtraError("The studio needs starlette and uvicorn. Type: pip install "
                                "'unspoken[studio]'.") from None
    assets = _assets()
    routes = [Route(place, _guarded(page, roles), methods=[method])
              for method, place, page, roles in PAGES]
    routes += [Route("/jobs/{job}", _guarded(_job, EVERYBODY)),
               Route("/jobs/{job}/cancel", _guarded(_cancel, EVERYBODY), methods=["POST"]),
               Route("/assets/{name}", _guarded(_asset(assets), EVERYBODY)),
               Route("/answer/assets/{name}", _public(_asset(
                   {name: assets[name] for name in _FOR_RESPONDENTS}))),
               Route("/answer/{name}", _public(answer_pages.show)),
               Route("/answer/{name}", _public(answer_pages.take), methods=["POST"])]
    app = Starlette(routes=routes, lifespan=_lifespan,
                    exception_handlers={404: _not_found, Exception: _unforeseen})
    finish_signed(desk.folder)
    app.state.desks = Desks(desk, alone=not proxy_secret)
    return Doorkeeper(app, hosts, schemes, proxy_secret)


@asynccontextmanager
async def _lifespan(app: Any) -> Any:
    yield
    app.state.desks.close()


def _guarded(page: Page, roles: Any) -> Page:
    """Return a page that only some roles get, and whose errors are sentences."""
    async def answer(request: Any) -> Any:
        try:
            if not request.scope["unspoken.visitor"].may(*roles):
                raise Forbidden("Your role does not allow this.")
            if (desk := desk_of(request)).kept is not None:
                await off_the_loop(desks_of(request).wake, desk)
            return await page(request)
        except Forbidden as error:
            return _refusal(request, str(error), 403)
        except UnspokenError as error:
            return _refusal(request, str(error), 400)
        except Exception as error:
            # Here, and not in the server: that would print a traceback with values of the table.
            return await _unforeseen(request, error)

    return answer


def _public(page: Page) -> Page:
    """Return a page for respondents, who were not let in: they get sentences and no more."""
    async def answer(request: Any) -> Any:
        try:
            return await page(request)
        except UnspokenError as error:
            return text_reply(str(error), 400)
        except Exception as error:
            return await _unforeseen(request, error)

    return answer


def _refusal(request: Any, sentence: str, status: int) -> Any:
    """Return an error as a page, as a part of one, or as plain text for a script."""
    if "x-csrf-token" in request.headers:
        return text_reply(sentence, status)
    return html(request, "That did not work" if status == 400 else "Not here",
                verdict("unknown", sentence), status=status)


async def _not_found(request: Any, _: Exception) -> Any:
    return text_reply("There is no such page.", 404)


async def _unforeseen(request: Any, error: Exception) -> Any:
    # What an unforeseen error says may hold values of the table: only its kind is shown.
    if os.environ.get("UNSPOKEN_DEBUG"):
        traceback.print_exception(error)
    return text_reply(f"Something was not foreseen ({type(error).__name__}). Nothing was changed.",
                      500)


async def _job(request: Any) -> Any:
    """GET /jobs/JOB: how far some work is."""
    return json_reply(desk_of(request).jobs.get(request.path_params["job"]).to_json())


async def _cancel(request: Any) -> Any:
    """POST /jobs/JOB/cancel: end some work."""
    check_csrf(request, "")
    desk_of(request).jobs.cancel(request.path_params["job"])
    return text_reply("Cancelled.")


def _assets() -> Mapping[str, tuple[bytes, str]]:
    """Read style sheet and scripts once; no path of a request is ever opened."""
    folder = files("unspoken.studio").joinpath("assets")
    return {one.name: (one.read_bytes(), kind) for one in folder.iterdir()
            for ending, kind in _KINDS.items() if one.name.endswith(ending)}


def _asset(known: Mapping[str, tuple[bytes, str]]) -> Page:
    async def answer(request: Any) -> Any:
        """GET /assets/NAME: a style sheet or a script."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in known:
            raise InputError("There is no such file.")
        data, kind = known[name]
        return Response(data, media_type=kind, headers={"cache-control": "private, max-age=600"})

    return answer

