"""The opponents of the missing-feature study: support vector machine and logistic regression with imputation, boosting trained on
blanked copies. All choices are made on the training rows.
"""
import numpy as np

NEIGHBOURS = 5
SHRINKAGE = 0.05


class Encoder:
    """Standardised numbers and one-hot categories; learnt on training rows."""

    def __init__(self, data, train):
        self.levels = data.levels
        self.scale = [None if levels else (c[train].mean(), c[train].std() or 1.0) for c, levels in zip(data.columns, data.levels)]
        self.widths = [levels or 1 for levels in data.levels]

    def encode(self, data, rows, standardised=True):
        blocks = []
        for column, levels, scale in zip(data.columns, data.levels, self.scale):
            x = column[rows]
            if levels:
                blocks.append((x[:, None] == np.arange(levels)).astype(float))
            else:
                blocks.append(((x - scale[0]) / scale[1] if standardised else x)[:, None])
        return np.hstack(blocks)

    def columns(self, mask):
        """A mask of features as a mask of columns."""
        return np.repeat(mask, self.widths, axis=1)


class NearestNeighbours:
    """Missing columns by the means of the five nearest training rows, distance on the observed columns."""

    def __init__(self, train):
        self.train, self.squares = train, train**2

    def fill(self, x, missing):
        filled = x.copy()
        for start in range(0, len(x), 256):
            block = slice(start, start + 256)
            observed = (~missing[block]).astype(float)
            known = x[block] * observed
            distance = (known**2).sum(1)[:, None] - 2 * known @ self.train.T + observed @ self.squares.T
            k = min(NEIGHBOURS, len(self.train))
            nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
            means = self.train[nearest].mean(1)
            means[observed.sum(1) == 0] = self.train.mean(0)
            filled[block] = np.where(missing[block], means, x[block])
        return filled


class GaussianMeans:
    """Missing columns by their conditional mean under one Gaussian of all training rows."""

    def __init__(self, train):
        self.mean = train.mean(0)
        covariance = np.cov(train.T, bias=True).reshape(train.shape[1], -1)
        diagonal = np.diag(np.diag(covariance))
        self.covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * diagonal + 1e-6 * np.eye(len(covariance))

    def fill(self, x, missing):
        filled = x.copy()
        for i in np.flatnonzero(missing.any(1)):
            m, o = np.flatnonzero(missing[i]), np.flatnonzero(~missing[i])
            shift = np.linalg.solve(self.covariance[np.ix_(o, o)], x[i, o] - self.mean[o]) if len(o) else np.zeros(0)
            filled[i, m] = self.mean[m] + self.covariance[np.ix_(m, o)] @ shift
        return filled


class Means:
    def __init__(self, train):
        self.mean = train.mean(0)

    def fill(self, x, missing):
        return np.where(missing, self.mean, x)


def inner_folds(y, count=3):
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(count, shuffle=True, random_state=1).split(y[:, None], y))


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


def tuned_boosting(x, y, widths, copies, least, most, random, threads=1):
    """LightGBM on the rows and blanked copies; 7 or 31 leaves and the number of rounds by inner validation."""
    import lightgbm

    classes = len(np.unique(y))
    rounds = 150 if classes >= 15 else 300
    objective = {"objective": "binary"} if classes == 2 else {"objective": "multiclass", "num_class": classes}

    def blanked(rows):
        parts, labels = [x[rows]], [y[rows]]
        for _ in range(copies):
            rate = random.uniform(least, most, size=(len(rows), 1))
            mask = np.repeat(random.random((len(rows), len(widths))) < rate, widths, axis=1)
            parts.append(np.where(mask, np.nan, x[rows]))
            labels.append(y[rows])
        return np.vstack(parts), np.concatenate(labels)

    inside, outside = inner_folds(y, 4)[0]
    train, held = blanked(inside), blanked(outside)
    best = (np.inf, None, None)
    for leaves in (7, 31):
        options = dict(objective, num_leaves=leaves, learning_rate=0.1, num_threads=threads, verbose=-1, seed=0, deterministic=True)
        d_train = lightgbm.Dataset(*train)
        model = lightgbm.train(options, d_train, rounds, valid_sets=[lightgbm.Dataset(*held, reference=d_train)],
                               callbacks=[lightgbm.early_stopping(30, verbose=False)])
        loss = next(iter(model.best_score["valid_0"].values()))
        if loss < best[0]:
            best = (loss, options, model.best_iteration)
    model = lightgbm.train(best[1], lightgbm.Dataset(*blanked(np.arange(len(y)))), best[2])
    return model, {"leaves": best[1]["num_leaves"], "rounds": best[2]}


def svm(data, train, tests):
    """{method: {mask key: predicted classes}} of the support vector machine; `tests` gives (key, test rows, mask)."""
    return with_imputation(data, train, tests, tuned_svm, {"svm-5nn": NearestNeighbours, "svm-gauss": GaussianMeans})


def logistic(data, train, tests):
    return with_imputation(data, train, tests, tuned_logistic, {"logistic-mean": Means, "logistic-gauss": GaussianMeans})


def with_imputation(data, train, tests, tune, imputers):
    encoder = Encoder(data, train)
    x = encoder.encode(data, train)
    model, chosen = tune(x, data.y[train])
    out = {}
    for name, imputer in imputers.items():
        fill = imputer(x).fill
        out[name] = {key: model.predict(fill(encoder.encode(data, rows), encoder.columns(mask))) for key, rows, mask in tests}
    return out, chosen


def boosting(data, train, tests):
    encoder = Encoder(data, train)
    x = encoder.encode(data, train, standardised=False)
    classes, y = np.unique(data.y[train], return_inverse=True)
    out, all_chosen = {}, {}
    for name, copies, least, most in (("lightgbm-20-80", 3, 0.2, 0.8), ("lightgbm-10-95", 4, 0.1, 0.95)):
        model, chosen = tuned_boosting(x, y, encoder.widths, copies, least, most, np.random.default_rng(0))
        all_chosen[name] = chosen
        out[name] = {}
        for key, rows, mask in tests:
            p = model.predict(np.where(encoder.columns(mask), np.nan, encoder.encode(data, rows, standardised=False)))
            out[name][key] = classes[(p > 0.5).astype(int) if p.ndim == 1 else p.argmax(1)]
    return out, all_chosen


GROUPS = {"svm": svm, "logistic": logistic, "lightgbm": boosting}
