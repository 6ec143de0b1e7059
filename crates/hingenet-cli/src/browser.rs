//! Shows an address in the user's browser, without a shell.

use std::io::IsTerminal;
use std::process::{Command, Stdio};

/// Whether someone would see a browser: the address went to a terminal, and there is a screen.
pub fn can_be_seen() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen =
        cfg!(any(windows, target_os = "macos")) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    has_screen && std::io::stdout().is_terminal()
}

/// Starts the browser and does not wait for it.
pub fn open(url: &str) -> std::io::Result<()> {
    let words: &[&str] = if cfg!(windows) {
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else if cfg!(target_os = "macos") {
        &["open"]
    } else {
        &["xdg-open"]
    };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C is meant for us alone
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}
