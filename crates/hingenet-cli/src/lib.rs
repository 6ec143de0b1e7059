//! The program `hingenet` as a function, which its `main` and the Python package call: reads the command line, runs
//! one command, says how it went. Results go to stdout, everything else to stderr; all mathematics is in the library.

mod browser;
mod commands;
mod failure;
mod options;
mod output;
mod page;
mod pieces;
mod reader;
mod session;
mod show;

use clap::Parser;
use std::ffi::OsString;

/// Bayesian-network classifiers trained with a margin that stay generative.
#[derive(Parser)]
#[command(name = "hingenet", bin_name = "hingenet", version, about)]
#[command(arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 ok, 1 failed, 2 usage, 3 bad input data, 130 interrupted.\n\
    Start with: hingenet demo")]
struct Arguments {
    #[command(flatten)]
    common: options::Common,
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs the program with these words, of which the first is its name, and gives the exit code. It takes what a process
/// has once (the handler of Ctrl-C, the threads of rayon, the panic hook), so a process can call it once.
pub fn run(words: Vec<OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(answer) => {
            // help, the version or a usage error; nobody may be listening any more
            let _ = answer.print();
            return answer.exit_code() as u8;
        }
    };
    keep_quiet_about_damaged_files();
    // within a worker thread, so that parallel steps need no hand-over between threads
    let run = |session: session::Session| rayon::scope(|_| arguments.command.run(&session));
    let outcome = session::Session::start(&arguments.common, &words).and_then(run);
    match outcome {
        Ok(()) => 0,
        Err(error) => failure::report(&error),
    }
}

/// Decoders that panic on damaged Parquet or Arrow files give an ordinary error in the end; their panic
/// message would only frighten.
fn keep_quiet_about_damaged_files() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !hingenet_data::table::read::is_decoding() {
            usual(panic);
        }
    }));
}
