"""Every option of every method is in the help, with an example that its rule admits."""

import pytest

from unspoken.cli.main import main
from unspoken.cli.method_examples import all_options, as_typed, example_of
from unspoken.cli.method_options import value_of
from unspoken.release.method import methods

EVERY_OPTION = [pytest.param(method, name, id=f"{method.name}-{name}")
                for method in methods().values() for name in method.parameters]


@pytest.fixture(scope="module")
def help_text():
    return all_options()


@pytest.mark.parametrize(("method", "name"), EVERY_OPTION)
def test_every_option_has_an_example_that_is_allowed(method, name, help_text):
    parameter = method.parameters[name]
    example = example_of(method, name, parameter)
    assert parameter.rule.admits(example)
    assert example is not None
    typed = as_typed(method, name, parameter)
    assert f"    {typed}\n" in help_text
    if parameter.switch is None:
        words = typed.removeprefix(f"--option {name}=").removeprefix(f"{parameter.flag} ")
        assert value_of(words.strip("'")) == example


def test_the_help_of_protect_shows_them(capsys, help_text):
    with pytest.raises(SystemExit):
        main(["protect", "--help"])
    assert help_text.strip() in capsys.readouterr().out


@pytest.mark.parametrize("value", [[[1], [2]], {"town": [["Ulm"], ["Bonn"]]}, [{}, {}]])
def test_lists_of_lists_are_no_values(value):
    assert not methods()["randomized-response"].parameters["values"].rule.admits(value)
