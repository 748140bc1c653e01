"""Designing noise: known deviations at equal privacy, and information by quadrature."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import quad

from unspoken.cli.main import main
from unspoken.errors import InputError
from unspoken.methods.distortion.noise_design import design_noise, people_for_shares
from unspoken.methods.distortion.noise_laws import Noise


def by_family(**options):
    return {one.noise.family: one for one in design_noise(50.0, (0.0, 100.0), **options)}


def test_at_equal_width_deviations_are_those_of_the_text():
    """Widths at 95%: 2 a 0.95, 3.92 sigma, 2 b ln 20; the mean pays for the variance."""
    found = by_family()
    deviations = {"uniform": 50 / 1.9 / 3**0.5, "gaussian": 50 / 3.919928,
                  "laplace": 2**0.5 * 50 / (2 * np.log(20))}
    for family, deviation in deviations.items():
        assert found[family].width == pytest.approx(50.0)
        people = 1 + 12 * deviation**2 / 100**2
        assert found[family].people_for_mean == pytest.approx(people, rel=1e-6)


def test_at_equal_entropy_gaussian_noise_costs_the_mean_least():
    """Of all laws of one variance the Gaussian has the most entropy."""
    found = by_family(measure="entropy")
    assert all(one.hidden == pytest.approx(50.0) for one in found.values())
    assert min(found.values(), key=lambda one: one.people_for_mean).noise.family == "gaussian"


@pytest.mark.parametrize("noise", [Noise("uniform", 0.7), Noise("gaussian", 0.4),
                                   Noise("laplace", 0.3)], ids=lambda one: one.family)
def test_information_about_two_halves_is_the_integral(noise):
    """One free share p: information int (f1 - f2)^2 / ((f1 + f2) / 2), of the truth 4."""
    def halves(at):
        first = noise.cdf(at) - noise.cdf(at - 1)
        return first, noise.cdf(at - 1) - noise.cdf(at - 2)

    def term(at):
        first, second = halves(np.array(at))
        return 0.0 if first + second <= 0 else (first - second) ** 2 / ((first + second) / 2)

    corners = [c + s * noise.scale for c in (0, 1, 2) for s in (-1, 0, 1)]
    information = quad(term, -9, 11, points=corners, limit=500)[0]
    assert people_for_shares(noise, np.array([0.0, 1.0, 2.0])) == pytest.approx(
        4 / information, rel=0.01)


def test_no_noise_costs_nothing_and_detail_costs_most():
    assert design_noise(1e-3, (0.0, 100.0))[0].people_for_shares == pytest.approx(1.0, abs=0.01)
    few, many = by_family(bins=4), by_family(bins=12)
    assert all(few[name].people_for_shares < many[name].people_for_shares for name in few)
    assert many["gaussian"].people_for_shares > 100 * many["uniform"].people_for_shares


@pytest.mark.parametrize(("privacy", "support", "options"), [
    (0.0, (0, 1), {}), (1.0, (1, 0), {}), (1.0, (0, 1), {"bins": 1}),
    (1.0, (0, 1), {"measure": "width of it"}), (1.0, (0, 1), {"confidence": 1.0})])
def test_what_is_out_of_range_is_refused(privacy, support, options):
    with pytest.raises(InputError):
        design_noise(privacy, support, **options)


def test_the_command_line_prints_the_designs(capsys):
    assert main(["measure", "noise", "--privacy", "50", "--support", "0,100", "--bins", "20",
                 "--json"]) == 0
    designs = json.loads(capsys.readouterr().out)["designs"]
    assert [one["family"] for one in designs] == ["uniform", "laplace", "gaussian"]
    assert designs[2]["people_for_shares"] is None
    assert main(["measure", "noise", "--privacy", "50", "--support", "100"]) == 2
