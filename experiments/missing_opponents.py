"""The opponents of the missing-feature studies: machines and regressions behind an imputation, boosting, forests and a network trained on
blanked copies, generative forests. All choices are made on the training rows. Every group is a function of training rows, tests
({key: rows}) and the rates of blanked cells to be ready for; it gives {method: {key: (probabilities, other decisions or None)}} and what it chose.
"""
import itertools

import numpy as np

from generative_forest import GenerativeForest
from missing_scores import log_loss

NEIGHBOURS = 5
SHRINKAGE = 0.05
GAUSSIAN_ROUNDS = 3
# Blanked copies of the training rows: how many, and from which range the share of blanked features of each copied row is drawn.
NO_COPIES, COPIES = (0, 0.0, 0.0), (3, 0.1, 0.95)
# Up to so many rows choices are made on three inner folds, above on one quarter of the rows.
THREE_FOLDS = 600
PATIENCE = 30
# Trees of a forest, and of those that only settings are chosen with.
TREES, TREES_TO_CHOOSE = 300, 100


class Encoder:
    """Standardised numbers and one-hot categories, NaN where missing; learnt on training rows."""

    def __init__(self, data, train):
        seen = [c[train][c[train] >= 0] if levels else c[train][~np.isnan(c[train])] for c, levels in zip(data.columns, data.levels)]
        self.scale = [None if levels else (c.mean(), c.std() or 1.0) if len(c) else (0.0, 1.0) for c, levels in zip(seen, data.levels)]
        self.widths = [levels or 1 for levels in data.levels]

    def encode(self, data, rows, standardised=True):
        blocks = []
        for column, levels, scale in zip(data.columns, data.levels, self.scale):
            x = column[rows]
            if levels:
                block = (x[:, None] == np.arange(levels)).astype(float)
                block[x < 0] = np.nan
                blocks.append(block)
            else:
                blocks.append(((x - scale[0]) / scale[1] if standardised else x)[:, None])
        return np.hstack(blocks)

    def all(self, data):
        return self.encode(data, np.arange(data.n))

    def columns(self, mask):
        """A mask of features as a mask of columns."""
        return np.repeat(mask, self.widths, axis=1)


class Means:
    """Missing columns by the means of the training rows."""

    def __init__(self, train):
        known = ~np.isnan(train)
        self.mean = np.where(known, train, 0.0).sum(0) / np.maximum(known.sum(0), 1)

    def fill(self, x, missing):
        return np.where(missing, self.mean, x)


class NearestNeighbours:
    """Missing columns by the means of the five nearest training rows, mean squared distance over the columns that both have."""

    def __init__(self, train):
        self.known = (~np.isnan(train)).astype(float)
        self.train = np.nan_to_num(train)
        self.mean = Means(train).mean

    def fill(self, x, missing):
        filled = x.copy()
        for start in range(0, len(x), 256):
            block = slice(start, start + 256)
            observed = (~missing[block]).astype(float)
            known = np.where(missing[block], 0.0, x[block])
            squares = (known**2) @ self.known.T - 2 * known @ self.train.T + observed @ (self.train**2).T
            common = observed @ self.known.T
            distance = np.where(common > 0, squares / np.maximum(common, 1), np.inf)
            k = min(NEIGHBOURS, len(self.train))
            nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
            there = self.known[nearest].sum(1)
            means = np.where(there > 0, self.train[nearest].sum(1) / np.maximum(there, 1), self.mean)
            means[observed.sum(1) == 0] = self.mean
            filled[block] = np.where(missing[block], means, x[block])
        return filled


class GaussianMeans:
    """Missing columns by their conditional mean under one Gaussian of all training rows, whose own gaps are filled in the same way."""

    def __init__(self, train):
        gaps = np.isnan(train)
        filled = Means(train).fill(train, gaps)
        for _ in range(GAUSSIAN_ROUNDS if gaps.any() else 1):
            self.mean = filled.mean(0)
            covariance = np.cov(filled.T, bias=True).reshape(filled.shape[1], -1)
            diagonal = np.diag(np.diag(covariance))
            self.covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * diagonal + 1e-6 * np.eye(len(covariance))
            filled = self.fill(train, gaps)

    def fill(self, x, missing):
        filled = x.copy()
        for i in np.flatnonzero(missing.any(1)):
            m, o = np.flatnonzero(missing[i]), np.flatnonzero(~missing[i])
            shift = np.linalg.solve(self.covariance[np.ix_(o, o)], x[i, o] - self.mean[o]) if len(o) else np.zeros(0)
            filled[i, m] = self.mean[m] + self.covariance[np.ix_(m, o)] @ shift
        return filled


def inner_folds(y, count=3):
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(count, shuffle=True, random_state=1).split(y[:, None], y))


def blanked(x, widths, random, least, most):
    """A copy in which each row lacks a share of its features, drawn from [least, most]."""
    rate = random.uniform(least, most, size=(len(x), 1))
    return np.where(np.repeat(random.random((len(x), len(widths))) < rate, widths, axis=1), np.nan, x)


def with_copies(x, y, widths, copies, random):
    count, least, most = copies
    return np.vstack([x, *(blanked(x, widths, random, least, most) for _ in range(count))]), np.tile(y, count + 1)


def at_rates(x, y, widths, rates, random):
    """Rows as they will be met: one copy for each rate of blanked cells."""
    return np.vstack([blanked(x, widths, random, r, r) if r else x for r in rates]), np.tile(y, len(rates))


def tuned_svm(x, y):
    """RBF machine: C in {1, 10, 100}, gamma in {0.1, 0.3, 1, 3}/total variance, inner 3-fold accuracy."""
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.svm import SVC

    total = x.var(0).sum()
    right = {(c, gamma): 0 for c in (1.0, 10.0, 100.0) for gamma in (0.1, 0.3, 1.0, 3.0)}
    distances = euclidean_distances(x, squared=True)
    for gamma in (0.1, 0.3, 1.0, 3.0):
        kernel = np.exp(-gamma / total * distances)
        for inside, outside in inner_folds(y):
            k_in, k_out = kernel[np.ix_(inside, inside)], kernel[np.ix_(outside, inside)]
            for c in (1.0, 10.0, 100.0):
                model = SVC(C=c, kernel="precomputed", cache_size=500).fit(k_in, y[inside])
                right[c, gamma] += int((model.predict(k_out) == y[outside]).sum())
    c, gamma = max(right, key=right.get)
    return SVC(C=c, gamma=gamma / total, cache_size=500).fit(x, y), {"C": c, "gamma": gamma}


def tuned_logistic(x, y):
    """C in {0.01, 0.1, 1, 10}, inner 3-fold accuracy."""
    from sklearn.linear_model import LogisticRegression

    def fit(c, rows):
        return LogisticRegression(C=c, max_iter=300).fit(x[rows], y[rows])

    scores = [(sum((fit(c, a).predict(x[b]) == y[b]).sum() for a, b in inner_folds(y)), c) for c in (0.01, 0.1, 1.0, 10.0)]
    best = max(scores, key=lambda s: s[0])[1]
    return fit(best, np.arange(len(y))), {"C": best}


class Calibrated:
    """Probabilities from decision values f and the share r of missing columns: logistic regression on (f, r f, r), fitted on inner folds
    whose rows are blanked at the rates to be met and imputed.
    """

    def __init__(self, machine, x, y, widths, imputer, rates):
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression

        inputs, classes = [], []
        random = np.random.default_rng(0)
        for inside, outside in inner_folds(y):
            filler = imputer(x[inside])
            part = clone(machine).fit(filler.fill(x[inside], np.isnan(x[inside])), y[inside])
            held, of_held = at_rates(x[outside], y[outside], widths, rates, random)
            inputs.append(self.inputs(part, filler, held))
            classes.append(of_held)
        self.machine, self.imputer = machine, imputer(x)
        self.regression = LogisticRegression(C=10.0, max_iter=1000).fit(np.vstack(inputs), np.concatenate(classes))

    @staticmethod
    def inputs(machine, imputer, x):
        missing = np.isnan(x)
        f = machine.decision_function(imputer.fill(x, missing)).reshape(len(x), -1)
        share = missing.mean(1, keepdims=True)
        return np.hstack([f, share * f, share])

    def predict(self, x):
        return self.regression.predict_proba(self.inputs(self.machine, self.imputer, x))


def svm(train, tests, rates):
    return behind_imputation(train, tests, rates, tuned_svm, {"svm-5nn": NearestNeighbours, "svm-gauss": GaussianMeans}, calibrate=True)


def logistic(train, tests, rates):
    return behind_imputation(train, tests, rates, tuned_logistic, {"logistic-mean": Means, "logistic-gauss": GaussianMeans}, calibrate=False)


def behind_imputation(train, tests, rates, tune, imputers, calibrate):
    """The tuned model decides; the probabilities of a machine, which has none, are calibrated ones."""
    encoder = Encoder(train, np.arange(train.n))
    x, y = encoder.all(train), train.y
    gaps = np.isnan(x)
    out, all_chosen, model = {}, {}, None
    for name, imputer in imputers.items():
        fill = imputer(x).fill
        if model is None or gaps.any():
            model, chosen = tune(fill(x, gaps), y)
        all_chosen[name] = chosen
        probabilities = Calibrated(model, x, y, encoder.widths, imputer, rates).predict if calibrate else None
        out[name] = {}
        for key, rows in tests.items():
            cells = encoder.all(rows)
            filled = fill(cells, np.isnan(cells))
            out[name][key] = (probabilities(cells) if calibrate else model.predict_proba(filled), model.predict(filled))
    return out, all_chosen


def tuned_boosting(x, y, widths, copies, least, most, random, threads=1):
    """LightGBM on the rows and blanked copies; 7 or 31 leaves and the number of rounds by inner validation."""
    import lightgbm

    classes = len(np.unique(y))
    rounds = 150 if classes >= 15 else 300
    objective = {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}
    inside, outside = inner_folds(y, 4)[0]
    train = with_copies(x[inside], y[inside], widths, (copies, least, most), random)
    held = with_copies(x[outside], y[outside], widths, (copies, least, most), random)
    best = (np.inf, None, None)
    for leaves in (7, 31):
        options = dict(objective, num_leaves=leaves, learning_rate=0.1, num_threads=threads, verbose=-1, seed=0, deterministic=True)
        d_train = lightgbm.Dataset(*train)
        model = lightgbm.train(options, d_train, rounds, valid_sets=[lightgbm.Dataset(*held, reference=d_train)],
                               callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)])
        loss = next(iter(model.best_score["valid_0"].values()))
        if loss < best[0]:
            best = (loss, options, model.best_iteration)
    model = lightgbm.train(best[1], lightgbm.Dataset(*with_copies(x, y, widths, (copies, least, most), random)), best[2])
    return model, {"leaves": best[1]["num_leaves"], "rounds": best[2]}


def boosting(train, tests, rates):
    encoder = Encoder(train, np.arange(train.n))
    x = encoder.all(train)
    out, all_chosen = {}, {}
    variants = {"lightgbm-20-80": (3, 0.2, 0.8), "lightgbm-10-95": (4, 0.1, 0.95)} if max(rates) else {"lightgbm": NO_COPIES}
    for name, copies in variants.items():
        model, chosen = tuned_boosting(x, train.y, encoder.widths, *copies, np.random.default_rng(0))
        all_chosen[name], out[name] = chosen, {}
        for key, rows in tests.items():
            p = model.predict(encoder.all(rows))
            out[name][key] = (np.column_stack([1 - p, p]) if p.ndim == 1 else p, None)
    return out, all_chosen


class Forest:
    """Random forest on medians and indicators of gaps; the setting is the smallest leaf."""

    settings = (1, 3, 10)

    def __init__(self, x, y, widths, least, held=None, rounds=None):
        from sklearn.ensemble import RandomForestClassifier

        self.first = np.cumsum([0, *widths[:-1]])
        self.medians = np.nan_to_num([np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else 0.0 for c in x.T])
        trees = TREES if held is None else TREES_TO_CHOOSE
        self.model = RandomForestClassifier(trees, min_samples_leaf=least, random_state=0).fit(self.inputs(x), y)

    def inputs(self, x):
        return np.hstack([np.where(np.isnan(x), self.medians, x), np.isnan(x[:, self.first]).astype(float)])

    def predict(self, x):
        return self.model.predict_proba(self.inputs(x))


class Rectified:
    """Values (0 where missing) and mask into a layer of 64 rectified units; the setting is the ridge."""

    settings = (0.001, 0.1, 1.0)

    def __init__(self, x, y, widths, penalty, held=None, rounds=None):
        from sklearn.neural_network import MLPClassifier

        self.model = MLPClassifier((64,), alpha=penalty, max_iter=200, early_stopping=len(x) > 1000, random_state=0)
        self.model.fit(self.inputs(x), y)

    @staticmethod
    def inputs(x):
        return np.hstack([np.nan_to_num(x), np.isnan(x).astype(float)])

    def predict(self, x):
        return self.model.predict_proba(self.inputs(x))


class XGBoost:
    """XGBoost with its own way with gaps; the setting is the depth of the trees."""

    settings = (3, 6)
    most_rounds = 400

    def __init__(self, x, y, widths, depth, held=None, rounds=None):
        from xgboost import XGBClassifier

        stopping = {} if held is None else {"early_stopping_rounds": PATIENCE}
        self.model = XGBClassifier(n_estimators=rounds or self.most_rounds, max_depth=depth, learning_rate=0.1, n_jobs=1, random_state=0, **stopping)
        self.model.fit(x, y, **({} if held is None else {"eval_set": [held], "verbose": False}))
        self.rounds = None if held is None else self.model.best_iteration + 1

    def predict(self, x):
        return self.model.predict_proba(x)


class CatBoost:
    """CatBoost with its own ways with gaps and categories; the setting is the depth of the trees."""

    settings = (4, 6)
    most_rounds = 400

    def __init__(self, x, y, widths, depth, held=None, rounds=None):
        from catboost import CatBoostClassifier

        self.widths = widths
        categories = [j for j, width in enumerate(widths) if width > 1]
        self.model = CatBoostClassifier(iterations=rounds or self.most_rounds, depth=depth, learning_rate=0.1, thread_count=1, random_seed=0,
                                        cat_features=categories, verbose=False, allow_writing_files=False)
        stopping = {} if held is None else {"eval_set": (self.inputs(held[0]), held[1]), "early_stopping_rounds": PATIENCE}
        self.model.fit(self.inputs(x), y, **stopping)
        self.rounds = None if held is None else self.model.get_best_iteration() + 1

    def inputs(self, x):
        import pandas

        parts = np.split(x, np.cumsum(self.widths)[:-1], axis=1)
        columns = [np.where(np.isnan(p[:, 0]), -1, p.argmax(1)) if p.shape[1] > 1 else p[:, 0] for p in parts]
        return pandas.DataFrame(dict(enumerate(columns)))

    def predict(self, x):
        return self.model.predict_proba(self.inputs(x))


class Generative:
    """Generative forest; the setting is the smallest leaf, and whether the trees' posteriors or their joint densities are mixed."""

    settings = tuple(itertools.product((1, 5, 20), ("joint", "mean")))

    def __init__(self, x, y, widths, setting, held=None, rounds=None):
        least, self.kind = setting
        self.model = GenerativeForest(widths, least, trees=100 if held is None else 30).fit(x, y)

    def predict(self, x):
        return self.model.predict(x)[self.kind]


def tuned(make, copies, x, y, widths, rates):
    """Setting, blanked copies or none, and rounds by log-loss at the rates to be met; then the model of all rows."""
    folds = inner_folds(y) if len(y) <= THREE_FOLDS else inner_folds(y, 4)[:1]
    tried = []
    for setting, drawn in itertools.product(make.settings, copies):
        losses, rounds = [], []
        for inside, outside in folds:
            random = np.random.default_rng(0)
            held = at_rates(x[outside], y[outside], widths, rates, random)
            model = make(*with_copies(x[inside], y[inside], widths, drawn, random), widths, setting, held)
            losses.append(log_loss(model.predict(held[0]), held[1]))
            rounds.append(getattr(model, "rounds", None))
        tried.append((np.mean(losses), setting, drawn, None if rounds[0] is None else round(np.mean(rounds))))
    _, setting, drawn, rounds = min(tried, key=lambda t: t[0])
    model = make(*with_copies(x, y, widths, drawn, np.random.default_rng(0)), widths, setting, rounds=rounds)
    return model, {"setting": setting, "copies": drawn[0], "rounds": rounds}


def learner(name, make, copies):
    """A group of one method."""

    def run(train, tests, rates):
        encoder = Encoder(train, np.arange(train.n))
        model, chosen = tuned(make, copies, encoder.all(train), train.y, encoder.widths, rates)
        return {name: {key: (model.predict(encoder.all(rows)), None) for key, rows in tests.items()}}, {name: chosen}

    return run


BOTH = (NO_COPIES, COPIES)
GROUPS = {
    "svm": svm,
    "logistic": logistic,
    "lightgbm": boosting,
    "forest": learner("forest", Forest, BOTH),
    "rectified": learner("rectified", Rectified, (COPIES,)),
    "xgboost": learner("xgboost", XGBoost, BOTH),
    "catboost": learner("catboost", CatBoost, BOTH),
    "generative": learner("generative", Generative, (NO_COPIES,)),
}
