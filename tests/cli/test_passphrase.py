"""Passphrases come from a file or from the terminal, and show up nowhere."""

import json
import os
import pty
import select
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

LIMIT = 60
SECRET = "correct horse battery staple"
PROTECT = ("protect", "table.csv", "--target", "outcome", "--out", "sealed", "--key", "sealed.key")
DECODE = ("decode", "tree.json", "--key", "sealed.key", "--data", "table.csv", "--out", "new.json")


@pytest.fixture(scope="module")
def made(walk, command_in, tmp_path_factory):
    copied = tmp_path_factory.mktemp("sealed") / "walk"
    shutil.copytree(walk, copied)
    (copied / "pass").write_text(SECRET + "\nsecond line\n")
    (copied / "wrong").write_text("open sesame\n")
    (copied / "empty").write_text("\n")
    done = command_in(*PROTECT, "--passphrase-file", "pass", "--json", cwd=copied)
    assert done.status == 0, done.err
    assert json.loads(done.out)["sealed"] is True
    assert SECRET not in done.out + done.err
    mined = command_in("mine", "sealed", "--out", "model", cwd=copied)
    assert mined.status == 0, mined.err
    (copied / "model").replace(copied / "tree.json")
    return copied


@pytest.fixture
def sealed(made, tmp_path):
    shutil.copytree(made, tmp_path / "walk")
    return tmp_path / "walk"


@pytest.mark.parametrize(("given", "words"), [
    (("--passphrase-file", "wrong"), "passphrase"),
    *(pytest.param(given, words, marks=pytest.mark.slow) for given, words in (
        ((), "sealed"), (("--passphrase-file", "empty"), "empty"),
        (("--passphrase-file", "nothing"), "nothing"))),
])
def test_without_the_passphrase(sealed, command_in, listed, given, words):
    before = listed(sealed)
    done = command_in(*DECODE, *given, cwd=sealed)
    assert done.status == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert SECRET not in done.out + done.err
    assert listed(sealed) == before


@pytest.mark.slow
def test_with_the_passphrase(sealed, command_in):
    done = command_in(*DECODE, "--passphrase-file", "pass", cwd=sealed)
    assert done.status == 0, done.err
    assert SECRET not in done.out + done.err
    assert (sealed / "new.json").exists()


@pytest.mark.slow
def test_summary_of_a_sealed_key(sealed, command_here):
    closed = json.loads(command_here("summary", "sealed.key", "--json", cwd=sealed).out)
    assert closed["sealed"] is True
    opened = command_here("summary", "sealed.key", "--passphrase-file", "pass", "--json",
                          cwd=sealed)
    assert json.loads(opened.out)["release"]
    assert command_here("summary", "sealed.key", "--passphrase-file", "wrong",
                        cwd=sealed).status == 2


# Whoever opens a terminal as the leader of a session has it as its own, as after a login.
LAUNCH = """
import os, sys
os.close(os.open(os.ttyname(0), os.O_RDWR))
os.execv(sys.executable, [sys.executable, "-m", "unspoken", *sys.argv[1:]])
"""


def _on_a_terminal(folder, answers, *args):
    """Run a command on a pseudo terminal, answer its prompts, return status and screen."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, *args], cwd=folder, stdin=theirs, stdout=theirs,
        stderr=theirs, start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    os.close(theirs)
    try:
        screen = _answered(ours, list(answers))
        return child.wait(LIMIT), screen.decode()
    finally:
        child.kill()
        os.close(ours)


def _answered(terminal, waiting):
    """Return all that the command writes; each prompt gets the next answer."""
    screen, since = b"", 0
    while True:
        assert select.select([terminal], [], [], LIMIT)[0], f"stands still after: {screen}"
        try:
            new = os.read(terminal, 4096)
        except OSError:
            return screen
        if not new:
            return screen
        screen += new
        # Only what came after the last answer: the old prompt must not be answered twice.
        if waiting and screen[since:].endswith((b"key: ", b"again: ")):
            since = len(screen)
            os.write(terminal, waiting.pop(0).encode() + b"\n")


@pytest.mark.slow
def test_asked_on_the_terminal(copied):
    status, screen = _on_a_terminal(copied, [SECRET, SECRET], *PROTECT, "--ask-passphrase")
    assert status == 0, screen
    assert SECRET not in screen
    status, screen = _on_a_terminal(copied, [SECRET], "summary", "sealed.key", "--ask-passphrase")
    assert status == 0, screen


@pytest.mark.slow
def test_two_answers_that_differ(copied, listed):
    before = listed(copied)
    status, screen = _on_a_terminal(copied, [SECRET, "other"], *PROTECT, "--ask-passphrase")
    assert status == 2
    assert "must be the same" in screen
    assert listed(copied) == before


def test_no_option_takes_the_passphrase_itself():
    from unspoken.cli.reference import options, verbs

    spelled = [word for verb in verbs().values() for action in options(verb)
               for word in action.option_strings if "pass" in word]
    assert set(spelled) == {"--passphrase-file", "--ask-passphrase"}
