"""Known answers: what diffprivlib 0.6.6 computes for the same noise and the same totals.

diffprivlib needs an older scikit-learn than this project, so its answers are stored. They were read
from `mechanisms.Geometric(...).variance`, from the `_scale` of `mechanisms.GaussianAnalytic` and
`mechanisms.Gaussian`, and from `BudgetAccountant.total`.
"""

import pytest

from unspoken.numerics.concentrated_loss import rho_of
from unspoken.numerics.private_noise import gaussian_error, laplace_error
from unspoken.release.budget_costs import Cost, total_epsilon


@pytest.mark.parametrize(("epsilon", "reach", "variance"), [
    (1.0, 1, 1.8413471884155848), (0.5, 2, 31.833852877737307), (0.1, 5, 4999.8333366665875),
    (2.0, 1, 0.36203083048315526)])
def test_noise_on_whole_numbers_has_the_variance_of_their_geometric_mechanism(
        epsilon, reach, variance):
    assert laplace_error(reach, epsilon) ** 2 == pytest.approx(variance, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "reach", "analytic", "classical"), [
    (1.0, 1e-6, 1, 4.224678889319316, 5.298802526850474),
    (0.5, 1e-5, 1, 7.031826675581986, 9.689610525210778),
    (0.9, 1e-3, 2, 5.6254511076662075, 8.392176739242325)])
def test_gaussian_noise_is_at_least_their_least_and_less_than_the_textbook_s(
        epsilon, delta, reach, analytic, classical):
    assert analytic <= gaussian_error(reach, rho_of(epsilon, delta)) < classical
    assert gaussian_error(reach, rho_of(epsilon, delta)) < 1.15 * analytic


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "times", "delta", "total"), [
    (0.01, 1000, 1e-6, 1.6414911232077207), (0.1, 50, 1e-6, 3.9197974349906306),
    (0.01, 1000, 1e-5, 1.4895633279766927), (0.1, 50, 1e-5, 3.5914068011777855)])
def test_totals_stay_below_their_bound_on_the_same_releases(epsilon, times, delta, total):
    pytest.importorskip("dp_accounting")
    ours = total_epsilon({Cost(epsilon): times}, delta)
    assert 0.7 * total < ours <= total
    assert total_epsilon({Cost(epsilon): times}) == pytest.approx(epsilon * times, abs=0)
