import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from dsofs import DSOSelectorCV
from dsofs.report import plot_accuracy, plot_path, plot_stability
from tests.problems import random_data
from tests.report.examples import ordinary

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("plot", [plot_accuracy, plot_stability])
def test_curves_of_findings(plot):
    display = plot(ordinary())
    curve = display.curve
    assert display.line_.get_xdata().tolist() == curve.ks
    values = curve.mean if plot is plot_accuracy else curve.index
    assert np.array_equal(display.line_.get_ydata(), np.array(values, dtype=float), equal_nan=True)
    display.figure_.canvas.draw()


def test_given_axes_are_used_again():
    figure, axes = plt.subplots(1, 2)
    assert plot_accuracy(ordinary(), ax=axes[1]).ax_ is axes[1]
    assert plot_accuracy(ordinary(), ax=axes[0]).plot(axes[1]).ax_ is axes[1]
    assert len(plt.get_fignums()) == 1
    assert plot_stability(ordinary()).figure_ is not figure


def test_the_path_of_a_search():
    X, y = random_data(0, 40, 30, 2)
    search = DSOSelectorCV(ps=(0.5, 1.0), ks=(2, 4, 8), cv=3).fit(X, y)
    display = plot_path(search)
    assert len(display.lines_) == 3
    drawn = sorted(float(score) for line in display.lines_ for score in line[0].get_ydata())
    assert drawn == sorted(search.cv_results_["mean_test_score"])
    assert {text.get_text() for text in display.ax_.texts} == {str(point["n_rows"]) for point in search.path_}
    display.figure_.canvas.draw()
    with pytest.raises(NotFittedError):
        plot_path(DSOSelectorCV())
