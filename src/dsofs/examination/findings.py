"""What an examination of a selection found, as plain values: saved as JSON, and drawn again without computing again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from dsofs.records import read_record

SCHEMA = 2  # raised when a field changes its meaning

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of a feature within each class


@dataclass(frozen=True)
class ClassCount:
    """A class and its samples."""

    name: str
    n_samples: int


@dataclass(frozen=True)
class Feature:
    """A chosen feature."""

    name: str
    index: int  # its column in X
    rank: int
    score: float | None  # higher is better; None if the selector gives none
    has_weight: bool | None  # in the selector's own linear model; None if it has none
    frequency: float  # share of the resamples in which it was chosen
    quantiles: list[list[float]]  # per class, at QUANTILES, in the units of X
    profile: list[float]  # per class, its mean in standard deviations from the mean of all samples
    gives_label_away: bool = False  # whether each of its values is in one class only


@dataclass(frozen=True)
class AccuracyCurve:
    """Held-out accuracy against the number of features, over the resamples."""

    ks: list[int]
    mean: list[float]
    deviation: list[float]  # standard deviation over the resamples
    standard_error: list[float]  # corrected for samples that the resamples share
    k: int  # the number chosen by the user
    one_se_k: int  # the fewest features within one standard error of the best
    chance: float  # always guessing the largest class
    all_features: float | None  # the accuracy of the same model on all features; None if it was not measured

    @property
    def at_k(self) -> float:
        return self.mean[self.ks.index(self.k)]

    @property
    def deviation_at_k(self) -> float:
        return self.deviation[self.ks.index(self.k)]

    @property
    def best_k(self) -> int:
        """Where the curve is highest. Not saved: that accuracy is optimistic, since the same resamples chose it."""
        return self.ks[self.mean.index(max(self.mean))]


@dataclass(frozen=True)
class BalancedAccuracy:
    """Balanced held-out accuracy, over the classes that were ever held out."""

    mean: float
    standard_error: float  # corrected for shared samples, and no less than that of predictions by chance
    chance: float  # 1 / n_tested
    n_tested: int
    untested: list[str]  # classes that were never held out

    @property
    def skill(self) -> float:
        """0 for chance, 1 for perfect prediction."""
        return (self.mean - self.chance) / (1 - self.chance)


@dataclass(frozen=True)
class HeldOutAccuracy:
    """Mean and standard deviation over the resamples."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class LevelsToldApart:
    """How well the chosen features predict the levels of a covariate (a batch, a sex)."""

    name: str
    n_levels: int
    balanced: BalancedAccuracy


@dataclass(frozen=True)
class CovariateFindings:
    """What covariates predict alone, and with the chosen features."""

    names: list[str]
    alone: HeldOutAccuracy
    together: HeldOutAccuracy
    levels: list[LevelsToldApart]  # of the covariates that are categories


@dataclass(frozen=True)
class StabilityCurve:
    """Nogueira's index of the sets chosen in the resamples, with its 95 % interval, against the number of features."""

    ks: list[int]
    index: list[float | None]  # None where all features are chosen
    low: list[float | None]
    high: list[float | None]
    k: int

    @property
    def at_k(self) -> float | None:
        return self.index[self.ks.index(self.k)]


@dataclass(frozen=True)
class PermutationTest:
    """The same selection and model on shuffled labels."""

    observed: float  # accuracy with the true labels, on the same splits
    shuffled: list[float]
    n_splits: int
    n_as_good: int  # shuffled labellings that did as well
    smallest: float  # p-value that all labellings of these samples, or groups of them, allow

    @property
    def p_value(self) -> float:
        """The true labelling counts as one of the shuffled ones, so that it is never 0."""
        return (1 + self.n_as_good) / (1 + len(self.shuffled))

    @property
    def smallest_of_shuffles(self) -> float:
        """The smallest p-value that this number of shuffles allows."""
        return 1 / (1 + len(self.shuffled))


@dataclass(frozen=True)
class View:
    """Samples in two dimensions: axes from the training part of a resample, the others only placed on them."""

    x: list[float]
    y: list[float]
    classes: list[int]
    held_out: list[bool]
    axes: list[str]
    n_left_out: int  # samples not drawn


@dataclass(frozen=True)
class HeatMap:
    """Chosen features (rows) of samples ordered by class (columns)."""

    features: list[int]  # positions among the chosen features, in the order drawn
    counts: list[int]  # columns of each class
    levels: list[list[int]]  # standard deviations from the mean, -LIMIT..LIMIT as -127..127
    limit: float
    n_left_out: int  # samples not drawn


@dataclass(frozen=True)
class Suspect:
    """A sample whose label looks wrong, or which is part of a proof that classes cannot be separated."""

    sample: str
    label: str
    predicted: str | None  # most often, where it was held out
    wrong: int  # how often it was predicted as another class
    held_out: int  # how often it was
    in_conflict: bool


@dataclass(frozen=True)
class Convergence:
    """The iterations of the solver and its certificate, for methods that have one."""

    status: str
    certificate: str  # "duality gap" or "stationarity"
    value: float | None
    n_rows: int  # features whose weights are not zero
    objective: list[float]
    gap: list[float | None]
    active: list[int]


@dataclass(frozen=True)
class Image:
    """The mean of samples that are images, and the chosen pixels."""

    shape: list[int]
    mean: list[int]  # 0..255, row by row
    chosen: list[int]  # positions in ``mean``, best first


@dataclass(frozen=True)
class Plan:
    """How much is measured; fixed beforehand, from the estimated time."""

    n_resamples: int
    n_permutations: int
    seconds: float  # estimated for all of them
    time_limit: float | None  # for which the numbers were chosen; None if there was no limit, or they were given

    @property
    def words(self) -> str:
        return f"{self.n_resamples} resamples and {self.n_permutations or 'no'} shuffled labellings"


@dataclass(frozen=True)
class Origin:
    """Where the findings come from, and what they were measured with."""

    data: str
    sha256: str
    command: str | None
    method: str
    parameters: dict[str, Any]
    seed: int
    n_resamples: int
    classifier: str
    created: str
    versions: dict[str, str]
    seconds: dict[str, float]
    plan: Plan | None = None  # None in findings of earlier versions


@dataclass(frozen=True)
class Findings:
    """Everything the report shows: what :func:`dsofs.report.examine` returns."""

    n_samples: int
    n_features: int
    classes: list[ClassCount]
    chosen: list[Feature]
    accuracy: AccuracyCurve
    balanced: BalancedAccuracy | None  # None if fewer than two classes were ever held out
    stability: StabilityCurve
    permutation: PermutationTest | None
    confusion: list[list[int]]  # true class x predicted class, held-out samples of all resamples
    view: View
    heat_map: HeatMap
    suspects: list[Suspect]
    convergence: Convergence | None
    image: Image | None
    warnings: list[str]
    origin: Origin
    covariates: CovariateFindings | None = None  # None if there are none
    # What samples have in common that may belong together but were split: an ID, the start of their names, all values.
    repeated_ids: list[str] = field(default_factory=list)
    schema: int = SCHEMA

    def to_json(self) -> str:
        return json.dumps(asdict(self), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Findings:
        """The findings that ``to_json`` wrote."""
        values = json.loads(text)
        if not isinstance(values, dict) or values.get("schema") != SCHEMA:
            raise ValueError(f"This is not a file of findings of schema {SCHEMA}.")
        return read_record(cls, values, defaults=True)

    def _repr_html_(self) -> str:
        from dsofs.report import summary  # only notebooks ask, and drawing is the report's

        return summary(self)
