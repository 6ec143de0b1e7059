"""What the evaluation report costs beyond the evaluation itself: five models on 5000 rows, processor time of the
program with and without --report (the rest of the command being the same), and the size of the page.

    python3 benchmarks/report_time.py target/release/hingenet
"""

import os
import resource
import subprocess
import sys
import tempfile

MODELS = ["majority", "nb:ml", "tan:ml", "kdb2:ml", "aode:ml"]
RATES = "0.1,0.3,0.5,0.7,0.9"
REPEATS = 5


def processor_seconds(command: list[str]) -> float:
    """User and system time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        data, page = os.path.join(folder, "data.csv"), os.path.join(folder, "report.html")
        for rows in (1000, 5000):
            subprocess.run([program, "--quiet", "generate", "waveform", "-n", str(rows), "-o", data], check=True)
            command = [program, "--quiet", "evaluate", data, "--target", "class", "--missing", RATES]
            command += [part for model in MODELS for part in ("--model", model)]
            plain = min(processor_seconds(command) for _ in range(REPEATS))
            reported = min(processor_seconds([*command, "--report", page]) for _ in range(REPEATS))
            size = os.path.getsize(page)
            print(f"{rows} rows, {len(MODELS)} models: evaluation {plain:.2f} s, with report {reported:.2f} s, ", end="")
            print(f"the report costs {reported - plain:.2f} s; the page has {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
