//! The program `hingenet`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hingenet_cli::run(std::env::args_os().collect()).into()
}
