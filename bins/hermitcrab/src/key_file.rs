//! The file of the data directory that holds keys.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bin_support::environment::EnvFile;
use bin_support::{Failure, Session};
use durable::Disk;
use secrecy::{ExposeSecret as _, SecretString};

use crate::data_dir::DataDir;
use crate::error::Error;
use crate::plain_file;

/// The file, one `NAME='key'` a line as in a `.env`. It is no part of any export.
const FILE: &str = "keys.env";

/// The longest key in bytes; real ones have about a hundred.
pub const LONGEST: usize = 1024;

/// The part of the variables' names that is this program's.
pub const PROGRAM: &str = "hermitcrab";

/// Adds the keys of the file, if there is one, to those that the program knows.
pub fn read(data: &DataDir, session: &mut Session) -> Result<(), Failure> {
    let KeyFile(path) = KeyFile::of(data);
    match plain_file::is_there(&path) {
        Ok(true) if path.is_file() => session.read_key_file(&path),
        Err(source) if source.kind() == io::ErrorKind::Other => {
            Err(Error::Read { path, source }.failure())
        }
        // What is wrong with the folder, the blocks say.
        _ => Ok(()),
    }
}

/// The file of keys, which need not be there.
pub struct KeyFile(PathBuf);

impl KeyFile {
    pub fn of(data: &DataDir) -> Self {
        Self(data.path().join(FILE))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The keys by their variables. What is no line of this program is left out.
    pub fn read(&self) -> Result<BTreeMap<String, SecretString>, Error> {
        let text = plain_file::read_text(&self.0).map_err(|source| Error::Read {
            path: self.0.clone(),
            source,
        })?;
        Ok(text.map_or_else(BTreeMap::new, |text| EnvFile::parse(&text).variables))
    }

    /// Puts the file in its place in one step, with mode 0600.
    pub fn write(&self, keys: &BTreeMap<String, SecretString>) -> Result<(), Error> {
        let failed = |source| Error::Write {
            path: self.0.clone(),
            source,
        };
        let folder = self.0.parent().unwrap_or(Path::new("."));
        private_folder(folder).map_err(failed)?;
        let staged = Disk::private(".keys-").stage(&self.0).map_err(failed)?;
        for (name, key) in keys {
            writeln!(staged.file(), "{name}='{}'", key.expose_secret()).map_err(failed)?;
        }
        staged.keep().map_err(failed)
    }

    /// Removes the file; returns whether there was one.
    pub fn remove(&self) -> Result<bool, Error> {
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(Error::Write {
                path: self.0.clone(),
                source,
            }),
        }
    }

    #[cfg(unix)]
    pub fn is_readable_by_others(&self) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(&self.0).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    }

    /// The folder of a user's data is that user's own here.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the same call on every system")]
    pub fn is_readable_by_others(&self) -> bool {
        false
    }
}

/// Makes a folder that only this user can enter; one that is there stays as it is.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether it can be a key, and stand between quotes.
pub fn check(key: &str) -> Result<(), Error> {
    let why = if key.is_empty() {
        "it is empty"
    } else if key.len() > LONGEST {
        "it is longer than 1,024 characters"
    } else if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        "it has white space, or characters that no key has"
    } else if key.contains(['\'', '\\']) {
        "it has a quote or a backslash"
    } else {
        return Ok(());
    };
    Err(Error::BadKey { why })
}
