"""The files that somebody has brought: opened again, or removed to make room."""

from __future__ import annotations

from typing import Any

from unspoken.errors import InputError
from unspoken.studio.desk import Desk, open_dataset
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import Markup, el, wrapped
from unspoken.studio.form_fields import read_form
from unspoken.studio.kept_desks import put_and_keep
from unspoken.studio.layout import button, form, hidden, table
from unspoken.studio.replies import off_the_loop, see_other
from unspoken.studio.upload_room import brought_files, in_words, taken_by
from unspoken.studio.visitor import CUSTODIAN


def brought_part(request: Any, desk: Desk) -> Markup | None:
    """List what a user has brought, and what it takes of their room."""
    files = brought_files(desk.folder, desk.owner)
    if not files or not request.scope["unspoken.visitor"].may(CUSTODIAN):
        return None
    rows = [[wrapped(one.name), in_words(one.stat().st_size),
             form(request, "/data/brought", hidden("name", one.name),
                  button("Open", name="do", value="open", class_="plain",
                         aria_label=f"Open {one.name}"),
                  button("Remove", name="do", value="remove", class_="stop",
                         aria_label=f"Remove {one.name}"))] for one in files]
    room = f"{in_words(taken_by(desk.folder, desk.owner))} of {in_words(desk.common.room.of_one)}"
    return el("section", table(["file", "size", "what to do"], rows, "Files you brought", [1]),
              el("p", f"With your models they take {room}. A draft of a file that is removed can "
                 "no longer be signed, and models of its releases no longer be decoded.",
                 class_="help"))


async def brought(request: Any) -> Any:
    """POST /data/brought: open a file that was brought, or remove it."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    place = next((one for one in brought_files(desk.folder, desk.owner)
                  if one.name == fields["name"]), None)
    if place is None:
        raise InputError("There is no such file. It may have been removed.")
    if fields["do"] == "open":
        await off_the_loop(put_and_keep, desk, await off_the_loop(open_dataset, place))
        return see_other("/")
    if fields["do"] != "remove" or (desk.loaded and desk.dataset.source.path == place):
        raise InputError("This file lies on your desk. Clear the desk first, then remove it.")
    place.unlink()
    return see_other("/")
