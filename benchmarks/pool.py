#!/usr/bin/env python3
"""Fit the pool, and predict rows with 60 % of the cells missing, beside a tuned RBF machine with 5-NN imputation, LightGBM on blanked copies and CatBoost.

    python3 benchmarks/pool.py --data FOLDER [--threads 2] [--sets digits,waveform-21]

FOLDER holds the sets as NAME.csv(.gz); digits come from scikit-learn. Fit is on all rows with every choice included (the peers tune as in
experiments/missing_opponents.py); prediction is timed on 5000 rows drawn from the same table, so the accuracies are no test accuracies. Processor seconds are those of all
threads together: on a busy machine they say more than the clock.
"""
import argparse
import pathlib
import sys
import tempfile

import common

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--data", type=pathlib.Path, required=True)
PARSER.add_argument("--threads", type=int, default=2)
PARSER.add_argument("--sets", default="digits,waveform-21")
ARGS = PARSER.parse_args()
common.limit_threads(ARGS.threads)
sys.path.insert(0, str(common.ROOT / "experiments"))

import numpy as np  # noqa: E402  (threads are limited first)

import missing_data as md  # noqa: E402
import missing_opponents as peers  # noqa: E402

ROWS = 5000


def machine(data, rows, mask):
    everything = np.arange(data.n)
    encoder = peers.Encoder(data, everything)
    x = encoder.encode(data, everything)
    fit, (model, _) = common.best_of(1, lambda: peers.tuned_svm(x, data.y), common.both_clocks)
    fill = peers.NearestNeighbours(x).fill
    predict, guess = common.best_of(3, lambda: model.predict(fill(encoder.encode(data, rows), encoder.columns(mask))), common.both_clocks)
    return fit, predict, guess


def boosting(data, rows, mask):
    everything = np.arange(data.n)
    encoder = peers.Encoder(data, everything)
    x = encoder.encode(data, everything, standardised=False)
    fit, (model, _) = common.best_of(1, lambda: peers.tuned_boosting(x, data.y, encoder.widths, 3, 0.2, 0.8, np.random.default_rng(0), ARGS.threads), common.both_clocks)
    blanked = np.where(encoder.columns(mask), np.nan, encoder.encode(data, rows, standardised=False))
    predict, p = common.best_of(3, lambda: model.predict(blanked, num_threads=ARGS.threads), common.both_clocks)
    return fit, predict, p.argmax(1)


def catboost(data, rows, mask):
    """CatBoost chooses depth, rounds and whether to learn from blanked copies; it works on one thread."""
    everything = np.arange(data.n)
    encoder = peers.Encoder(data, everything)
    x = encoder.encode(data, everything)
    fit, (model, _) = common.best_of(1, lambda: peers.tuned(peers.CatBoost, peers.BOTH, x, data.y, encoder.widths, (0.0, 0.3, 0.6, 0.9)), common.both_clocks)
    blanked = np.where(encoder.columns(mask), np.nan, encoder.encode(data, rows))
    predict, p = common.best_of(3, lambda: model.predict(blanked), common.both_clocks)
    return fit, predict, p.argmax(1)


def main():
    print("| set | program | fit s | processor s | predict us/row | processor us/row | times the product's | accuracy |\n|---|---|---:|---:|---:|---:|---:|---:|")
    for name in ARGS.sets.split(","):
        data = md.load(ARGS.data, name, subsample=False)
        rows = np.random.default_rng(1).integers(0, data.n, ROWS)
        mask = md.missing_mask(name, "speed", "60", 0, ROWS, data.d)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            md.write_csv(folder / "train.csv", data)
            md.write_csv(folder / "test.csv", data.rows(rows), mask)
            results = [(f"hingenet {r['model']}", r["fit"], r["predict"], r["accuracy"]) for r in common.product("pool", folder, ARGS.threads)]
        for program, peer in (("RBF SVM + 5-NN", machine), ("LightGBM, blanked copies", boosting), ("CatBoost", catboost)):
            fit, predict, guess = peer(data, rows, mask)
            results.append((program, fit, predict / ROWS, float((guess == data.y[rows]).mean())))
        for program, fit, predict, accuracy in results:
            cells = [f"{fit[0]:.2f}", f"{fit[1]:.2f}", f"{1e6 * predict[0]:.1f}", f"{1e6 * predict[1]:.1f}", f"{predict[1] / results[0][2][1]:.1f}"]
            print(f"| {name} | {program} | {' | '.join(cells)} | {accuracy:.4f} |", flush=True)


if __name__ == "__main__":
    main()
