//! What every command has at hand: the seed, the stop flag behind Ctrl-C, the progress bar and the notes on
//! stderr.

use crate::options::Common;
use crate::output;
use anyhow::{Context, Result};
use hingenet::Control;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use signal_hook::consts::SIGINT;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes of stack of a worker thread, as much as a main thread usually has.
const STACK: usize = 8 << 20;

/// A running program.
pub struct Session {
    /// Seed of every random choice.
    pub seed: u64,
    /// What the program was called with, to be pasted into a shell.
    pub command_line: String,
    /// Stops the work on Ctrl-C and shows its progress and warnings.
    pub control: Control,
    speaker: Arc<Speaker>,
    verbose: bool,
}

impl Session {
    /// Starts threads, the Ctrl-C handler and the progress bar.
    pub fn start(common: &Common, words: &[OsString]) -> Result<Self> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(common.threads)
            .stack_size(STACK)
            .build_global()
            .context("the threads could not be started")?;
        let speaker = Arc::new(Speaker::new(common.quiet));
        let (shown, warned, told) = (speaker.clone(), speaker.clone(), speaker.clone());
        let mut control = Control::new(stop_flag()?)
            .on_progress(move |p| shown.progress(p.stage, p.done, p.total))
            .on_warning(move |message| warned.say_once("warning", message))
            .on_news(move |news| told.say(news));
        if let Some(bytes) = common.max_memory.or_else(hingenet_data::memory::allowance) {
            control = control.within_memory(bytes);
        }
        let command_line = command_line(words);
        Ok(Session { seed: common.seed, command_line, control, speaker, verbose: common.verbose })
    }

    /// Something worth knowing.
    pub fn note(&self, message: &str) {
        self.speaker.say_once("note", message);
    }

    /// A rule was applied to unusual input.
    pub fn warn(&self, message: &str) {
        self.speaker.say_once("warning", message);
    }

    /// Whether decisions are to be told.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// A decision, told when asked for.
    pub fn detail(&self, message: &str) {
        if self.verbose {
            self.speaker.say_once("detail", message);
        }
    }

    /// Names a file that has been written; `what` says more about it. Standard output needs no name.
    pub fn wrote<'a>(&self, path: impl Into<Option<&'a PathBuf>>, what: &str) {
        if let Some(path) = path.into().filter(|path| output::is_file(path)) {
            self.speaker.say(&format!("wrote {}{what}", path.display()));
        }
    }

    /// Removes the progress bar.
    pub fn done(&self) {
        self.speaker.bar.finish_and_clear();
    }
}

/// The name of the program, however it was started, and the words after it.
fn command_line(words: &[OsString]) -> String {
    let arguments = words.iter().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("hingenet".to_string()).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_string()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// The first Ctrl-C asks the work to stop, a second one exits at once.
fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, stop.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, stop.clone()))
        .context("the handler of Ctrl-C could not be installed")?;
    Ok(stop)
}

/// Time passed and left stand before the words, which may be cut. What is left is known once a step is done.
const STYLE: &str = "{bar:30} {pos}/{len} {elapsed}{left} {wide_msg}";
/// The time left, once a step is done.
fn time_left(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    if (1..state.len().unwrap_or(0)).contains(&state.pos()) {
        // a bar that cannot be written is not drawn
        let _ = write!(out, " ({} left)", HumanDuration(state.eta()));
    }
}

/// How often the bar is drawn again while no step is done, so that the time shows that work goes on.
const TICK: Duration = Duration::from_millis(500);

/// Where no bar is drawn, time left is told in lines: the first after so long, then each time twice as much has passed.
const FIRST_WORD: Duration = Duration::from_secs(20);

/// What was told of the work at hand, where no bar is drawn.
struct Told {
    stage: String,
    start: Instant,
    next: Duration,
}

impl Told {
    fn of(stage: &str) -> Self {
        Told { stage: stage.into(), start: Instant::now(), next: FIRST_WORD }
    }

    /// How far the work is, once it is time to say so and something is done: what is left takes as long as what was done.
    fn word(&mut self, done: usize, total: usize, passed: Duration) -> Option<String> {
        if !(1..total).contains(&done) || passed < self.next {
            return None;
        }
        self.next = 2 * passed;
        let left = passed.mul_f64((total - done) as f64 / done as f64);
        let (passed, left) = (HumanDuration(passed), HumanDuration(left));
        Some(format!(
            "{}: {done} of {total} steps after {passed}, about {left} left of it (`--max-time` bounds a fit)",
            self.stage
        ))
    }
}

/// Writes to stderr around the progress bar.
struct Speaker {
    quiet: bool,
    bar: ProgressBar,
    told: Mutex<Option<Told>>,
    said: Mutex<BTreeSet<String>>,
}

impl Speaker {
    fn new(quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template(STYLE) {
            bar.set_style(style.with_key("left", time_left));
        }
        bar.finish_and_clear(); // until there is something to show
        Speaker { quiet, bar, told: Mutex::default(), said: Mutex::default() }
    }

    fn progress(&self, stage: &str, done: usize, total: usize) {
        if self.bar.is_hidden() {
            return self.tell_left(stage, done, total);
        }
        if self.bar.is_finished() {
            self.bar.reset();
            self.bar.enable_steady_tick(TICK);
        }
        self.bar.set_message(stage.to_string());
        if total > 0 {
            self.bar.set_length(total as u64)
        } else {
            self.bar.unset_length()
        }
        self.bar.set_position(done as u64);
    }

    fn tell_left(&self, stage: &str, done: usize, total: usize) {
        let word = self.told.lock().ok().and_then(|mut told| {
            if told.as_ref().is_none_or(|told| told.stage != stage) {
                *told = Some(Told::of(stage));
            }
            told.as_mut().and_then(|told| told.word(done, total, told.start.elapsed()))
        });
        if let Some(word) = word {
            self.say(&format!("note: {word}"));
        }
    }

    fn say_once(&self, kind: &str, message: &str) {
        let line = format!("{kind}: {message}");
        let is_new = self.said.lock().is_ok_and(|mut said| said.insert(line.clone()));
        if is_new {
            self.say(&line);
        }
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            self.bar.suspend(|| output::write_stderr(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_WORD, Told, quoted};
    use std::time::Duration;

    #[test]
    fn long_work_tells_how_long_it_takes_also_without_a_bar() {
        let mut told = Told::of("inner folds");
        let seconds = Duration::from_secs;
        assert_eq!(told.word(3, 60, FIRST_WORD - seconds(1)), None);
        assert_eq!(told.word(0, 60, seconds(30)), None, "nothing is known yet");
        assert_eq!(told.word(5, 0, seconds(30)), None, "nobody knows how much there is");
        let first = told.word(15, 60, seconds(40)).unwrap();
        assert!(
            first.starts_with("inner folds: 15 of 60 steps after 40 seconds, about 2 minutes left of it"),
            "{first}"
        );
        assert_eq!(told.word(20, 60, seconds(79)), None);
        assert!(told.word(20, 60, seconds(80)).is_some());
    }

    #[test]
    fn arguments_survive_the_shell() {
        assert_eq!(quoted("tan:ml,alpha=1"), "tan:ml,alpha=1");
        assert_eq!(quoted("my class"), "'my class'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
