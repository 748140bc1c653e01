"""`unspoken node`: from folders to peers and a proposal; the shipped unit and container file."""

from __future__ import annotations

import json
import re
import shlex
from configparser import ConfigParser

import numpy as np
import pytest

from support.joint_commands import free_ports, write
from support.linked_people import LINK, two_owners
from support.node_fleet import DEALER, Fleet, people
from support.paths import ROOT
from unspoken.cli.main import main, parser
from unspoken.joint.mpc.linkage.linkage_rules import ENCODED
from unspoken.joint.wire.ledger import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]


LINKING_RULE = """
[[standing]]
tasks = ["regression-columns"]
from = ["north"]
receivers = ["north", "south"]
tables = ["people"]
columns = ["first", "last", "born", "postcode", "pressure"]
modes = ["dealer"]
dealers = ["dora"]
linkers = ["lina"]
studies = 1
"""


def node(capsys, folder, *words):
    """Run a command and return what it printed, or the error."""
    status = main(["node", *map(str, words), "--folder", str(folder), "--json"])
    out, err = capsys.readouterr()
    return json.loads(out) if status == 0 else err


def test_a_node_is_made_with_secrets_that_nobody_else_reads(tmp_path, capsys):
    (tmp_path / "people.csv").write_text(people(0))
    folder = tmp_path / "node"
    made = node(capsys, folder, "init", "north", "--address", "north.example:7700", "--table",
                f"people={tmp_path / 'people.csv'}")
    assert made["name"] == "north"
    assert (folder / "identity" / "north.key").stat().st_mode & 0o777 == 0o600
    assert (folder / "identity").stat().st_mode & 0o777 == 0o700
    assert node(capsys, folder, "status")["studies"] == []
    assert (folder / "state.db").stat().st_mode & 0o777 == 0o600
    [table] = node(capsys, folder, "catalogue")["tables"]
    assert [column["name"] for column in table["columns"]] == ["age", "smoker", "ill"]
    assert "40" not in json.dumps(table)
    assert "must not exist yet" in node(capsys, folder, "init", "north", "--address", "h:1")


@pytest.mark.parametrize(("line", "match"), [
    ('rows = "all"', "has no field 'rows'"), ('address = "nowhere"', "'address' in node.toml"),
    ('address = "relay://abc@relay.example:7799"', "or a relay's relay://FINGERPRINT@HOST:PORT"),
    (f'health = "relay://{"a" * 64}@relay.example:7799"', "the relay belongs to 'address'"),
    ('[[standing]]\ntasks = ["sum"]', "A standing consent must say 'from'"),
    ("sync_seconds = 0", "'sync_seconds' in node.toml must be")])
def test_a_configuration_that_cannot_be_is_refused_by_name(tmp_path, capsys, line, match):
    folder = tmp_path / "node"
    node(capsys, folder, "init", "north", "--address", "north.example:7700")
    text = (folder / "node.toml").read_text()
    for field in ("address", "health"):
        if line.startswith(field):
            text = re.sub(rf"^{field} = .*\n", "", text, flags=re.MULTILINE)
    (folder / "node.toml").write_text(f"{line}\n{text}" if "[[" not in line else f"{text}\n{line}")
    assert match in node(capsys, folder, "status")


def test_a_study_is_proposed_from_catalogues_and_nobody_types_categories(tmp_path, capsys):
    with Fleet(tmp_path) as fleet:
        fleet.serve("south", "east")
        for name in ("south", "east"):
            fleet.until(lambda name=name: any(e["event"] == "started" for e in fleet.log(name)),
                        f"{name} listens")
        north = tmp_path / "north"
        [table] = node(capsys, north, "catalogue", "south")["tables"]
        assert table["columns"][1]["categories"] == ["no", "yes"]
        proposed = node(capsys, north, "propose", "--name", "heart", "--task", "tree", "--with",
                        "south,east", "--dealer", DEALER, "--table", "people", "--set",
                        "target=ill", "--set", 'attributes=["age", "smoker"]', "--yes")
        assert proposed["parameters"]["classes"] == ["no", "yes"]
        assert proposed["parameters"]["categories.smoker"] == ["no", "yes"]
        shown = node(capsys, north, "show", "heart")
        assert shown["state"] == "waits for south, east, dora"
        assert "already" in node(capsys, north, "consent", "heart", "--yes")
        assert "shows no table 'pay'" in node(
            capsys, north, "propose", "--name", "two", "--with", "south,east", "--table-of",
            "north=people", "--table", "pay", "--columns", "age", "--yes")
        node(capsys, north, "refuse", "heart", "--reason", "a mistake")
        [row] = node(capsys, north, "studies")["studies"]
        assert (row["state"], row["story"]) == ("withdrawn", "by 'north': a mistake")


def hospitals(fleet, count=400):
    """Write the tables of two hospitals without a common id; return common people and the slope."""
    mine, theirs, here, there = two_owners(count, seed=2)
    draw = np.random.default_rng(4)
    dose = draw.normal(0, 1, 2 * count)
    pressure = 2 * dose + draw.normal(0, 0.1, 2 * count)
    for name, people_, column, values in (("north", mine, "dose", dose[here]),
                                          ("south", theirs, "pressure", pressure[there])):
        named = dict(zip(("first", "last", "born", "postcode"), people_, strict=True))
        write(fleet.folder / name / "people.csv", {**named, column: values})
        config = fleet.folder / name / "node.toml"
        config.write_text(config.read_text().partition("[table.column")[0])
    common = np.intersect1d(here, there)
    return len(common), float(np.polyfit(dose[common], pressure[common], 1)[0])


def test_people_without_a_common_id_are_linked_and_mined_in_one_study(tmp_path, capsys):
    # Of 1,000 people 97.7% were found over 30 keys, deviation 0.45%; 80% of 400 is far below.
    with Fleet(tmp_path, names=("north", "south", "dora", "lina")) as fleet:
        common, slope = hospitals(fleet)
        with (tmp_path / "south" / "node.toml").open("a") as config:
            config.write(LINKING_RULE)
        fleet.serve()
        for name in fleet.names:
            fleet.until(lambda name=name: any(e["event"] == "started" for e in fleet.log(name)),
                        f"{name} listens")
        words = ("propose", "--name", "heart", "--task", "regression-columns", "--with", "south",
                 "--dealer", DEALER, "--table", "people", "--mode", "dealer", "--set",
                 "response=pressure", "--set", "held=south", "--set", 'columns=["north:dose"]',
                 "--set", "condition=4096", "--yes")
        assert "column 'maiden' is not in the table of north; column 'maiden' is not in the " \
            "table of south" in node(capsys, tmp_path / "north", *words, "--linker", "lina",
                                     "--set", 'link=["maiden:name"]')
        linked = (*words, "--set", f"link={json.dumps(LINK)}")
        assert "Name a unit with --linker" in node(capsys, tmp_path / "north", *linked)
        number = node(capsys, tmp_path / "north", *linked, "--linker", "lina")["study"]
        proposal = fleet.state("north").find(number).proposal
        for name in ("dora", "lina"):
            state = fleet.state(name)
            fleet.until(lambda state=state: state.has(number), f"{name} has the proposal")
            main(["node", "show", "heart", "--folder", str(tmp_path / name)])
            assert f"'lina' learns: {ENCODED}" in capsys.readouterr().out
            node(capsys, tmp_path / name, "consent", "heart", "--yes")
        ends = fleet.ended(proposal)
        assert {result for result, _ in ends.values()} == {"complete"}, ends
        model, unit = fleet.result("south", proposal), fleet.configs["lina"].study_folder(number)
        assert 0.8 * common <= model["records"] <= common + 5
        assert model["parameters"][1] == pytest.approx(slope, abs=0.3)
        assert fleet.result("lina", proposal) is None
        opened = Ledger.load(unit / "attempt-1.ledger").learned()
        assert [one.because for one in opened] == [ENCODED]
        assert "standing consent" in fleet.state("north").verdicts(number)["south"].approver
        assert "lina" in (fleet.configs["south"].study_folder(number) / "report.html").read_text()


def test_a_wrong_code_drops_the_introduction(tmp_path, capsys):
    fleet = Fleet(tmp_path, names=("north", "south"))
    state = fleet.state("north")
    [south] = state.peers()
    state.keep_peer(type(south)("south", south.address, south.certificate, False, "AAAA-BBBB",
                                "CCCC-DDDD"))
    assert "This is not the code" in node(capsys, tmp_path / "north", "trust", "south", "AAAABBBB")
    assert state.peers(trusted=None) == []
    assert "waits to be trusted" in node(capsys, tmp_path / "north", "trust", "south", "CCCCDDDD")


def test_two_nodes_pair_by_commands(tmp_path, capsys):
    port = free_ports(1)[0]
    folders = {name: tmp_path / name for name in ("north", "south")}
    for name, folder in folders.items():
        node(capsys, folder, "init", name, "--address", f"127.0.0.1:{port}", "--health", "")
    fleet = Fleet.__new__(Fleet)
    fleet.folder, fleet.running, fleet.network = tmp_path, {}, None
    with fleet:
        fleet.serve("north")
        fleet.until(lambda: "started" in (tmp_path / "north.log").read_text(), "north listens")
        invitation = node(capsys, folders["north"], "invite")["invitation"]
        aloud = node(capsys, folders["south"], "accept", invitation)["read aloud"]
        [pending] = node(capsys, folders["north"], "status")["peers"]
        assert not pending["trusted"]
        assert node(capsys, folders["north"], "trust", "south", aloud)["trusted"]
        assert node(capsys, folders["south"], "trust", "north", pending["read aloud"])["trusted"]
        assert "is not open" in node(capsys, folders["south"], "accept", invitation)


def test_the_shipped_unit_starts_a_command_that_exists():
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(ROOT / "deploy" / "unspoken-node.service")
    command = shlex.split(unit["Service"]["ExecStart"])
    assert command[0].endswith("/unspoken")
    assert parser().parse_args(command[1:]).node_verb == "serve"
    assert unit["Service"]["User"] == "unspoken"
    assert unit["Service"]["UMask"] == "0077"


def test_the_shipped_container_starts_a_command_that_exists():
    text = (ROOT / "deploy" / "Containerfile").read_text()
    lines = dict(line.split(" ", 1) for line in text.splitlines()
                 if line.startswith(("ENTRYPOINT", "CMD", "USER")))
    words = json.loads(lines["ENTRYPOINT"]) + json.loads(lines["CMD"])
    assert parser().parse_args(words[1:]).node_verb == "serve"
    assert lines["USER"] == "unspoken"
