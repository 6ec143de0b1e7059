"""Writes the inputs from which fuzzing starts into `seeds/`: python make-seeds.py PROGRAM, with pyarrow 26 installed.

Models of every kind on a table of 20 rows, the networks of some as BIF, XMLBIF and JSON, and small tables of every format.
Other inputs there, those that broke something once, are left as they are.
"""

import io
import json
import pathlib
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

SEEDS = pathlib.Path(__file__).parent / "seeds"
ROWS = [
    (0.9 + 0.1 * (7 * k % 10) + k % 2, None if k == 5 else 2.5 - 0.2 * (3 * k % 10) - k % 2, ("red", "green")[k * 7 // 4 % 2], "ab"[k % 2])
    for k in range(20)
]
MODELS = """majority nb:ml nb:mcl tan:ml tan:mm kdb2:bn-svm kdb3:ml-bn-svm,lambda=1,gamma=1 dag:ml,edges=length->width aode:ml
aode:ml-bn-svm,lambda=1,gamma=1 slb,bandwidth=normal lu slb-all,bandwidth=normal kde-nb kde-tan,bandwidth=normal kde-forest
sgbn:or sgbn:mm fisher:or,lambda1=1 fisher:h pool,fast=true pool,fast=true,a=nb:ml,g=kde-nb+bandwidth=normal,mask=block""".split()
# parts of a file that only some options give: statistics, which want complete rows, and where discriminative learning began
COMPLETE = {
    "statistics_nb": ("nb:ml", "--keep-statistics"),
    "statistics_tan": ("tan:ml", "--keep-statistics"),
    "statistics_aode": ("aode:ml", "--keep-statistics"),
    "statistics_sgbn": ("sgbn:or,lambda1=1", "--keep-statistics"),
    "sets_sgbn": ("sgbn:or,lambda1=1", "--calibrate-sets=0.5"),
    "started_kl": ("sgbn:kl,lambda1=1",),
    "started_mm": ("sgbn:mm,lambda1=1",),
    "pool_without_rows": ("pool,fast=true,rows=none",),
}


def keep(target, name, content):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def models(program, folder):
    cell = lambda x: "" if x is None else f"{x:.1f}" if isinstance(x, float) else x
    table, complete, path = (folder / name for name in ("rows.csv", "complete.csv", "m.hgn"))
    for file, rows in ((table, ROWS), (complete, [row for row in ROWS if None not in row])):
        lines = ["length,width,colour,kind"] + [",".join(map(cell, row)) for row in rows]
        file.write_text("\n".join(lines) + "\n")
    keep("csv", "rows", table.read_bytes())
    run = lambda *words: subprocess.run([program, *words, "--quiet"], check=True, capture_output=True).stdout
    for name, (model, *options) in COMPLETE.items():
        run("fit", complete, "--target", "kind", "--model", model, "-o", path, *options)
        keep("model_file", name, path.read_bytes())
    for model in MODELS:
        name = "".join(c if c.isalnum() else "_" for c in model)
        sets = ["--calibrate-sets=0.5"] if model == "nb:ml" else []
        run("fit", table, "--target", "kind", "--model", model, "-o", path, *sets)
        keep("model_file", name, path.read_bytes())
        keep("model_name", name, model)
        if model in ("nb:ml", "tan:ml", "kdb3:ml-bn-svm,lambda=1,gamma=1"):
            keep("bif", name, run("inspect", path, "--format", "bif"))
            keep("xmlbif", name, run("inspect", path, "--format", "xmlbif"))


def texts():
    for model in ("tan:ml-bn-svm,lambda=4,gamma=5,root=min-params", "dag:ml,edges=a%2Cb->c;d->e", "pool,a=tan:ml+alpha=2"):
        keep("model_name", "".join(c if c.isalnum() else "_" for c in model), model)
    keep("bif", "default", "network n { }\nvariable A { type discrete [ 2 ] { yes, no }; }\n"
         "variable B { type discrete [ 2 ] { a, b }; property name = B%20b; }\nprobability ( A ) { table 0.5, 0.5; }\n"
         "probability ( B | A ) { default 0.25, 0.75; (no) 1, 0; }\n")
    keep("bif", "table", "// comment\nnetwork \"n\" { property a = b; }\nvariable A { type discrete [ 2 ] { yes, no }; }\n"
         "variable B { type discrete [ 1 ] { a }; }\nprobability ( A | B ) { table 0.5, 0.5; /* end */ }\nprobability ( B ) { table 1; }\n")
    keep("xmlbif", "entities", '<?xml version="1.0"?><!DOCTYPE BIF [<!ENTITY a "x">]><BIF VERSION="0.3"><NETWORK><NAME>&a;</NAME>'
         '<VARIABLE TYPE="nature"><NAME>A</NAME><OUTCOME>\\u{1}</OUTCOME><VALUE>no</VALUE></VARIABLE>'
         "<PROBABILITY><FOR>A</FOR><TABLE>0.5 <!-- c --> 0.5</TABLE></PROBABILITY></NETWORK></BIF>")
    parents = [f"x{i}" for i in range(12)]
    states = "".join(f"<OUTCOME>{state}</OUTCOME>" for state in "abcd")
    table = lambda name, given: f"<DEFINITION><FOR>{name}</FOR>{given}<TABLE>.25 .25 .25 .25</TABLE></DEFINITION>"
    keep("xmlbif", "table_not_there", "<NETWORK>" + "".join(f"<VARIABLE><NAME>{x}</NAME>{states}</VARIABLE>" for x in ["y", *parents])
         + "".join(table(x, "") for x in parents) + table("y", "".join(f"<GIVEN>{x}</GIVEN>" for x in parents)) + "</NETWORK>")
    keep("bif", "state_twice", "variable A { type discrete [ 2 ] { a, b }; property state0 = b; }\nprobability ( A ) { table 0.5, 0.5; }\n")
    node = lambda name, is_class: {"name": name, "is_class": is_class, "note": "2 states"}
    picture = {"title": "t", "nodes": [node("kind", True), node("<a>", False), node("b", False)], "strength": "nats", "is_directed": True,
               "arcs": [{"from": 0, "to": 1, "strength": 0.0}, {"from": 1, "to": 2, "strength": -0.5}]}
    keep("network_json", "directed", json.dumps(picture))
    keep("network_json", "ring", json.dumps(picture | {"is_directed": False, "strength": None}))
    keep("network_json", "arc_to_nowhere", json.dumps(picture | {"arcs": [{"from": 0, "to": 3, "strength": 1.0}]}))
    keep("network_json", "not_xml", json.dumps(picture | {"title": "a\uffff\x01b"}))
    known = [{"column": 0, "states": [1, 0]}, {"column": 1, "states": [0, 1, 0.5]}, {"column": 2, "value": -1.5}, {"column": 3, "states": [1, 0.25]}]
    keep("explore_request", "nothing", '{"beliefs":{"known":[],"about":1}}')
    keep("explore_request", "sets", json.dumps({"classes": {"sets": [[], known[3:], known[:1] + known[3:]]}}))
    keep("explore_request", "class", json.dumps({"beliefs": {"known": [{"column": 0, "states": [1, 0]}]}}))
    keep("explore_request", "number", json.dumps({"beliefs": {"known": [{"column": 1, "value": 1e300}, *known[3:]], "about": 2}}))
    for states in (1, 2, 3):
        known[1]["states"] = [0.5] * states
        keep("explore_request", f"states_{states}", json.dumps({"beliefs": {"known": known[1:2], "about": 0}}))
    keep("csv", "quotes", '"a ""b""";c;\n1,5; x ;?\n-2,5e3;"NA\nz";\n\n0x1;é;1\n')
    keep("csv", "tabs", "\ufeffa\tb\r\n1\tyes\r\n9007199254740993\tno\r\nNaN\t\r\n")
    keep("csv", "one", "x\n-0\n1e-7\n+.5\n1e16\n")
    keep("arff", "dense", "% c\n@RELATION 'r s'\n@attribute x numeric\n@attribute 'y \\' z' {a, 'b c', \"d\"}\n@attribute t string\n"
         "@attribute i integer\n@data\n1.5,'b c',hello,3\n?,a,'x, y',-2\n")
    keep("arff", "sparse", "@relation r\n@attribute x real\n@attribute y {no,yes}\n@attribute d date yyyy\n@data\n{0 1.5, 1 yes}\n{}\n{1 ?}\n")


def columns():
    typed = {
        "i": pa.array([1, None, 2**53 + 1], pa.int64()),
        "x": pa.array([0.5, float("nan"), -2.0], pa.float64()),
        "b": pa.array([True, None, False]),
        "s": pa.array(["b", None, "a"]),
        "t": pa.array(["v", None, "u"]).dictionary_encode(),
    }
    return pa.table(typed)


def tables():
    small, pair = columns(), pa.table({"x": pa.array([0.5, None], pa.float32()), "s": ["b", "a"]})
    for name, table, options in [
        ("snappy", small, {}),
        ("zstd", small, {"use_dictionary": False, "data_page_version": "2.0", "compression": "zstd"}),
        ("gzip", pair, {"compression": "gzip", "store_schema": False, "row_group_size": 1}),
        ("plain", pair, {"compression": "none", "use_dictionary": False, "write_statistics": False, "store_schema": False}),
        ("delta", pa.table({"i": [1, 5, 2], "s": ["ab", "ac", "b"]}), {
            "use_dictionary": False, "store_schema": False, "compression": "none",
            "column_encoding": {"i": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY"}}),
        ("split", pa.table({"f": pa.array([1.0, 2.0], pa.float32()), "s": ["ab", "c"]}), {
            "use_dictionary": False, "store_schema": False, "compression": "none",
            "column_encoding": {"f": "BYTE_STREAM_SPLIT", "s": "DELTA_LENGTH_BYTE_ARRAY"}}),
        ("decimal", pa.table({"d": pa.array([1, None, -3]).cast(pa.decimal128(30, 2))}), {"store_schema": False}),
    ]:
        out = io.BytesIO()
        pq.write_table(table, out, **options)
        keep("parquet", name, out.getvalue())
    for name, compression in [("arrow", "uncompressed"), ("arrow_lz4", "lz4"), ("arrow_zstd", "zstd")]:
        out = io.BytesIO()
        feather.write_feather(small if name == "arrow" else pair, out, compression=compression)
        keep("parquet", name, out.getvalue())
    out = io.BytesIO()
    with pa.ipc.new_stream(out, pair.schema) as writer:
        writer.write_table(pair)
    keep("parquet", "arrow_stream", out.getvalue())


with tempfile.TemporaryDirectory() as folder:
    models(sys.argv[1], pathlib.Path(folder))
texts()
tables()
