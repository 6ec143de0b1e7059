"""Programs of others, by scikit-learn, on the rows and folds of the product: what the papers compare with.

Grids are the printed ones where they are printed, walked from coarse to fine: every third power first, then the neighbours of
the best. With more than `SEARCHED` training rows the search sees that many of them; the fit that counts sees all.
"""
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SEARCHED = 1500
INNER = 3


class States:
    """Rows as numbers of states, by the intervals and categories of a fitted network; -1 is missing or never seen."""

    def __init__(self, states: dict[str, list], features: list[str]):
        self.features, self.states = features, [states[f] for f in features]
        self.sizes = [len(s) for s in self.states]

    def codes(self, frame) -> np.ndarray:
        columns = [self._column(frame[f].to_numpy(), known) for f, known in zip(self.features, self.states)]
        return np.column_stack(columns)

    @staticmethod
    def _column(cells, known) -> np.ndarray:
        if isinstance(known[0], float):
            there = cells != ""
            codes = np.full(len(cells), -1)
            codes[there] = np.searchsorted(np.array(known[:-1]), cells[there].astype(float), side="left")
            return codes
        place = {name: k for k, name in enumerate(known)}
        return np.array([place.get(cell, -1) for cell in cells])

    def indicators(self, codes: np.ndarray) -> np.ndarray:
        """One column for each state; a row has none where it is missing."""
        parts = [codes[:, [j]] == np.arange(size) for j, size in enumerate(self.sizes) if size > 1]
        return np.hstack(parts).astype(np.float32) if parts else np.zeros((len(codes), 1), np.float32)

    def imputed(self, codes: np.ndarray, train: np.ndarray, k: int = 5, chunk: int = 512) -> np.ndarray:
        """Missing states by the majority of the k training rows with the fewest differences in what is there; ties to the
        earlier row and the smaller state."""
        out, known = codes.copy(), self.indicators(train)
        order = np.arange(len(train)) * 1e-7
        gaps = np.flatnonzero((codes < 0).any(axis=1))
        for start in range(0, len(gaps), chunk):
            rows = gaps[start : start + chunk]
            far = order - (self.indicators(codes[rows]) @ known.T).astype(np.float64)
            near = np.argpartition(far, min(k, len(train) - 1), axis=1)[:, :k]
            for j, size in enumerate(self.sizes):
                empty = np.flatnonzero(codes[rows, j] < 0)
                votes = train[near[empty], j]
                counts = (votes[:, :, None] == np.arange(size)).sum(axis=1)
                out[rows[empty], j] = counts.argmax(axis=1)
        return out


def searched_rows(y: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows that a search sees: all, or a share of each class."""
    if len(y) <= SEARCHED:
        return np.arange(len(y))
    random = np.random.default_rng(seed)
    parts = [random.permutation(np.flatnonzero(y == c)) for c in np.unique(y)]
    return np.sort(np.concatenate([p[: max(INNER, round(len(p) * SEARCHED / len(y)))] for p in parts]))


def inner_folds(y: np.ndarray):
    """Folds inside the training rows; a class of fewer rows than folds is dealt as far as it goes."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(StratifiedKFold(INNER, shuffle=True, random_state=0).split(np.zeros(len(y)), y))


def coarse_to_fine(axes: list[range], score) -> tuple:
    """The best point of a grid of whole numbers: every third value of each axis first, then the neighbours of the best."""
    import itertools

    seen: dict[tuple, float] = {}

    def look(points):
        for point in points:
            if point not in seen:
                seen[point] = score(point)
        # ties go to the smaller powers, the smoother machine
        return max(seen, key=lambda p: (seen[p], [-x for x in p]))

    best = look(itertools.product(*(axis[::3] for axis in axes)))
    near = itertools.product(*([x for x in axis if abs(x - b) <= 1] for axis, b in zip(axes, best)))
    return look(near)


# Powers of two: trade-off as printed; the upper end of the width is lost in the paper.
TRADE_OFF, WIDTH = range(-2, 11), range(-5, 6)


def discrete_machine(kind: str, x: np.ndarray, y: np.ndarray):
    """A fitted machine on indicators (LIBSVM, one against one; or logistic regression) and what its search chose."""

    def machine(point):
        if kind == "logistic":
            return LogisticRegression(C=2.0 ** point[0], max_iter=2000)
        if kind == "svm-linear":
            return SVC(kernel="linear", C=2.0 ** point[0], cache_size=500)
        return SVC(C=2.0 ** point[0], gamma=2.0 ** point[1], cache_size=500)

    rows = searched_rows(y)
    folds = inner_folds(y[rows])

    def score(point):
        right = 0
        for train, test in folds:
            right += (machine(point).fit(x[rows][train], y[rows][train]).predict(x[rows][test]) == y[rows][test]).sum()
        return right

    axes = {"logistic": [range(-8, 11)], "svm-linear": [TRADE_OFF], "svm-rbf": [TRADE_OFF, WIDTH]}[kind]
    best = coarse_to_fine(axes, score)
    return machine(best).fit(x, y), dict(zip(("log2_c", "log2_width"), best))


def numeric_machine(kind: str, x: np.ndarray, y: np.ndarray, scoring: str = "balanced_accuracy"):
    """A fitted classifier of numbers."""
    d = x.shape[1]
    if kind.startswith("rf-"):
        return RandomForestClassifier(int(kind[3:]), random_state=0).fit(x, y)
    if kind == "svm-default":
        # cost and width of e1071, the package that the second paper uses, where nobody asks for others
        return make_pipeline(StandardScaler(), SVC(C=1, gamma=1 / d)).fit(x, y)
    if kind == "5nn":
        return make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(x, y)
    grids = {
        "svm-rbf": (SVC(cache_size=500), {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.1 / d, 1 / d, 10 / d], "svc__class_weight": [None, "balanced"]}),
        "svm-linear": (SVC(kernel="linear", max_iter=500_000), {"svc__C": 10.0 ** np.arange(-3, 3)}),
        "logistic": (LogisticRegression(max_iter=5000), {"logisticregression__C": 10.0 ** np.arange(-3, 3)}),
    }
    estimator, grid = grids[kind]
    rows = searched_rows(y)
    search = GridSearchCV(make_pipeline(StandardScaler(), estimator), grid, cv=inner_folds(y[rows]), scoring=scoring, refit=False)
    search.fit(x[rows], y[rows])
    return make_pipeline(StandardScaler(), estimator).set_params(**search.best_params_).fit(x, y)
