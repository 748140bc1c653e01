"""`release.plot()` and `audit.plot()` give axes; tables, releases and audits fit a screen."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import unspoken
from unspoken.errors import SchemaError

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    table = unspoken.read({"age": rng.integers(18, 90, 120), HOSTILE: rng.choice(["a", "b"], 120),
                           "ill": rng.choice(["yes", "no"], 120)}, target="ill", show=False)
    release, key = unspoken.protect.PiecewiseEncoder(random_state=1).protect(table)
    return table, release, unspoken.risk.audit(table, release, key, trials=1)


@pytest.mark.slow
def test_plots_are_axes_and_draw_what_was_released(made):
    _, release, audit = made
    axes = release.plot("age")
    assert isinstance(axes, Axes)
    assert sum(bar.get_height() for bar in axes.patches) == 120
    words = release.plot(HOSTILE)
    assert sorted(bar.get_height() for bar in words.patches) == sorted(
        np.unique(release.to_pandas()[HOSTILE], return_counts=True)[1])
    drawn = audit.plot()
    assert isinstance(drawn, Axes)
    assert len(drawn.get_yticklabels()) == len(drawn.patches) > 0


@pytest.mark.slow
def test_plots_draw_into_axes_that_are_given(made):
    own = Figure().add_subplot()
    assert made[1].plot(axes=own) is own
    assert made[2].plot(axes=own) is own


@pytest.mark.slow
def test_an_unknown_column_is_refused(made):
    with pytest.raises(SchemaError, match="'column' must be one of"):
        made[1].plot("nobody")


@pytest.mark.slow
def test_notebooks_show_text_and_no_markup(made):
    for one in made:
        page = one._repr_html_()
        assert page.startswith("<pre")
        assert page.endswith("</pre>")
        assert HOSTILE not in page
        assert len(repr(one).split("\n")) <= 60


@pytest.mark.slow
def test_a_wide_table_fits_a_screen():
    table = unspoken.read({f"c{i}": [1, 2] for i in range(500)}, show=False)
    lines = repr(table).split("\n")
    assert len(lines) <= 45
    assert any("more" in line for line in lines)
    assert lines[-1].startswith("c499")
