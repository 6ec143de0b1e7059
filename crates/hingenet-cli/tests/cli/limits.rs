//! What would need more memory than there is, or than is allowed, ends with an error that says so.

use crate::support::{Folder, Run};
use insta::assert_snapshot;
use std::io::Write;
#[cfg(target_os = "linux")]
use std::process::Stdio;

/// Rows of a text that differs in every row, two numbers and a class.
fn with_ids(n: usize) -> String {
    let row = |m: usize| format!("id{m},{},{},{}\n", m % 7, (m * m) % 10_007, ["a", "b"][m % 7 / 4]);
    std::iter::once("id,x,z,y\n".to_string()).chain((0..n).map(row)).collect()
}

#[test]
fn an_identifier_does_not_fill_the_memory_of_the_pool() {
    let folder = Folder::with(&[("ids.csv", &with_ids(3200))]);
    let run = folder.run("fit ids.csv --target y --model pool,fast=true -o m.hgn --max-memory 200M");
    assert_eq!(run.code, Some(0), "{}", run.show());
    assert!(run.stderr.contains("column `id` has 3200 categories"), "{}", run.stderr);
    folder.succeeds("predict m.hgn ids.csv -o p.csv");
    // x tells the class: the identifier did not drown it
    let (found, rows) = (folder.text("p.csv"), with_ids(3200));
    let cell = |line: &str, k: usize| line.split(',').nth(k).map(String::from);
    let pairs = found.lines().zip(rows.lines()).skip(1);
    let right = pairs.filter(|(answer, row)| cell(answer, 1) == cell(row, 3));
    assert!(right.count() > 3000);
}

#[test]
fn steps_beyond_the_memory_allowed_are_refused_with_the_remedy() {
    let folder = Folder::with(&[("rows.csv", &with_ids(600)), ("ids.csv", &with_ids(20_000))]);
    let fit = |data: &str, model: &str, memory: &str| {
        folder.fails(&format!("fit {data} --target y --model {model} -o m.hgn {memory}"), 3)
    };
    assert_snapshot!("kernels", fit("rows.csv", "fisher:or", "--ignore id --max-memory 1M"));
    assert_snapshot!("pool", fit("rows.csv", "pool", "--max-memory 1M"));
    assert_snapshot!("table", fit("ids.csv", "nb:ml", "--max-memory 10k"));
    assert_snapshot!("nodes", fit("ids.csv", "sgbn:or", ""));
    let columns: Vec<String> = (0..300).map(|j| format!("c{j}")).collect();
    let row = |m: usize| {
        (0..300).map(|j| format!("s{},", (m * m * (j + 3) + m * j * j + j) % 307 % 4)).collect::<String>()
    };
    let rows: String = (0..40).map(|m| format!("{}{}\n", row(m), ["a", "b"][m % 2])).collect();
    folder.write("wide.csv", format!("{},y\n{rows}", columns.join(",")).as_bytes());
    assert_snapshot!("averages", fit("wide.csv", "aode:ml-bn-svm", "--max-memory 100M"));
    assert_snapshot!("pairs", fit("wide.csv", "tan:ml", "--max-memory 4M"));
    assert_snapshot!("parameters", fit("wide.csv", "kdb3:ml", "--max-memory 6M"));
    assert_snapshot!("no_size", folder.fails("fit rows.csv --target y -o m.hgn --max-memory much", 2));
}

/// Whichever reservation is the first that is refused, the old model stays and nothing else is left behind.
#[test]
fn a_fit_refused_at_any_amount_of_memory_leaves_the_old_model() {
    let folder = Folder::with(&[("rows.csv", &with_ids(200))]);
    folder.succeeds("fit rows.csv --target y --model majority -o m.hgn");
    let (old, names) = (folder.read("m.hgn"), folder.names());
    for model in
        ["nb:ml", "tan:mm", "aode:ml-bn-svm", "kde-nb", "slb", "fisher:or", "sgbn:or", "pool,fast=true"]
    {
        let refused = (9..40).take_while(|power| {
            let memory = 1_u64 << power;
            let run = folder.run(&format!(
                "fit rows.csv --target y --ignore id --model {model} -o m.hgn --max-memory {memory}"
            ));
            if run.code == Some(0) {
                return false;
            }
            assert!(run.code == Some(3) && run.stderr.contains("of memory"), "{model}: {}", run.show());
            assert!(folder.read("m.hgn") == old && folder.names() == names, "{model} with {memory} bytes");
            true
        });
        let refused = refused.count();
        assert!((1..30).contains(&refused), "{model}: refused {refused} times");
        folder.write("m.hgn", &old);
    }
}

/// Few digits in a file are eight bytes in memory, and a table of few rows may be wide.
#[test]
fn numbers_count_as_what_they_become() {
    let row =
        |m: usize| (0..40).map(|j| format!("{},", (m * j) % 10)).collect::<String>() + ["a", "b"][m % 2];
    let header = (0..40).map(|j| format!("x{j},")).collect::<String>() + "y";
    let text = std::iter::once(header).chain((0..3000).map(row)).collect::<Vec<_>>().join("\n");
    let folder = Folder::with(&[("digits.csv", &text)]);
    folder.succeeds("fit digits.csv --target y --model nb:ml -o whole.hgn");
    let run = folder.run("fit digits.csv --target y --model nb:ml -o m.hgn -v --max-memory 2M");
    assert!(run.code == Some(0) && run.stderr.contains("would take too much memory"), "{}", run.show());
    assert!(folder.read("m.hgn") == folder.read("whole.hgn"));
    let refused = folder.fails("loglik m.hgn digits.csv --max-memory 900k", 3);
    assert!(
        refused.contains("the table needs 966.1 kB of memory, more than the 900.0 kB allowed"),
        "{refused}"
    );
}

/// A table that does not fit is read in pieces, from one file or many, and gives the model it gives in memory.
#[test]
fn a_table_larger_than_the_memory_is_fitted_in_pieces() {
    // a column that looks like numbers until a text comes late, a class that comes late, gaps
    let row = |m: usize| {
        let code = if m == 5_900 { "none".to_string() } else { format!("{}", m * m % 13) };
        let gap = if m % 11 == 3 { String::new() } else { (m * 7 % 101).to_string() };
        let class = ["a", "b", "c"][if m > 4_000 { m * m % 3 } else { m * m % 13 % 2 }];
        let cells = (0..30).map(|j| format!("{},", m * (j + 3) % 17 % 5)).collect::<String>();
        format!("{code},{gap},{cells}{class}\n")
    };
    let header = format!("code,gap,{}y\n", (0..30).map(|j| format!("x{j},")).collect::<String>());
    let lines = |rows: std::ops::Range<usize>| header.clone() + &rows.map(row).collect::<String>();
    let folder = Folder::with(&[
        ("whole.csv", &lines(0..6_000)),
        ("part-1.csv", &lines(0..1_000)),
        ("part-2.csv", &lines(1_000..6_000)),
    ]);
    for model in ["nb:ml", "tan:ml", "kdb2:ml", "aode:ml", "sgbn:or,lambda1=300", "sgbn:search,rounds=3"] {
        let ignore = if model.starts_with("sgbn") { "--ignore gap" } else { "" };
        let fit = |data: &str, rest: &str| {
            folder.run(&format!("fit {data} --target y --model {model} {ignore} -o m.hgn {rest}"))
        };
        assert_eq!(fit("whole.csv", "").code, Some(0));
        let whole = folder.read("m.hgn");
        for data in ["whole.csv", "part-*.csv"] {
            let run = fit(data, "-v --max-memory 1300k");
            assert_eq!(run.code, Some(0), "{}", run.show());
            assert!(run.stderr.contains("read in pieces"), "{}", run.stderr);
            assert!(folder.read("m.hgn") == whole, "{model} from {data}");
        }
    }
    let refused =
        folder.fails("fit whole.csv --target y --class-weight balanced -o m.hgn --max-memory 1300k", 2);
    assert!(refused.contains("class weights"), "{refused}");
}

/// Tables that grow with the third power of the states are asked for before they are counted.
#[test]
#[cfg(target_os = "linux")]
fn a_network_is_refused_before_its_tables_fill_the_memory() {
    let row = |m: usize| {
        (0..8).map(|j| format!("s{},", m * (j + 3) * (m + j) % 1009 % 60)).collect::<String>()
            + ["a\n", "b\n"][m % 2]
    };
    let header = (0..8).map(|j| format!("x{j},")).collect::<String>() + "y\n";
    let folder = Folder::with(&[("states.csv", &(header + &(0..4000).map(row).collect::<String>()))]);
    let fit = |model: &str| format!("fit states.csv --target y --model {model} -o m.hgn -v --max-memory 30M");
    folder.succeeds(&fit("tan:ml"));
    let (old, names) = (folder.read("m.hgn"), folder.names());
    let run = folder.run(&fit("kdb2:ml"));
    assert_eq!(run.code, Some(3), "{}", run.show());
    assert!(
        run.stderr.contains("a network with") && run.stderr.contains("parameters needs"),
        "{}",
        run.show()
    );
    assert!(folder.read("m.hgn") == old && folder.names() == names);
    // they would be 6 x 2 x 60 x 60 x 60 entries of 48 bytes
    let (tan, kdb) = (peak_of(&folder, &fit("tan:ml")).1, peak_of(&folder, &fit("kdb2:ml")).1);
    assert!(kdb < tan + 30e6, "{kdb:.2e} bytes, {tan:.2e} for tan");
}

/// A file that is damaged far behind its beginning is named with its line, and the model that was there stays.
#[test]
fn a_damaged_file_among_many_leaves_nothing_half_written() {
    let lines = |n: usize| {
        let row = |m: usize| format!("{},{},{}\n", m % 7, m * m % 10_007, ["a", "b"][m % 7 / 4]);
        std::iter::once("x,z,y\n".to_string()).chain((0..n).map(row)).collect::<String>()
    };
    let damaged = lines(9000) + "1,2\n";
    let folder = Folder::with(&[
        ("part-1.csv", &lines(20_000)),
        ("part-2.csv", &damaged),
        ("part-3.csv", &lines(9000)),
    ]);
    let fit = "fit part-*.csv --target y --model tan:ml -o m.hgn --max-memory 400k -v";
    let refused = folder.fails(fit, 3);
    assert!(refused.contains("part-2.csv") && refused.contains("9002"), "{refused}");
    assert!(!folder.path().join("m.hgn").exists());
    folder.succeeds("fit part-1.csv --target y --model nb:ml -o m.hgn --quiet");
    let before = folder.read("m.hgn");
    folder.fails(fit, 3);
    assert!(folder.read("m.hgn") == before);
}

/// Rows are held out and tested, and the figures are near those of folds.
#[test]
fn a_table_larger_than_the_memory_is_evaluated_on_rows_held_out() {
    let folder = Folder::with(&[]);
    folder.succeeds("generate waveform -n 6000 -o whole.csv --quiet");
    folder.succeeds("generate waveform -n 500 --seed 3 -o test.csv --quiet");
    let figures = |line: &str| -> serde_json::Value {
        let run = folder.run(&format!("{line} --json -"));
        assert_eq!(run.code, Some(0), "{}", run.show());
        serde_json::from_str(&run.stdout).unwrap()
    };
    let line = "evaluate whole.csv --target class --model nb:ml --model tan:ml --model majority";
    let (whole, pieces) = (figures(line), figures(&format!("{line} --max-memory 1M")));
    assert_eq!(pieces["data"], whole["data"]);
    let n = pieces["protocol"]["test_rows"].as_u64().unwrap();
    assert!((300..1300).contains(&n), "{n} rows are held out");
    for k in 0..3 {
        let accuracy = |found: &serde_json::Value| found["results"][k]["accuracy"]["mean"].as_f64().unwrap();
        assert!((accuracy(&whole) - accuracy(&pieces)).abs() < 0.07, "{whole} {pieces}");
    }
    // the same rows again, each by its number in the file
    assert_eq!(
        pieces["results"][0]["predictions"],
        figures(&format!("{line} --max-memory 1M"))["results"][0]["predictions"]
    );
    let last = pieces["results"][0]["predictions"].as_array().unwrap().last().unwrap()["row"].as_u64();
    assert!(last.is_some_and(|row| row > 5000), "{last:?}");
    let told = folder.run(&format!("{line} --max-memory 1M"));
    assert!(told.stderr.contains("held out, not on folds"), "{}", told.stderr);
    let test = figures(&format!("{line} --test test.csv --max-memory 1M"));
    assert_eq!(
        test["results"][1]["accuracy"],
        figures(&format!("{line} --test test.csv"))["results"][1]["accuracy"]
    );
    folder.succeeds(&format!("{line} --max-memory 1M --report page.html"));
    let refused = folder.fails(&format!("{line} --repeats 2 --max-memory 1M"), 3);
    assert!(refused.contains("neither groups nor repeats"), "{refused}");
}

#[test]
fn a_network_is_learnt_from_a_table_larger_than_the_memory() {
    let folder = Folder::with(&[]);
    folder.succeeds("generate waveform -n 6000 -o whole.csv --quiet");
    let line = "network whole.csv --target class --method or --shuffles 0 -o";
    folder.succeeds(&format!("{line} whole.json"));
    let run = folder.run(&format!("{line} pieces.json --max-memory 1M -v"));
    assert!(run.code == Some(0) && run.stderr.contains("read in pieces"), "{}", run.show());
    let read = |name: &str| -> serde_json::Value { serde_json::from_str(&folder.text(name)).unwrap() };
    let arcs = |found: &serde_json::Value| -> Vec<String> {
        let arc = |arc: &serde_json::Value| {
            format!("{} {} {:.6}", arc["from"], arc["to"], arc["weight"].as_f64().unwrap())
        };
        let networks = found["networks"].as_array().unwrap().iter();
        networks.flat_map(|network| network["arcs"].as_array().unwrap().iter().map(arc)).collect()
    };
    let (whole, pieces) = (read("whole.json"), read("pieces.json"));
    assert!(!arcs(&whole).is_empty());
    assert_eq!(arcs(&pieces), arcs(&whole));
    let one = folder.succeeds("network whole.csv --ignore class --max-memory 1M");
    assert!(one.contains("all rows") && one.contains("6000"), "{one}");
    let judged = folder.run("network whole.csv --target class --max-memory 1M");
    assert!(judged.stderr.contains("is not tested"), "{}", judged.show());
    let refused = folder.fails("network whole.csv --target class --bootstrap 5 --max-memory 1M", 3);
    assert!(refused.contains("cannot be drawn again"), "{refused}");
}

#[test]
fn a_billion_rows_are_not_drawn_at_once() {
    let folder = Folder::with(&[("rows.csv", &with_ids(60))]);
    for model in ["nb:ml", "sgbn:or,lambda1=1"] {
        folder.succeeds(&format!("fit rows.csv --target y --ignore id --model {model} -o m.hgn"));
        folder.fails("sample m.hgn -n 1000000000 --max-memory 2G", 3);
        folder.fails("sample m.hgn -n 18446744073709551615", 3);
    }
}

/// What is refused is refused before it is drawn, and what fits is made as without a bound.
#[test]
fn a_billion_rows_are_not_generated_at_once() {
    let folder = Folder::new();
    for generator in ["corral", "mixed", "forest", "gbn"] {
        let refused = folder.fails(&format!("generate {generator} -n 1000000000 --max-memory 2G"), 3);
        assert!(refused.contains("generating 1000000000 rows needs"), "{refused}");
        folder.fails(&format!("generate {generator} -n 18446744073709551615"), 3);
        let rows = |memory: &str| folder.run(&format!("generate {generator} -n 50 {memory}"));
        let (bounded, free) = (rows("--max-memory 60k"), rows(""));
        assert!(bounded.code == Some(0) && bounded.stdout == free.stdout, "{}", bounded.show());
    }
}

/// The exit code of a run and the most memory it had (bytes), as the system counted it.
#[cfg(target_os = "linux")]
fn peak_of(folder: &Folder, line: &str) -> (Option<i32>, f64) {
    let mut child = folder.command(line).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0.0f64;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = most.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
        peak = peak.max(1024.0 * kilobytes.unwrap_or(0.0));
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), peak);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Whatever a fit is allowed, it takes that, give or take a half, or is refused; twice and a half of what it takes is enough.
#[test]
#[cfg(target_os = "linux")]
fn a_fit_takes_the_memory_it_is_allowed_or_is_refused() {
    let folder = Folder::new();
    folder.succeeds("generate waveform -n 1500 -o w.csv");
    let fit = |model: &str, allowed: Option<f64>| {
        let bound = allowed.map_or(String::new(), |bytes| format!("--max-memory {}", bytes as u64));
        peak_of(
            &folder,
            &format!("fit w.csv --target class --model {model} -o m.hgn --threads 2 --quiet {bound}"),
        )
    };
    // the program itself, and what the allocator keeps for its threads
    let base = fit("nb:ml", None).1 + 10e6;
    for model in ["pool,fast=true", "slb,fraction=0.3", "slb-all", "kde-tan"] {
        let (code, peak) = fit(model, None);
        assert_eq!(code, Some(0), "{model}");
        let taken = (peak - base).max(4e6);
        for share in [0.1, 0.3, 0.6, 1.0] {
            let allowed = share * taken;
            let (code, peak) = fit(model, Some(allowed));
            let holds = code == Some(0) && peak <= base + 1.5 * allowed;
            assert!(holds || code == Some(3), "{model}: {code:?} with {peak:.2e} of {allowed:.2e} bytes");
        }
        assert_eq!(fit(model, Some(2.5 * taken)).0, Some(0), "{model} needs {taken:.2e} bytes");
    }
}

/// Files beside the table are read to an end, even where they have none.
#[test]
#[cfg(target_os = "linux")]
fn what_never_ends_is_refused() {
    let folder = Folder::with(&[("rows.csv", &with_ids(60))]);
    let refused = folder.fails("chart /dev/zero", 3);
    assert!(refused.contains("/dev/zero: a drawing has 16 MB at most"), "{refused}");
    let fit = "fit rows.csv --target y --model dag:ml,edges=/dev/stdin -o m.hgn";
    let mut child = folder.command(fit).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    while input.write_all(&b"from,to\n".repeat(4096)).is_ok() {} // until nobody reads it
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && told.contains("is longer than 1000000 records"), "{told}");
}

/// What the shell allows (`ulimit -v`) counts like what the machine has: the fit is refused or told what it may take.
#[test]
#[cfg(target_os = "linux")]
fn the_address_space_that_the_shell_allows_is_a_bound() {
    let folder = Folder::new();
    folder.succeeds("generate gbn -n 6000 -o g.csv");
    let fit = folder.command("fit g.csv --target class --model fisher:or,lambda1=1 -o m.hgn --threads 1");
    let mut words = vec![fit.get_program().to_string_lossy().into_owned()];
    words.extend(fit.get_args().map(|word| word.to_string_lossy().into_owned()));
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder.path()).args(["-c", "ulimit -v 400000; exec \"$@\"", "sh"]).args(words);
    let output = shell.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && told.contains("MB allowed"), "{:?} {told}", output.status);
}

/// A table fits where a margin fit to it does not: its rows come past, with the same bytes on one thread and on several, and
/// the gap that is proven is small.
#[test]
fn margins_that_do_not_fit_are_trained_as_the_rows_come_past() {
    let folder = Folder::new();
    folder.succeeds("generate waveform -n 12000 -o w.csv");
    let fit = "fit w.csv --target class --model nb:ml-bn-svm,lambda=1,gamma=1 --max-memory 6M -v";
    let run = folder.run(&format!("{fit} -o m.hgn"));
    assert_eq!(run.code, Some(0), "{}", run.show());
    for told in
        ["a fit to all rows at once would take too much memory", "each step passes over all 12000 rows"]
    {
        assert!(run.stderr.contains(told), "{}", run.show());
    }
    let one = folder.command(&format!("{fit} -o one.hgn")).env("RAYON_NUM_THREADS", "1").output().unwrap();
    assert!(one.status.success());
    assert!(folder.read("m.hgn") == folder.read("one.hgn"));
    let about = folder.run("inspect m.hgn --format json").stdout;
    let about: serde_json::Value = serde_json::from_str(&about).unwrap();
    let gap = about["facts"]["solver"]["gap"].as_f64().unwrap();
    assert!((0.0..=1e-3).contains(&gap), "{gap}");
}

/// A table fits where moments of it would not at once: they are summed piece by piece, to the same networks.
#[test]
fn gaussian_networks_that_do_not_fit_are_learnt_from_moments_of_pieces() {
    let folder = Folder::new();
    folder.succeeds("generate waveform -n 12000 -o w.csv --quiet");
    let fit = "fit w.csv --target class --model sgbn:or,lambda1=100 -v";
    folder.succeeds(&format!("{fit} -o whole.hgn"));
    let told = |run: &Run, words: &str| {
        assert!(run.code == Some(0) && run.stderr.contains(words), "{}", run.show());
        assert!(run.stderr.contains("read in pieces"), "{}", run.show());
    };
    told(
        &folder.run(&format!("{fit} --max-memory 4M -o m.hgn")),
        "a fit to all rows at once would take too much memory",
    );
    assert!(folder.read("m.hgn") == folder.read("whole.hgn"));
    told(
        &folder.run("network w.csv --target class --method or --max-memory 4M -v -o n.json"),
        "networks of all rows at once would take too much memory",
    );
}

/// Counts of few rows are neither in the statistics nor in the model, and a warning says how many were left out.
#[test]
fn counts_of_few_rows_are_left_out_on_request() {
    let rows = (0..90).map(|m| format!("{},{}\n", if m == 7 { "rare" } else { "usual" }, m % 3));
    let folder = Folder::with(&[("rows.csv", &("x,y\n".to_string() + &rows.collect::<String>()))]);
    let fit = "fit rows.csv --target y --categorical y --model nb:ml --keep-statistics";
    let run = folder.run(&format!("{fit} --least-count 5 -o few.hgn"));
    assert!(run.code == Some(0) && run.stderr.contains("1 counts of fewer than 5 rows"), "{}", run.show());
    folder.succeeds(&format!("{fit} -o all.hgn"));
    let sampled = |model: &str| folder.run(&format!("sample {model} -n 3000")).stdout;
    assert!(sampled("all.hgn").contains("rare"));
    let alone = folder.fails("fit rows.csv --target y --model nb:ml --least-count 5 -o m.hgn", 2);
    assert!(alone.contains("--keep-statistics"), "{alone}");
}
