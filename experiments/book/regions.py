"""The fourth experiment of Zhou et al. (2015) on a public table: networks of brain regions in two groups of people.

The paper's images are not public. In their place: cortical thickness of 68 regions (Desikan-Killiany) of 1031 people, 473 of them with
autism, without what age, sex and site of the scanner explain. As in the paper one network a class by OR-SGBN with arcs below 0.01
left out, blocks of lobes, degrees, and the weights that KL-SGBN and MM-SGBN move.
"""
import json
import pathlib
import tempfile

import numpy as np
import pandas

import program
from pieces import Context
from tables import find

TABLE, ENDING = "autism-anatomy", "_thickness"
LOBES = {
    "frontal": [
        "superiorfrontal", "rostralmiddlefrontal", "caudalmiddlefrontal", "parsopercularis", "parstriangularis", "parsorbitalis",
        "lateralorbitofrontal", "medialorbitofrontal", "precentral", "paracentral", "frontalpole",
    ],
    "parietal": ["superiorparietal", "inferiorparietal", "supramarginal", "postcentral", "precuneus"],
    "temporal": [
        "superiortemporal", "middletemporal", "inferiortemporal", "bankssts", "fusiform", "transversetemporal", "entorhinal",
        "temporalpole", "parahippocampal",
    ],
    "occipital": ["lateraloccipital", "lingual", "cuneus", "pericalcarine"],
    "cingulate and insula": ["rostralanteriorcingulate", "caudalanteriorcingulate", "posteriorcingulate", "isthmuscingulate", "insula"],
}  # fmt: skip
# Options of the discriminative step, as in the third experiment.
MOVED = {"kl": "k=100,c=1", "mm": "k=100,nu=0.3"}
SHUFFLES = 50


def lobe(region: str) -> str:
    return next(name for name, regions in LOBES.items() if region.split("_", 1)[1] in regions)


def rows(context: Context) -> pandas.DataFrame:
    """What age (and its square), sex and site leave of the thickness of each region."""
    frame = pandas.read_csv(find(context.data, TABLE))
    regions = [c for c in frame if c.endswith(ENDING) and "meanthickness" not in c]
    known = pandas.get_dummies(frame[["site", "sex"]], dtype=float).assign(age=frame["age"], square=frame["age"] ** 2).to_numpy()
    values = frame[regions].to_numpy()
    left = values - known @ np.linalg.lstsq(known, values, rcond=None)[0]
    names = [region.removesuffix(ENDING) for region in regions]
    return pandas.DataFrame(left.round(6), columns=names).assign(**{"class": frame["class"]})


def fourth(context: Context) -> dict:
    """Networks of both classes, what differs by more than chance, what KL and MM moved; arcs by the positions of their ends."""
    frame = rows(context)
    names = list(frame.columns[:-1])
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        frame.to_csv(folder / "rows.csv", index=False)
        pandas.DataFrame({"node": names, "group": [lobe(n) for n in names]}).to_csv(folder / "nodes.csv", index=False)
        command = ["network", "rows.csv", "--target", "class", "--method", "or", "--nodes", "nodes.csv", "--shuffles", SHUFFLES, "-o", "-"]
        report = json.loads(program.call(context, *command, folder=folder))
        penalties = [network["lambda1"] for network in report["networks"]]
        moved = {}
        for rule, options in MOVED.items():
            model = f"sgbn:{rule},lambda1={min(penalties)},{options}"
            program.call(context, "fit", "rows.csv", "--target", "class", "--model", model, "-o", "model.hgn", folder=folder)
            found = json.loads(program.call(context, "inspect", "model.hgn", "--format", "json", folder=folder))
            keys = ("class", "tail", "head", "before", "after")
            moved[rule] = [[round(w[k], 5) if isinstance(w[k], float) else w[k] for k in keys] for w in found.get("moved", [])]
    return {
        "nodes": [[node["name"], node["group"]] for node in report["nodes"]],
        "groups": report["groups"],
        "networks": [
            {
                "class": network["class"], "rows": network["rows"], "lambda1": network["lambda1"],
                "arcs": [[a["tail"], a["head"], round(a["weight"], 4), a["is_compelled"]] for a in network["arcs"]],
            }
            for network in report["networks"]
        ],
        "differences": [[d["tail"], d["head"], round(d["weight_first"], 4), round(d["weight_second"], 4), round(d["z"], 2), d["support"]] for d in report["differences"]],
        "expected_false": report["expected_false"],
        "shuffled": [round(report["comparisons"][0]["chance"][kind], 1) for kind in ("gained", "lost")],
        "moved": moved,
    }  # fmt: skip


def report(found: dict, rule: str | None = None) -> dict:
    """The networks as `hingenet network` writes them, for `hingenet chart`; with what a rule moved."""
    names = [name for name, _ in found["nodes"]]
    networks = []
    for network in found["networks"]:
        arcs = [
            {"from": names[i], "to": names[j], "tail": i, "head": j, "weight": w, "is_compelled": sure, "confidence": None}
            for i, j, w, sure in network["arcs"]
        ]
        empty = {"blocks": None, "bias": [], "variance": [], "score": None, "lambda1": network["lambda1"], "log_likelihood": None}
        more = {"degrees": degrees(found, network), "converged": None, "thresholds": [], "errors": None}
        networks.append({"class": network["class"], "rows": network["rows"], "arcs": arcs, **empty, **more})
    moved = [
        {"class": c, "from": None if i is None else names[i], "to": names[j], "tail": i, "head": j, "before": before, "after": after}
        for c, i, j, before, after in found["moved"].get(rule, [])
    ]
    return {
        "source": TABLE, "target": "class", "method": "OR-SGBN", "cutoff": 0.01,
        "nodes": [{"name": name, "group": group, "tier": None, "place": None} for name, group in found["nodes"]],
        "groups": found["groups"], "networks": networks, "differences": [], "expected_false": None, "comparisons": [], "moved": moved,
        "facts": [], "warnings": [],
    }  # fmt: skip


def degrees(found: dict, network: dict) -> list[tuple[int, int]]:
    """Parents and children of each region."""
    heads, tails = [a[1] for a in network["arcs"]], [a[0] for a in network["arcs"]]
    return [(heads.count(k), tails.count(k)) for k in range(len(found["nodes"]))]


def blocks(found: dict, network: dict) -> dict[tuple[int, int], int]:
    """Arcs between lobes, direction left out."""
    group = [g for _, g in found["nodes"]]
    counted: dict[tuple[int, int], int] = {}
    for i, j, *_ in network["arcs"]:
        pair = tuple(sorted((group[i], group[j])))
        counted[pair] = counted.get(pair, 0) + 1
    return counted


def changes(found: dict) -> dict[str, int]:
    """Arcs of the second class against those of the first, both learnt apart."""
    first, second = ({(i, j) for i, j, *_ in network["arcs"]} for network in found["networks"])
    turned = {(j, i) for i, j in first}
    return {"kept": len(first & second), "reversed": len(turned & second), "gained": len(second - first - turned), "lost": len(first - second - {(j, i) for i, j in second})}
