//! The one writer of files. A regular file is replaced whole or not at all and keeps its mode and owner; links are
//! followed; a device, a pipe or a file that a process holds open is written through.

use hingenet_base::error::{Error, Result};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile, SpooledTempFile};

/// Age after which the temporary file of a writer that was killed is removed by the next writer of the same file.
pub const STALE: Duration = Duration::from_secs(24 * 3600);

/// Bytes handed to the operating system at once.
const CHUNK: usize = 1 << 20;

/// Links followed before they count as a circle, as on Linux.
const MAX_LINKS: usize = 40;

/// Folders whose entries are the open files of processes: they have no name that could be replaced.
const OPEN_FILES: [&str; 2] = ["/proc", "/dev/fd"];

/// What an output path names, links followed and found to be writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A regular file, there or not yet, by its own path: it is replaced.
    File(PathBuf),
    /// Anything else: bytes are added to it.
    Stream(PathBuf),
}

/// Bytes kept in memory before they go to a temporary file.
const SPOOLED: usize = 1 << 24;

/// Writes all bytes to what `path` names. On failure the old file, or none, is there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut writing = Writing::create(path)?;
    writing.add(bytes)?;
    writing.finish()
}

/// A file in the making: bytes may come piece by piece, and the file is there once all have, or stays as it was.
pub struct Writing {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    File(Replacement<'static>),
    Stream(PathBuf, Spool),
}

impl Writing {
    /// Begins to write what `path` names.
    pub fn create(path: &Path) -> Result<Self> {
        let sink = match target(path)? {
            Target::File(file) => {
                Sink::File(Replacement::create(&file, &always).map_err(|e| Error::io(path, e))?)
            }
            Target::Stream(stream) => Sink::Stream(stream, Spool::default()),
        };
        Ok(Writing { path: path.into(), sink })
    }

    /// Adds bytes, which nobody sees yet.
    pub fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let added = match &mut self.sink {
            Sink::File(replacement) => replacement.add(bytes),
            Sink::Stream(_, spool) => spool.0.write_all(bytes),
        };
        added.map_err(|e| Error::io(&self.path, e))
    }

    /// Makes the bytes the file.
    pub fn finish(self) -> Result<()> {
        let finished = match self.sink {
            Sink::File(replacement) => replacement.finish(),
            Sink::Stream(stream, spool) => append(&stream, spool),
        };
        finished.map_err(|e| Error::io(self.path, e))
    }
}

/// Bytes for a stream, which cannot be taken back: kept until they are all there, on disk if they are many.
pub struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Self {
        Spool(tempfile::spooled_tempfile(SPOOLED))
    }
}

impl Spool {
    /// Hands on all of them.
    pub fn pour(mut self, out: &mut impl Write) -> io::Result<()> {
        self.0.rewind()?;
        io::copy(&mut self.0, out)?;
        out.flush()
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What `path` names, or why it cannot be written; nothing is changed or opened that waits for a reader.
pub fn target(path: &Path) -> Result<Target> {
    find(path).map_err(|e| Error::io(path, e))
}

/// What makes two paths one file, whatever they are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Device and inode of a file that is there.
    Inode(u64, u64),
    /// Where a file is to be made.
    Name(PathBuf),
}

/// Which file a path names; `None` for streams, which may well be read and written at once.
pub fn identity(path: &Path) -> Option<Identity> {
    match existing(path).ok()? {
        Some(old) if !old.is_file() => None,
        #[cfg(unix)]
        Some(old) => {
            use std::os::unix::fs::MetadataExt;
            Some(Identity::Inode(old.dev(), old.ino()))
        }
        _ => follow(path).ok()?.map(Identity::Name),
    }
}

fn find(path: &Path) -> io::Result<Target> {
    let old = existing(path)?;
    if old.as_ref().is_some_and(Metadata::is_dir) {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    let name = follow(path)?;
    match (old, name) {
        (Some(old), Some(name)) if old.is_file() => {
            // root may write what nobody is allowed to
            if old.permissions().readonly() {
                return Err(io::Error::new(ErrorKind::PermissionDenied, "the file is read-only"));
            }
            OpenOptions::new().write(true).open(&name)?;
            Ok(Target::File(name))
        }
        (None, Some(name)) => Ok(Target::File(name)),
        _ => Ok(Target::Stream(path.to_path_buf())),
    }
}

/// What stands at the end of all links, if anything does.
fn existing(path: &Path) -> io::Result<Option<Metadata>> {
    match path.metadata() {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The path at the end of all links; `None` for a file that a process holds open.
fn follow(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let name =
            path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "it names no file"))?;
        let folder = folder(&path).canonicalize().map_err(|e| match e.kind() {
            ErrorKind::NotFound => {
                io::Error::new(e.kind(), format!("the folder {} does not exist", folder(&path).display()))
            }
            _ => e,
        })?;
        if OPEN_FILES.iter().any(|open| folder.starts_with(open)) {
            return Ok(None);
        }
        let own = folder.join(name);
        match own.read_link() {
            Ok(link) => path = folder.join(link),
            Err(_) => return Ok(Some(own)),
        }
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "its links lead in a circle"))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn append(stream: &Path, bytes: Spool) -> io::Result<()> {
    bytes.pour(&mut OpenOptions::new().append(true).open(stream)?)
}

/// What a writer is about to ask of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Create,
    Write,
    Permissions,
    Sync,
    Rename,
}

/// Nothing stands against a step.
fn always(_: Step) -> io::Result<()> {
    Ok(())
}

/// A temporary file beside `path` under a name that nobody can guess. At the end it is synced and renamed over `path`, and
/// the folder is synced. `before` is asked before every step; where it or the system fails, the temporary file goes away.
struct Replacement<'b> {
    path: PathBuf,
    old: Option<Metadata>,
    temporary: NamedTempFile,
    before: &'b dyn Fn(Step) -> io::Result<()>,
}

impl<'b> Replacement<'b> {
    fn create(path: &Path, before: &'b dyn Fn(Step) -> io::Result<()>) -> io::Result<Self> {
        let prefix = prefix(path);
        remove_stale(folder(path), &prefix);
        let old = existing(path)?;
        before(Step::Create)?;
        let temporary = create(folder(path), &prefix, old.is_none())?;
        Ok(Replacement { path: path.into(), old, temporary, before })
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            (self.before)(Step::Write)?;
            self.temporary.write_all(chunk)
        })
    }

    fn finish(self) -> io::Result<()> {
        let Replacement { path, old, temporary, before } = self;
        if let Some(old) = &old {
            before(Step::Permissions)?;
            keep_owner_and_mode(temporary.as_file(), old)?;
        }
        before(Step::Sync)?;
        temporary.as_file().sync_all()?;
        before(Step::Rename)?;
        temporary.persist(&path).map_err(|e| e.error)?;
        // Not every system can sync a folder; the rename itself has happened.
        File::open(folder(&path)).and_then(|f| f.sync_all()).or(Ok(()))
    }
}

/// How the names of temporary files of `path` begin; they may not become longer than 255 bytes.
fn prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let short: String = name.char_indices().take_while(|(i, _)| *i < 200).map(|(_, c)| c).collect();
    format!(".{short}.hingenet-")
}

/// A temporary file that only its owner may read, or with the mode that new files get.
fn create(folder: &Path, prefix: &str, is_new: bool) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(prefix).rand_bytes(12);
    #[cfg(unix)]
    if is_new {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666)); // less what the umask takes away
    }
    builder.tempfile_in(folder)
}

/// Gives a file the owner, as far as the system allows it, and the mode of the one it is to replace.
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // only root may give files away; the group is kept at least
        if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
            fchown(file, None, Some(old.gid())).ok();
        }
    }
    file.set_permissions(old.permissions())
}

/// Removes temporary files with this prefix that are older than [`STALE`]. Best effort: it is not the work at hand.
fn remove_stale(folder: &Path, prefix: &str) {
    let Ok(entries) = folder.read_dir() else { return };
    let is_ours = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(prefix);
    for entry in entries.flatten().filter(|e| is_ours(&e.file_name())) {
        let age =
            entry.metadata().ok().filter(Metadata::is_file).and_then(|m| m.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age > STALE) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn files_in(folder: &Path) -> usize {
        folder.read_dir().unwrap().count()
    }

    #[test]
    fn whatever_step_fails_the_old_file_is_whole_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.hgn");
        let bytes = vec![7; 3 * CHUNK + 5];
        for is_new in [false, true] {
            let before: &[u8] = if is_new { &[] } else { b"old" };
            let mut failing = 0;
            loop {
                if is_new {
                    std::fs::remove_file(&path).ok();
                } else {
                    std::fs::write(&path, b"old").unwrap();
                }
                let asked = Cell::new(0);
                let fail = |step: Step| {
                    asked.set(asked.get() + 1);
                    if asked.get() > failing { Err(io::Error::other(format!("{step:?}"))) } else { Ok(()) }
                };
                let replaced = Replacement::create(&path, &fail).and_then(|mut replacement| {
                    replacement.add(&bytes)?;
                    replacement.finish()
                });
                if replaced.is_ok() {
                    break;
                }
                assert_eq!(std::fs::read(&path).unwrap_or_default(), before, "step {failing}");
                assert_eq!(files_in(folder.path()), usize::from(!is_new), "step {failing}");
                failing += 1;
            }
            // create, four writes, the permissions of an old file, sync, rename
            assert_eq!(failing, if is_new { 7 } else { 8 });
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
            assert_eq!(files_in(folder.path()), 1);
        }
    }

    #[test]
    fn temporary_files_of_killed_writers_go_away_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, age: Duration| {
            let path = folder.path().join(name);
            let file = File::create(&path).unwrap();
            file.set_modified(std::time::SystemTime::now() - age).unwrap();
        };
        at(".m.hgn.hingenet-old", STALE + Duration::from_secs(60));
        at(".m.hgn.hingenet-young", STALE - Duration::from_secs(60));
        at(".other.hgn.hingenet-old", 2 * STALE);
        write(&folder.path().join("m.hgn"), b"new").unwrap();
        for left in [".m.hgn.hingenet-young", ".other.hgn.hingenet-old", "m.hgn"] {
            std::fs::remove_file(folder.path().join(left)).unwrap();
        }
        assert_eq!(files_in(folder.path()), 0);
    }

    #[test]
    fn the_longest_name_there_is_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), "é".repeat(127)] {
            write(&folder.path().join(&name), b"new").unwrap();
            assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"new");
        }
    }

    #[test]
    fn paths_that_cannot_be_written_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let error = |path: &Path| write(path, b"x").unwrap_err().to_string();
        assert!(error(folder.path()).ends_with("it is a folder"), "{}", error(folder.path()));
        let absent = error(&folder.path().join("none/m.hgn"));
        assert!(absent.contains("the folder") && absent.ends_with("none does not exist"), "{absent}");
        assert_eq!(files_in(folder.path()), 0);
    }
}
