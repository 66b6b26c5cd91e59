//! A file that is written as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::input::name;

/// Writes a file beside its place first, and moves it there when everything is on the disk. What stood there stays until then.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    let draft = Draft(beside(path));
    let written = File::create(&draft.0).and_then(|file| {
        let mut file = BufWriter::new(file);
        fill(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        fs::rename(&draft.0, path)
    });
    written.map_err(|source| Error::Write {
        name: name(path),
        source,
    })
}

/// A file in the same folder, so that moving it is one step, under a name that no other process takes.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

/// Takes the file away unless it was moved.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // After the move there is nothing to take away.
        let _ = fs::remove_file(&self.0);
    }
}
