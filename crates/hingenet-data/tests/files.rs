//! Files as other programs see them: links, pipes, modes, writers that race, writers that are killed.

#![cfg(unix)]

use hingenet_data::file::{STALE, Target, identity, target, write};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        folder.read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_keeps_its_mode_and_a_new_one_gets_the_usual() {
    let folder = tempfile::tempdir().unwrap();
    let (path, usual) = (folder.path().join("m.hgn"), folder.path().join("usual"));
    File::create(&usual).unwrap();
    write(&path, b"first").unwrap();
    assert_eq!(mode(&path), mode(&usual));
    for secret in [0o600, 0o640, 0o755] {
        fs::set_permissions(&path, Permissions::from_mode(secret)).unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(mode(&path), secret);
    }
}

#[test]
fn a_read_only_file_stays_as_it_is_also_for_root() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hgn");
    fs::write(&path, b"old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let error = write(&path, b"new").unwrap_err().to_string();
    assert!(error.contains("m.hgn") && error.contains("read-only"), "{error}");
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"old".to_vec(), 0o444));
    assert_eq!(names(folder.path()), ["m.hgn"]);
}

#[test]
fn links_are_followed_and_stay_links() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("there")).unwrap();
    fs::write(at("there/real"), b"old").unwrap();
    symlink("there/real", at("one")).unwrap();
    symlink("one", at("two")).unwrap();
    write(&at("two"), b"new").unwrap();
    assert_eq!(fs::read(at("there/real")).unwrap(), b"new");
    assert!(at("one").is_symlink() && at("two").is_symlink() && !at("there/real").is_symlink());
    symlink("there/not yet", at("three")).unwrap();
    write(&at("three"), b"made").unwrap();
    assert_eq!(fs::read(at("there/not yet")).unwrap(), b"made");
    assert!(at("three").is_symlink());
    symlink("b", at("a")).unwrap();
    symlink("a", at("b")).unwrap();
    assert!(write(&at("a"), b"lost").is_err());
    assert_eq!(names(&at("there")), ["not yet", "real"], "no temporary files are left");
}

#[test]
fn a_pipe_is_written_through_and_stays_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let link = folder.path().join("link");
    symlink("pipe", &link).unwrap();
    for path in [&pipe, &link] {
        assert!(matches!(target(path).unwrap(), Target::Stream(_)), "found without waiting for a reader");
        let bytes = vec![5; 200_000]; // more than a pipe holds
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write(path, &bytes).unwrap();
        assert!(reader.join().unwrap() == bytes);
        assert!(pipe.metadata().unwrap().file_type().is_fifo());
    }
    assert_eq!(names(folder.path()), ["link", "pipe"]);
}

/// A null device of our own where we may make one (a root who could destroy the machine's), else the machine's.
#[test]
fn devices_are_written_through_and_stay_devices() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("null");
    let made = Command::new("mknod").arg(&own).args(["c", "1", "3"]).stderr(Stdio::null()).status();
    let is_usable =
        made.is_ok_and(|status| status.success()) && File::options().write(true).open(&own).is_ok();
    let device = if is_usable { own.as_path() } else { Path::new("/dev/null") };
    write(device, b"lost").unwrap();
    assert!(fs::metadata(device).unwrap().file_type().is_char_device());
    assert!(fs::read(device).unwrap().is_empty());
}

/// The disk that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let error = write(Path::new("/dev/full"), &[7; 1 << 20]).unwrap_err().to_string();
    assert!(error.contains("/dev/full") && error.contains("No space left"), "{error}");
}

/// `-o /dev/stdout >> log` adds to the log; replacing the file behind the descriptor would lose it.
#[test]
fn a_file_that_a_process_holds_open_is_added_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, b"old,").unwrap();
    let open = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let descriptor = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    if !Path::new(&descriptor).exists() {
        return; // a system without such names
    }
    let link = folder.path().join("link");
    symlink(&descriptor, &link).unwrap();
    write(Path::new(&descriptor), b"new,").unwrap();
    write(&link, b"newer").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old,new,newer");
}

#[test]
fn one_file_has_one_identity_under_all_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("real"), b"x").unwrap();
    fs::hard_link(at("real"), at("hard")).unwrap();
    symlink("real", at("soft")).unwrap();
    symlink("not yet", at("dangling")).unwrap();
    fs::create_dir(at("sub")).unwrap();
    assert!(identity(&at("real")).is_some());
    for same in ["hard", "soft", "sub/../real"] {
        assert_eq!(identity(&at("real")), identity(&at(same)), "{same}");
    }
    assert_eq!(identity(&at("not yet")), identity(&at("sub/../dangling")));
    assert_ne!(identity(&at("real")), identity(&at("not yet")));
}

/// Both writers have the process id of this test.
#[test]
fn writers_with_equal_process_ids_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hgn");
    std::thread::scope(|scope| {
        for byte in [1_u8, 2] {
            let path = &path;
            scope.spawn(move || (0..100).for_each(|_| write(path, &vec![byte; 1 << 16]).unwrap()));
        }
    });
    let found = fs::read(&path).unwrap();
    assert_eq!(found.len(), 1 << 16);
    assert!(found.iter().all(|b| *b == found[0]), "two writers in one file");
    assert_eq!(names(folder.path()), ["m.hgn"]);
}

#[test]
fn links_planted_under_guessed_names_harm_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("victim"), b"precious").unwrap();
    symlink("victim", at(&format!(".m.hgn.{}.tmp", std::process::id()))).unwrap();
    symlink("victim", at(".m.hgn.hingenet-")).unwrap();
    write(&at("m.hgn"), b"new").unwrap();
    assert_eq!(
        (fs::read(at("victim")).unwrap(), fs::read(at("m.hgn")).unwrap()),
        (b"precious".to_vec(), b"new".to_vec())
    );
}

/// Set for the process that is killed: where it writes.
const VICTIM: &str = "HINGENET_KILLED_WRITER";
const LENGTH: usize = 3 << 20;

/// The process that is killed: writes the same file again and again, each time full of another byte.
#[test]
#[ignore = "runs until it is killed by the next test"]
fn writes_until_killed() {
    let Some(path) = std::env::var_os(VICTIM) else { return };
    for byte in (0..=255).cycle() {
        write(Path::new(&path), &vec![byte; LENGTH]).unwrap();
    }
}

/// `HINGENET_KILLS` sets the number of kills.
#[test]
fn a_killed_writer_leaves_the_old_or_the_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hgn");
    fs::write(&path, vec![7; LENGTH]).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let kills: u64 = std::env::var("HINGENET_KILLS").map_or(10, |n| n.parse().unwrap());
    let mut replaced = 0;
    for kill in 0..kills {
        let before = fs::read(&path).unwrap()[0];
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writes_until_killed", "--ignored"])
            .env(VICTIM, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(10_000 + kill * 7919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read(&path).unwrap();
        assert!(found.len() == LENGTH && found.iter().all(|b| *b == found[0]), "torn by kill {kill}");
        assert_eq!(mode(&path), 0o600);
        replaced += usize::from(found[0] != before);
    }
    assert!(replaced > 0, "no kill came late enough");
    let left = names(folder.path()).len() - 1;
    for name in names(folder.path()).iter().filter(|name| *name != "m.hgn") {
        let file = File::options().write(true).open(folder.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - 2 * STALE).unwrap();
    }
    write(&path, b"new").unwrap();
    assert_eq!(names(folder.path()), ["m.hgn"], "{left} temporary files of killed writers");
    println!("{kills} kills, {replaced} after a new file, {left} temporary files cleaned");
}
