"""How many people are unique in the population, estimated from a sample without a population file.

The three published estimators each assume a shape of the population, and Dankar et al. choose among
them. Beside them stands a range that assumes no shape: every number of unique people with which the
sample could have come out as it did. Where an estimate could be off by more than half of a number
in that range, the sample does not settle the question, and the estimate says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from kanon.base.formatting import write_percent
from kanon.errors import PlanError, TableError

ASSUMPTIONS: Mapping[str, str] = {
    "pitman": "The population grows as in an Ewens–Pitman process: each further person is new or "
    "joins a class with a chance that grows with the size of the class.",
    "zayatz": "Classes of the population have the same mix of sizes as classes of the sample.",
    "snb": "The size of a population's class, less one, follows a negative binomial distribution, "
    "and Shlosser's estimate of the number of classes is right.",
}
"""What each estimator assumes of the population, beside a simple random sample."""

_SIZES = 6  # how many sizes of classes the range looks at one by one; larger ones are one group
_DEVIATIONS = 2.5  # how far a number of classes may be from its expectation
_MOST_ERROR = 0.5  # the share of the truth by which a reliable estimate may be off


@dataclass(frozen=True)
class UniquenessEstimate:
    """How many records of the population are unique, by one estimator; None if it has no answer."""

    method: str  # a key of ASSUMPTIONS
    uniques: float | None  # records that are unique in the population
    in_both: float | None  # of the sample's records, those expected to be unique in both
    share: float | None  # of the population or the sample, in [0, 1]; the two are the same
    unreliable: str | None  # why the estimate is not reliable here; None where it is


@dataclass(frozen=True)
class PopulationUniqueness:
    """Estimates of population uniqueness from a sample, and the range that the sample allows."""

    records: int  # n, of the sample
    population: float  # N = n / π
    sample_uniques: int  # classes of one record in the sample
    least: float  # the fewest unique records in a population that fits the sample; 0 if none fits
    most: float  # the most; N if none fits
    estimates: Mapping[str, UniquenessEstimate]
    chosen: str  # the method that the rule of Dankar et al. chooses


def estimate_population_uniqueness(
    class_sizes: np.ndarray, fraction: float
) -> PopulationUniqueness:
    """Estimate how many records of the population no other record is like.

    With n records in the sample, N = n / π and s_j classes of size j, the estimates are

    - *Pitman*: N Γ(θ+1) Γ(θ+α+N−1) / (Γ(θ+α) Γ(θ+N)), the expected number with θ and α by maximum
      likelihood; Hoshino's Γ(θ+1) N^α / Γ(θ+α) is its limit for θ much smaller than N.
    - *Zayatz*: s₁² h₁ / (π Σ s_j h_j), h_j the hypergeometric chance that a class of j records has
      one in the sample.
    - *SNB*, slide negative binomial: K β^α, with K by Shlosser as modified by Haas and Stokes, and
      α and β for which s₁ and s₂ are as expected.
    - *Chosen*: Pitman up to π = 0.1, or Zayatz where Pitman has no answer; above it the smaller
      of Zayatz and SNB, as ARX has the rule.

    π times an estimate is the expected number of records that are unique in sample and population.
    The range is the least and the greatest number of unique records over all populations of N
    records for which each s_j up to 6, and the number of larger classes, lies within 2.5 √(s_j + 1)
    of its expectation (linear programming). An estimate E is reliable if |E − U| ≤ U / 2 for all
    numbers U in the range. Where π is 1 the sample is the population, and all numbers are exact.

    Parameters
    ----------
    class_sizes
        The number of records (or persons) of each class of the sample, at least 1 each.
    fraction
        π, the share of the population that is in the sample, above 0 and up to 1.

    Raises
    ------
    PlanError
        The fraction is out of its range.
    TableError
        The sample has no records, or a class has fewer than one.

    References
    ----------
    Hoshino 2001: Applying Pitman's sampling formula to microdata disclosure risk assessment;
    Zayatz 1991: Estimation of the number of unique population elements using a sample; Chen,
    Keller-McNulty 1998: Estimation of identification disclosure risk in microdata; Haas, Stokes
    1998: Estimating the number of classes in a finite population; Dankar, El Emam, Neisa, Roffey
    2012: Estimating the re-identification risk of clinical data sets.

    >>> sample = np.repeat([1, 2, 3], [100, 10, 2])
    >>> found = estimate_population_uniqueness(sample, fraction=0.5)
    >>> found.records, found.population, found.chosen, round(found.estimates["snb"].uniques)
    (126, 252.0, 'snb', 169)
    >>> found.estimates["snb"].unreliable
    'The sample fits anything from 30.4 % to 94.6 % unique in the population.'
    """
    check_fraction(fraction)
    sizes, counts = np.unique(np.asarray(class_sizes), return_counts=True)
    if not len(sizes) or sizes[0] < 1:
        raise TableError("The sample needs at least one class, and each class at least 1 record.")
    records = int(sizes @ counts)
    population = records / fraction
    sample_uniques = int(counts[0]) if sizes[0] == 1 else 0
    values: dict[str, float | None] = dict.fromkeys(ASSUMPTIONS, float(sample_uniques))
    bounds: tuple[float, float] | None = (sample_uniques, sample_uniques)
    if fraction < 1:
        bounds = _find_range(sizes, counts, fraction)
        if sample_uniques:
            for name, fit in (("pitman", _fit_pitman), ("zayatz", _fit_zayatz), ("snb", _fit_snb)):
                values[name] = fit(sizes, counts, fraction)
    estimates = {
        name: UniquenessEstimate(
            name,
            value,
            None if value is None else value * fraction,
            None if value is None else value / population,
            _explain_doubt(name, value, bounds, population),
        )
        for name, value in values.items()
    }
    least, most = bounds or (0.0, population)
    chosen = _choose_method(values, fraction)
    return PopulationUniqueness(records, population, sample_uniques, least, most, estimates, chosen)


def check_fraction(fraction: float) -> None:
    """Raise PlanError if a sampling fraction is not above 0 and up to 1."""
    if not 0 < fraction <= 1:
        raise PlanError(
            f"A sampling fraction of {100 * fraction:g} % is not allowed; it must be above 0 % and "
            "at most 100 %."
        )


def _choose_method(values: Mapping[str, float | None], fraction: float) -> str:
    zayatz, snb = values["zayatz"], values["snb"]
    if fraction <= 0.1:
        return "zayatz" if values["pitman"] is None else "pitman"
    return "zayatz" if snb is None or zayatz is None or zayatz < snb else "snb"


def _explain_doubt(
    method: str, value: float | None, bounds: tuple[float, float] | None, population: float
) -> str | None:
    if value is None and method == "pitman":
        return "Every class of the sample has one record, so the model has no best parameters."
    if value is None:
        return "The numbers of classes of one and of two records do not fit the model."
    if value > population:
        return "The estimate is larger than the population."
    if bounds is None:
        return "No population was found that fits a simple random sample like this."
    least, most = bounds
    if value - least > _MOST_ERROR * least or most - value > _MOST_ERROR * most:
        low, high = (write_percent(100 * bound / population) for bound in bounds)
        return f"The sample fits anything from {low} to {high} unique in the population."
    return None


def _fit_zayatz(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float:
    records = int(sizes @ counts)
    one_drawn = stats.hypergeom.pmf(1, round(records / fraction), sizes, records)
    return float(counts[0] ** 2 * one_drawn[0] / (counts @ one_drawn) / fraction)


def _fit_pitman(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float | None:
    n, n_classes = float(sizes @ counts), float(counts.sum())
    if n_classes == n:
        return None
    psi, log_gamma = special.digamma, special.gammaln

    def find_theta(alpha: float) -> float:
        def slope(log_sum: float) -> float:  # of the log likelihood, over log(θ + α)
            theta = np.exp(log_sum) - alpha
            new = (psi(theta / alpha + n_classes) - psi(theta / alpha + 1)) / alpha
            return float(new - psi(theta + n) + psi(theta + 1))

        low, high = np.log(1e-9), np.log(n * n)  # even one record in common leaves θ near n² / 2
        return float(np.exp(_find_root(slope, low, high) if slope(high) < 0 else high) - alpha)

    def negative_likelihood(alpha: float) -> float:
        theta = find_theta(alpha)
        ratio = theta / alpha
        new = (n_classes - 1) * np.log(alpha) + log_gamma(ratio + n_classes) - log_gamma(ratio + 1)
        joined = counts @ (log_gamma(sizes - alpha) - log_gamma(1 - alpha))
        return float(log_gamma(theta + n) - log_gamma(theta + 1) - new - joined)

    alpha = float(optimize.minimize_scalar(negative_likelihood, bounds=(1e-3, 0.999)).x)
    theta, population = find_theta(alpha), n / fraction
    grown = log_gamma(theta + alpha + population - 1) - log_gamma(theta + population)
    return float(population * np.exp(log_gamma(theta + 1) - log_gamma(theta + alpha) + grown))


def _fit_snb(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float | None:
    ones, twos = counts[sizes == 1].sum(), counts[sizes == 2].sum()
    if not twos:
        return None
    n_classes = _estimate_classes(sizes, counts, fraction)

    def find_alpha(beta: float) -> float:  # for twos / ones as expected: a quadratic equation
        missed = (1 - fraction) * (1 - beta)
        scale, kept = ones * fraction * (1 - beta), 2 * twos * (1 - missed)
        a, b, c = scale * missed, scale * (2 - missed) - kept * missed, kept * (1 - missed)
        return float(2 * c / (b + np.sqrt(b * b + 4 * a * c)))

    def surplus(logit: float) -> float:  # of expected classes of one record, over the logit of β
        beta = float(special.expit(logit))
        alpha, missed = find_alpha(beta), (1 - fraction) * (1 - beta)
        power = alpha * (np.log(beta) - np.log1p(-missed))
        expected = n_classes * fraction * np.exp(power) * (1 + alpha * missed / (1 - missed))
        return float(expected - ones)

    grid = np.linspace(-16, 16, 129)
    changes = np.flatnonzero(np.diff(np.sign([surplus(logit) for logit in grid])))
    if not len(changes):
        return None
    beta = float(special.expit(_find_root(surplus, grid[changes[0]], grid[changes[0] + 1])))
    return float(n_classes * beta ** find_alpha(beta))


def _estimate_classes(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float:
    """Shlosser's number of classes of the population, as modified by Haas and Stokes (1998)."""
    missed, twice = (1 - fraction) ** sizes, (1 - fraction**2) ** sizes
    again = fraction**2 * (counts @ (sizes * twice)) / (1 - fraction**2)
    unseen = (1 - fraction) * (counts @ missed) / (fraction * (counts @ (sizes * missed)))
    return float(counts.sum() + counts[0] * again / (counts @ (twice - missed)) * unseen**2)


def _find_root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(optimize.brentq(function, low, high, xtol=1e-10))


def _find_range(
    sizes: np.ndarray, counts: np.ndarray, fraction: float
) -> tuple[float, float] | None:
    """The least and the greatest number of unique records that the sample allows.

    Unknown are the shares of the population in classes of each size; above 60 in steps of a few %.
    """
    population = float(sizes @ counts) / fraction
    small = np.arange(1, _SIZES + 1)
    observed = np.array([*(counts[sizes == size].sum() for size in small), 0.0])
    observed[-1] = counts.sum() - observed.sum()
    largest = 1.5 * max(int(sizes[-1]), _SIZES) / fraction + 60
    steps = np.unique(np.r_[1:60, np.geomspace(60, largest, 80).round()])
    chances = np.vstack(
        [stats.binom.pmf(small[:, None], steps, fraction), stats.binom.sf(_SIZES, steps, fraction)]
    )
    allowed = _DEVIATIONS * np.sqrt(observed + 1)
    rows = chances * population / steps / allowed[:, None]
    limits = np.r_[observed / allowed + 1, 1 - observed / allowed]
    ends = []
    for sign in (1, -1):
        solution = optimize.linprog(
            sign * (steps == 1), np.vstack([rows, -rows]), limits, np.ones((1, len(steps))), [1.0]
        )
        if not solution.success:
            return None
        ends.append(population * min(max(sign * float(solution.fun), 0.0), 1.0))
    return ends[0], ends[1]
