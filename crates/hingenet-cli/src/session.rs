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

/// How often the bar is drawn again while no step is done, so that the time shows that work goes on.
const TICK: Duration = Duration::from_millis(500);

/// Where no bar is drawn, time left is told in lines: the first after so long, then each time twice as much has passed.
const FIRST_WORD: Duration = Duration::from_secs(20);

/// How fast the steps of the stage at hand are done.
struct Pace {
    stage: String,
    start: Instant,
    done: usize,
    total: usize,
    /// When the last step was done.
    last: Instant,
    /// When to tell in a line how far it is.
    next: Duration,
}

impl Pace {
    fn of(stage: &str, now: Instant) -> Self {
        Pace { stage: stage.into(), start: now, done: 0, total: 0, last: now, next: FIRST_WORD }
    }

    /// Another stage begins anew: its steps have a length of their own.
    fn follow(pace: &mut Option<Self>, stage: &str, done: usize, total: usize, now: Instant) {
        let same = pace.take().filter(|p| p.stage == stage && p.done <= done && p.total == total);
        let mut same = same.unwrap_or_else(|| Pace::of(stage, now));
        if done > same.done {
            same.last = now;
        }
        *pace = Some(Pace { done, total, ..same });
    }

    /// What the steps not yet done will take if they are as long as those before. A step that takes longer than that adds
    /// nothing to the others, and nobody knows when the last one will end. Less than a second is not worth a word.
    fn left(&self, now: Instant) -> Option<Duration> {
        if !(1..self.total).contains(&self.done) {
            return None;
        }
        let step = (self.last - self.start).div_f64(self.done as f64);
        let of_this = step.saturating_sub(now - self.last);
        let left = of_this + step.mul_f64((self.total - self.done - 1) as f64);
        (left >= Duration::from_secs(1)).then_some(left)
    }

    /// How far the work is, in words, once it is time to say so.
    fn word(&mut self, now: Instant) -> Option<String> {
        let passed = now - self.start;
        let left = self.left(now).filter(|_| passed >= self.next)?;
        self.next = 2 * passed;
        let (passed, left) = (HumanDuration(passed), HumanDuration(left));
        let Pace { stage, done, total, .. } = self;
        Some(format!(
            "{stage}: {done} of {total} steps after {passed}, about {left} left of it (`--max-time` bounds a fit)"
        ))
    }
}

/// Writes to stderr around the progress bar.
struct Speaker {
    quiet: bool,
    bar: ProgressBar,
    pace: Arc<Mutex<Option<Pace>>>,
    said: Mutex<BTreeSet<String>>,
}

impl Speaker {
    fn new(quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let pace = Arc::new(Mutex::new(None::<Pace>));
        if let Ok(style) = ProgressStyle::with_template(STYLE) {
            let pace = pace.clone();
            let left = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                let left = pace.lock().ok().and_then(|pace| pace.as_ref()?.left(Instant::now()));
                if let Some(left) = left {
                    // a bar that cannot be written is not drawn
                    let _ = write!(out, " ({} left)", HumanDuration(left));
                }
            };
            bar.set_style(style.with_key("left", left));
        }
        bar.finish_and_clear(); // until there is something to show
        Speaker { quiet, bar, pace, said: Mutex::default() }
    }

    fn progress(&self, stage: &str, done: usize, total: usize) {
        // while the pace is locked the bar is not asked for anything: a bar that is drawn asks for the pace
        let hidden = self.bar.is_hidden();
        let word = self.pace.lock().ok().and_then(|mut pace| {
            let now = Instant::now();
            Pace::follow(&mut pace, stage, done, total, now);
            pace.as_mut().filter(|_| hidden).and_then(|pace| pace.word(now))
        });
        if let Some(word) = word {
            self.say(&format!("note: {word}"));
        }
        if hidden {
            return;
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
    use super::{FIRST_WORD, Pace, quoted};
    use std::time::{Duration, Instant};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn long_work_tells_how_long_it_takes_also_without_a_bar() {
        let start = Instant::now();
        let mut pace = Some(Pace::of("inner folds", start));
        let mut word = |done, total, passed: Duration| {
            Pace::follow(&mut pace, "inner folds", done, total, start + passed);
            pace.as_mut().unwrap().word(start + passed)
        };
        assert_eq!(word(3, 0, 30 * SECOND), None, "nobody knows how much there is");
        assert_eq!(word(3, 60, FIRST_WORD), None, "another number of steps is other work");
        assert_eq!(word(15, 60, FIRST_WORD + 10 * SECOND), None, "it has just begun");
        let first = word(15, 60, FIRST_WORD + 20 * SECOND).unwrap();
        assert!(first.starts_with("inner folds: 15 of 60 steps after 20 seconds, about"), "{first}");
        assert_eq!(word(20, 60, FIRST_WORD + 39 * SECOND), None);
        assert!(word(20, 60, FIRST_WORD + 40 * SECOND).is_some());
    }

    #[test]
    fn a_long_step_does_not_make_the_others_longer() {
        let start = Instant::now();
        let mut pace = None;
        let mut left = |stage, done, passed: u32, seen: u32| {
            Pace::follow(&mut pace, stage, done, 4, start + passed * SECOND);
            pace.as_ref().unwrap().left(start + seen * SECOND)
        };
        assert_eq!(left("densities", 0, 0, 5), None, "nothing is known yet");
        assert_eq!(left("densities", 1, 10, 10), Some(30 * SECOND));
        assert_eq!(left("densities", 1, 12, 14), Some(26 * SECOND));
        assert_eq!(
            left("densities", 1, 100, 100),
            Some(20 * SECOND),
            "this step is late, two more are to come"
        );
        assert_eq!(left("densities", 3, 120, 500), None, "the last one is late");
        assert_eq!(left("training", 1, 600, 600), None, "another stage begins anew");
        assert_eq!(left("training", 2, 602, 602), Some(2 * SECOND));
    }

    #[test]
    fn arguments_survive_the_shell() {
        assert_eq!(quoted("tan:ml,alpha=1"), "tan:ml,alpha=1");
        assert_eq!(quoted("my class"), "'my class'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
