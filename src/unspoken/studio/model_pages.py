"""Walk 5: a model from the miner: read, decoded, verified, looked at, and tried on a record."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.release.method import method_of
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.draft_release import KEY, read_about
from unspoken.studio.elements import Markup, el
from unspoken.studio.form_fields import check_csrf, is_place, read_form, safe_name
from unspoken.studio.layout import button, form, html, job_box, table, verdict
from unspoken.studio.mined_models import (
    RECIPE,
    decoded_or_mined,
    predicted,
    read_model_about,
    take_model,
    take_recipe,
)
from unspoken.studio.replies import off_the_loop, see_other, text_reply
from unspoken.studio.sign_decision import signed_decisions
from unspoken.studio.table_source import Source
from unspoken.studio.uploads import LARGEST_MODEL, save_upload

MOST_NODES, DEEPEST = 400, 30


async def show(request: Any) -> Any:
    """GET /models: what was sent, and how to bring more."""
    desk: Desk = desk_of(request)
    places = sorted((one for one in desk.folder.part("models").iterdir() if one.is_dir()),
                    key=lambda one: -one.stat().st_mtime)
    rows = [_row(request, one) for one in places]
    return html(request, "Models from the miner",
                table(["model", "kind", "state"], rows, "Models") if rows else None,
                _drop("/models/upload", "Choose a model, or drop it here",
                      "JSON of unspoken or XGBoost, or LightGBM's text. Pickles are never read."),
                lead="What was mined from a release comes back here, and becomes the model of the "
                     "original data.")


def _row(request: Any, place: Path) -> list[Any]:
    try:
        about = read_model_about(place)
    except InputError as error:
        return [place.name, str(error), form(request, f"/models/{place.name}/remove",
                                             button("Remove it", class_="stop"))]
    return [el("a", about["name"], href=f"/models/{place.name}"), about["kind"],
            about.get("verified") or ("decoded" if "decoded" in about else "as it was mined")]


def _drop(place: str, title: str, words: str) -> Markup:
    return el("div", el("label", title, el("input", type="file", autocomplete="off")),
              el("p", words, class_="help"), el("p", "", role="status"), class_="drop",
              data_upload=place)


async def upload(request: Any) -> Any:
    """POST /models/upload: the body is a model."""
    desk: Desk = desk_of(request)
    file = await save_upload(request, desk, LARGEST_MODEL)
    place = desk.folder.new("models")
    name = safe_name(request.query_params.get("name", "model"))
    await off_the_loop(take_model, file, place, name, desk.owner)
    return text_reply(f"/models/{place.name}")


async def upload_recipe(request: Any) -> Any:
    """POST /models/NAME/recipe: the body says how the model was mined."""
    desk: Desk = desk_of(request)
    check_csrf(request, "")
    place = _place(request)
    file = await save_upload(request, desk, 1 << 20)
    await off_the_loop(take_recipe, file, place)
    return text_reply(f"/models/{place.name}")


def _place(request: Any) -> Path:
    desk: Desk = desk_of(request)
    return desk.folder.known("models", request.path_params["name"])


async def one(request: Any, said: str = "", brought: dict[str, str] | None = None) -> Any:
    """GET /models/NAME: the model, its tree, and a record to try."""
    place = _place(request)
    about = read_model_about(place)
    model, decoded = await off_the_loop(decoded_or_mined, place)
    head = verdict("low" if about.get("verified", "").startswith("identical") else "calm",
                   "Decoded: the model of the original data" if decoded
                   else "As it was mined, on released values",
                   f"Compared with the model that the same learner finds in the original: "
                   f"{about['verified']}." if about.get("verified") else "")
    parts = [el("section", el("h2", "The model"), el("pre", model.summary())),
             el("section", el("h2", "The tree"), el("div", tree_markup(model), class_="tree")),
             _try(request, place, model, said, brought or {}), _decoding(request, place, about),
             form(request, f"/models/{place.name}/remove", button("Remove it", class_="stop"))]
    return html(request, about["name"], head, *parts)


def tree_markup(model: Any) -> Markup:
    """Draw a tree as lists inside each other; of several trees the first."""
    first = model.trees[0] if getattr(model, "trees", ()) else model
    if not hasattr(first, "drawing"):
        return el("p", "A model of this kind is shown as text above.", class_="help")
    drawing, left = first.drawing(), [MOST_NODES]

    def branch(node: int, depth: int) -> Any:
        below = drawing.children(node)
        if not below:
            return el("span", f" → {drawing.leaf(node)}", class_="soft")
        if depth >= DEEPEST or left[0] <= 0:
            return el("span", " …", class_="soft")
        left[0] -= len(below)
        return el("ul", [el("li", drawing.answer(node, side), branch(child, depth + 1))
                         for side, child in enumerate(below)])

    return el("div", branch(0, 0))


def _try(request: Any, place: Path, model: Any, said: str, brought: dict[str, str]) -> Any:
    features = getattr(model, "features", ())
    if not features or not hasattr(model, "predict"):
        return None
    fields = [el("div", el("label", name, for_=f"f{at}"),
                 el("input", type="text", name=f"f.{at}", id=f"f{at}", value=brought.get(name, ""),
                    autocomplete="off")) for at, name in enumerate(features[:200])]
    answer = el("p", "It says: ", el("b", said), role="status", class_="sent") if said else None
    return el("section", el("h2", "Try a record"), answer,
              form(request, f"/models/{place.name}/try", el("div", fields, class_="facts"),
                   button("Ask the model")))


def _decoding(request: Any, place: Path, about: dict[str, Any]) -> Any:
    desk: Desk = desk_of(request)
    job = desk.found.get(f"decode {place.name}")
    running = job_box(job.name, job.words, f"/models/{place.name}") \
        if job is not None and job.state == "running" else None
    failed = verdict("unknown", "It could not be decoded", job.error) \
        if job is not None and job.state == "failed" else None
    known = [one for one in signed_decisions(desk.folder)
             if one.decision["decision"] == "release" and method_of(one.decision["method"]).decode]
    if not known:
        return el("section", el("h2", "Decode"), el("p", "There is no signed release whose models "
                  "can be decoded.", class_="help"))
    options = [el("option", f"{one.decision['table']['name']}, {one.decision['at']}",
                  value=one.place.name) for one in known]
    recipe = _drop(f"/models/{place.name}/recipe", "The recipe of the model",
                   "It is there, and the model can be verified." if (place / RECIPE).exists()
                   else "Sent beside the model; with it the decoded model is verified.")
    return el("section", el("h2", "Decode"), running, failed, recipe, form(
        request, f"/models/{place.name}/decode",
        el("label", "Release that it was mined from", for_="release"),
        el("select", options, name="release", id="release"),
        el("label", "Passphrase of its key", for_="secret"),
        el("input", type="password", name="passphrase", id="secret", autocomplete="off"),
        button("Decode")))


async def decode(request: Any) -> Any:
    """POST /models/NAME/decode: decode with the key of a signed release."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    place = _place(request)
    signed = desk.folder.known("signed", fields["release"])
    if not (signed / KEY).is_file():
        raise InputError("That decision was a refusal: it has no key.")
    source = read_about(signed)["source"]
    desk.check_place(Source.from_json(source).path)
    desk.found[f"decode {place.name}"] = desk.jobs.start("decode", {
        "place": str(place), "key": str(signed / KEY), "release": signed.name,
        "passphrase": fields.secret("passphrase"), "source": source},
        "The model is decoded")
    return see_other(f"/models/{place.name}")


async def try_record(request: Any) -> Any:
    """POST /models/NAME/try: what the model says about one record."""
    fields = await read_form(request)
    place = _place(request)
    model, _ = await off_the_loop(decoded_or_mined, place)
    features = getattr(model, "features", ())
    brought = {features[int(at)]: text for at, text in fields.under("f.").items()
               if is_place(at) and int(at) < len(features)}
    return await one(request, await off_the_loop(predicted, place, brought), brought)


async def remove(request: Any) -> Any:
    """POST /models/NAME/remove: forget a model."""
    await read_form(request)
    shutil.rmtree(_place(request))
    return see_other("/models")
