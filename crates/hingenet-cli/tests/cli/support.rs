//! Runs the program in a folder of its own and shows the run as text that is the same on every machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program that is tested: the one built here, or one that was installed and that `HINGENET_PROGRAM` names.
pub fn program() -> PathBuf {
    std::env::var_os("HINGENET_PROGRAM").map_or(PathBuf::from(env!("CARGO_BIN_EXE_hingenet")), PathBuf::from)
}

/// A folder that is removed in the end.
pub struct Folder(tempfile::TempDir);

/// How a run ended.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    line: String,
}

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    /// A folder with files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        files.iter().for_each(|(name, text)| folder.write(name, text.as_bytes()));
        folder
    }

    /// A folder with what `generate` writes.
    #[track_caller]
    pub fn generated(line: &str) -> Self {
        let folder = Folder::new();
        folder.succeeds(&format!("generate {line}"));
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path().join(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let name = |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = std::fs::read_dir(self.path()).unwrap().map(name).collect();
        names.sort();
        names
    }

    /// Runs `hingenet` with these words (split at spaces).
    pub fn run(&self, line: &str) -> Run {
        self.run_with_input(line, "")
    }

    /// Runs `hingenet` with these words, which may hold spaces.
    pub fn run_words(&self, words: &[String]) -> Run {
        finished(self.command_of(words), "", words.join(" "))
    }

    /// The same with text on standard input.
    pub fn run_with_input(&self, line: &str, input: &str) -> Run {
        finished(self.command(line), input, line.into())
    }

    /// The program with piped streams, not started yet.
    pub fn command(&self, line: &str) -> Command {
        self.command_of(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    fn command_of(&self, words: &[String]) -> Command {
        let mut command = Command::new(program());
        command.args(words).current_dir(self.path());
        // as after an installation, not as `cargo run` starts it
        command.env_remove("CARGO_PKG_NAME");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command that must fail with this exit code and leave no file behind; shows the run.
    #[track_caller]
    pub fn fails(&self, line: &str, code: i32) -> String {
        let before = self.names();
        let run = self.run(line);
        assert_eq!(run.code, Some(code), "{}", run.show());
        assert_eq!(self.names(), before, "files were left behind by {line}");
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        run.show()
    }

    /// The same, whose run must show these texts.
    #[track_caller]
    pub fn refuses(&self, line: &str, code: i32, texts: &[&str]) {
        let shown = self.fails(line, code);
        texts.iter().for_each(|text| assert!(shown.contains(text), "no `{text}` in {shown}"));
    }

    /// Runs a command that must succeed; shows the run.
    #[track_caller]
    pub fn succeeds(&self, line: &str) -> String {
        let run = self.run(line);
        assert_eq!(run.code, Some(0), "{}", run.show());
        run.show()
    }
}

/// Runs a program to its end.
fn finished(mut command: Command, input: &str, line: String) -> Run {
    let mut child = command.spawn().unwrap();
    // the program may stop reading early, which is no failure of the test
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: status.code(), stdout: text(stdout), stderr: without_delays(&text(stderr)), line }
}

/// The lines but those that a busy machine adds: how long work that takes 20 seconds will still take.
fn without_delays(text: &str) -> String {
    let is_delay =
        |l: &&str| l.starts_with("note: ") && l.contains(" steps after ") && l.contains(" left of it");
    text.split_inclusive('\n').filter(|l| !is_delay(l)).collect()
}

impl Run {
    /// Command, exit code and both streams, times blotted out and long fractions rounded.
    pub fn show(&self) -> String {
        format!(
            "$ hingenet {}\nexit code {}\n--- stdout\n{}--- stderr\n{}",
            self.line,
            self.code.map_or("none".into(), |c| c.to_string()),
            shortened(&without_times(&self.stdout)),
            shortened(&without_times(&self.stderr))
        )
    }
}

/// Replaces every time (`12.3 ms`, `1.23 s`) by one of the same width in a table, seven characters.
pub fn without_times(text: &str) -> String {
    text.split_inclusive('\n').map(blot_times).collect()
}

fn blot_times(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    // words keep the spaces before them
    for c in line.chars() {
        let starts = c == ' ' && words.last().is_none_or(|w| w.chars().any(|c| c != ' '));
        if starts || words.is_empty() {
            words.push(String::new());
        }
        words.last_mut().unwrap().push(c);
    }
    let mut out = String::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let is_number = word.trim().parse::<f64>().is_ok();
        let unit = words.peek().map(|w| w.trim()).filter(|w| ["s", "ms"].contains(w)).map(str::to_string);
        match unit {
            Some(unit) if is_number => {
                let next = words.next().unwrap_or_default();
                let width = word.chars().count() + 1 + unit.len();
                let ending = if next.ends_with('\n') { "\n" } else { "" };
                out += &format!("{:>width$}{ending}", "[time]", width = width.max(8));
            }
            _ => out += &word,
        }
    }
    out
}

/// Rounds long decimal fractions to nine places: the last bits may differ between processors.
fn shortened(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (number, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        out += before;
        match number.parse::<f64>() {
            Ok(x) if number.len() > 12 && number.contains('.') => out += &format!("{x:.9}"),
            _ => out += number,
        }
        rest = after;
    }
    out + rest
}
