import numpy as np
import pytest
from scipy.stats import ttest_1samp

from dsofs.experiments import append_row, read_rows
from dsofs.experiments.side_by_side import remember, side_by_side
from dsofs.statistics import stability
from dsofs.statistics.significance import resampled_p
from tests.report.examples import compare


@pytest.mark.parametrize("seed", range(3))
def test_p_over_splits_is_students_but_for_shared_samples(seed):
    differences = np.random.default_rng(seed).normal(0.5, 1, size=12)
    assert resampled_p(differences, 0.0) == pytest.approx(ttest_1samp(differences, 0).pvalue)
    assert resampled_p(differences, 0.5) > resampled_p(differences, 0.1)
    assert resampled_p(-differences, 0.5) == resampled_p(differences, 0.5)
    assert resampled_p(np.zeros(5), 0.5) == 1


def test_figures_are_those_of_the_rows(tmp_path):
    rows = compare(tmp_path / "rows.jsonl")
    found = side_by_side(tmp_path / "rows.jsonl")
    for i, method in enumerate(found.asked.methods):
        for j, k in enumerate(found.asked.ks):
            here = [row for row in rows if (row.method, row.k) == (method, k)]
            np.testing.assert_array_equal(found.accuracy[i, j], [row.score for row in here])
            most = [row for row in rows if (row.method, row.k) == (method, found.asked.ks[-1])]
            expected = stability([np.array(row.values["features"][:k]) for row in most], found.asked.n_features)
            assert found.stability[i][j] == expected
    best = found.best()[1]
    assert best.accuracy == pytest.approx(found.mean[:, 1].max())
    assert found.ratio == pytest.approx(4 / 6)


def test_what_was_asked_last_is_shown(tmp_path):
    path = tmp_path / "rows.jsonl"
    compare(path)
    compare(path, methods=("f_test",), ks=(2,), trials=3)  # fewer of each: nothing new is measured
    found = side_by_side(path)
    assert found.accuracy.shape == (1, 1, 3)
    assert found.stability[0][0] is not None  # from rows with more features
    before = path.read_bytes()
    remember(path, found.asked)
    assert path.read_bytes() == before


def test_one_trial_has_no_stability_and_other_rows_do_no_harm(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = compare(path, trials=1)
    append_row(path, read_rows(path)[0])
    found = side_by_side(path)
    assert found.stability[0] == [None, None]
    assert (found.deviation == 0).all()
    assert len(rows) == 3 * 2 + 1


def test_a_file_without_a_comparison_is_refused(tmp_path):
    with pytest.raises(ValueError, match="does not say what was compared"):
        side_by_side(tmp_path / "none.jsonl")
