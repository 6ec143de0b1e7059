"""The data sets, folds and masks of the missing-feature studies.

Complete rows only, unless a study keeps the gaps of the tables; classes with fewer than 6 rows are dropped; large sets are subsampled.
Every random choice has a fixed seed, so all methods see the same rows, folds and blanked cells. A categorical feature is one cell.
"""
import csv
import gzip
import zlib

import numpy as np

DEVELOPMENT = ["digits", "wdbc", "ionosphere", "german", "car", "waveform-21", "soybean-large"]
CONFIRMATION = ["satimage", "australian", "heart", "chess", "letter", "spambase", "vote"]
FRESH = ["crx", "diabetes", "glass", "sonar", "lymphography", "breast", "cleve", "glaucoma", "flare", "mofn-3-7-10", "ozone", "ringnorm",
         "abalone", "adult", "pulsar", "shuttle"]
SETS = DEVELOPMENT + CONFIRMATION + FRESH
# Had no part in the making of the pool, nor in its first study.
NEW = ["vertebral", "parkinson", "climate-crashes", "vehicle", "segment", "nursery", "mushroom"]
# Have gaps of their own.
OWN_GAPS = ["hepatitis", "cleve", "vote", "crx", "breast", "soybean-large", "ozone", "mushroom", "adult"]
SUBSAMPLE = {name: 3000 for name in ("satimage", "waveform-21", "spambase", "ringnorm", "abalone", "adult", "pulsar", "shuttle", "nursery",
                                     "mushroom")}
SUBSAMPLE["letter"] = 4000
# Roughly by the time the methods need, least first.
CHEAP_FIRST = ["lymphography", "hepatitis", "parkinson", "vertebral", "vote", "glass", "heart", "cleve", "sonar", "glaucoma", "ionosphere",
               "climate-crashes", "wdbc", "breast", "diabetes", "australian", "crx", "flare", "mofn-3-7-10", "vehicle", "soybean-large", "german",
               "car", "segment", "pulsar", "shuttle", "abalone", "ringnorm", "nursery", "mushroom", "ozone", "waveform-21", "adult", "satimage",
               "spambase", "digits", "chess", "letter"]
RATES = [0.0, 0.3, 0.6, 0.9]
MASKS = ["0", "30", "60", "90", "block"]
SMALLEST_CLASS = 6


class Data:
    """Columns (floats, NaN where missing; or codes of `levels[j]` categories, -1 where missing), class codes."""

    def __init__(self, columns, levels, y):
        self.columns, self.levels, self.y = columns, levels, y
        self.n, self.d = len(y), len(columns)

    def rows(self, index):
        return Data([c[index] for c in self.columns], self.levels, self.y[index])

    def blanked(self, mask):
        """The same rows without the cells of the mask."""
        columns = [np.where(mask[:, j], -1 if levels else np.nan, c) for j, (c, levels) in enumerate(zip(self.columns, self.levels))]
        return Data(columns, self.levels, self.y)

    def gaps(self):
        """Mask of the missing cells."""
        return np.column_stack([c < 0 if levels else np.isnan(c) for c, levels in zip(self.columns, self.levels)])


def read_table(folder, name):
    """Header and rows of `name.csv` or `name.csv.gz`."""
    path = folder / f"{name}.csv"
    opened = open(path, newline="") if path.exists() else gzip.open(folder / f"{name}.csv.gz", "rt", newline="")
    with opened as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


def load(folder, name, subsample=True, complete=True):
    """The set, without its rows with gaps if `complete`."""
    if name == "digits":
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
        return Data([x[:, j] for j in range(x.shape[1])], [0] * x.shape[1], y)
    _, rows = read_table(folder, name)
    numeric = [all(r[j] == "" or is_number(r[j]) for r in rows) for j in range(len(rows[0]) - 1)]
    rows = [r for r in rows if not complete or all(cell != "" for cell in r)]
    if subsample and name in SUBSAMPLE and len(rows) > SUBSAMPLE[name]:
        keep = np.random.default_rng(seed(name, "subsample")).permutation(len(rows))[: SUBSAMPLE[name]]
        rows = [rows[i] for i in np.sort(keep)]
    labels = [r[-1] for r in rows]
    kept = {c for c in set(labels) if labels.count(c) >= SMALLEST_CLASS}
    rows = [r for r in rows if r[-1] in kept]
    columns, levels = [], []
    for j, is_numeric in enumerate(numeric):
        cells = [r[j] for r in rows]
        if is_numeric:
            columns.append(np.array([float(c) if c else np.nan for c in cells]))
            levels.append(0)
        else:
            names = sorted(set(cells) - {""})
            columns.append(np.array([names.index(c) if c else -1 for c in cells]))
            levels.append(len(names))
    classes = sorted(kept)
    return Data(columns, levels, np.array([classes.index(r[-1]) for r in rows]))


def seed(*parts):
    return zlib.crc32("/".join(str(p) for p in parts).encode())


def folds(data, count=5):
    """(training rows, test rows) of stratified folds."""
    from sklearn.model_selection import StratifiedKFold

    split = StratifiedKFold(count, shuffle=True, random_state=0)
    return list(split.split(np.zeros((data.n, 1)), data.y))


def missing_mask(name, fold, kind, mask_seed, n, d):
    """Which cells of the test rows are blanked: independently at a rate, or a contiguous third of the columns of each row."""
    random = np.random.default_rng(seed(name, fold, kind, mask_seed))
    if kind == "block":
        width = max(1, round(d / 3))
        start = random.integers(0, d - width + 1, size=n)
        column = np.arange(d)
        return (column >= start[:, None]) & (column < start[:, None] + width)
    return random.random((n, d)) < int(kind) / 100


def telling_mask(data, whole, name, fold, part):
    """Gaps not at random: a cell is missing with probability 0.5 if it is above the median of its column in the `whole` table (a category:
    in the upper half of the codes), else 0.1.
    """
    random = np.random.default_rng(seed(name, fold, "telling", part))
    high = [c >= levels / 2 if levels else c > np.median(all_rows) for c, all_rows, levels in zip(data.columns, whole.columns, data.levels)]
    return random.random((data.n, data.d)) < np.where(np.column_stack(high), 0.5, 0.1)


def write_csv(path, data, mask=None):
    """Categories as text, missing cells empty, class `c<code>` last."""
    cells = []
    gaps = data.gaps() if mask is None else data.gaps() | mask
    for j, (column, levels) in enumerate(zip(data.columns, data.levels)):
        text = [f"v{int(v)}" for v in column] if levels else [repr(float(v)) for v in column]
        cells.append(["" if gap else t for t, gap in zip(text, gaps[:, j])])
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"x{j}" for j in range(data.d)] + ["class"])
        writer.writerows(zip(*cells, [f"c{c}" for c in data.y]))


def main(parser, parts):
    """Runs the part of a study that the command line names; all but the table need the data."""
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    if options.part != "table" and options.data is None:
        parser.error("--data is needed")
    parts[options.part](options)
