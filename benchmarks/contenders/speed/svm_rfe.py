"""SVM-RFE: scikit-learn's RFE of a LinearSVC down to 100 features, a tenth of all in each step."""

from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

TASK = "100 features"
NAME = "SVM-RFE"
REQUIREMENTS = ()


def prepare(X, y):
    svm = LinearSVC(random_state=0)
    return lambda: RFE(svm, n_features_to_select=min(100, X.shape[1]), step=0.1).fit(X, y)


def describe(selector):
    return {"features": int(selector.n_features_)}
