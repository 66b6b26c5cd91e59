//! The file of the data directory that holds keys.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bin_support::environment::EnvFile;
use bin_support::model::ProviderName;
use bin_support::{Failure, Session};
use clap::ValueEnum as _;
use durable::Disk;
use secrecy::{ExposeSecret as _, SecretString};

use crate::data_dir::DataDir;
use crate::error::Error;
use crate::plain_file;

/// The name of the file. It has one `NAME='key'` a line, as a `.env` has. No export contains it.
const FILE: &str = "keys.env";

/// The longest key in bytes. Real keys have about 100.
pub const LONGEST: usize = 1024;

/// The name of this program, from which the names of its variables are made.
pub const PROGRAM: &str = "hermitcrab";

/// The programs that ask models, each with a variable for a key.
const PROGRAMS: [&str; 4] = [PROGRAM, "popper", "zer0gravity", "logosphere"];

/// Returns the variables for keys of model providers, which no other program gets.
pub fn key_variables() -> Vec<String> {
    let providers = ProviderName::value_variants().iter();
    let mut names: Vec<_> = providers
        .flat_map(|provider| PROGRAMS.map(|program| provider.key_variables(program)))
        .flatten()
        .collect();
    names.push("LOGOSPHERE_EMBED_API_KEY".to_owned());
    names.sort();
    names.dedup();
    names
}

/// Adds the keys of the file, if it exists, to those of the session.
pub fn read(data: &DataDir, session: &mut Session) -> Result<(), Failure> {
    let KeyFile(path) = KeyFile::of(data);
    match plain_file::is_there(&path) {
        Ok(true) if path.is_file() => session.read_key_file(&path),
        Err(source) if source.kind() == io::ErrorKind::Other => {
            Err(Error::Read { path, source }.failure())
        }
        // Opening the blocks reports a problem of the folder.
        _ => Ok(()),
    }
}

/// The file of keys, which may not exist.
pub struct KeyFile(PathBuf);

impl KeyFile {
    pub fn of(data: &DataDir) -> Self {
        Self(data.path().join(FILE))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Reads the keys by their variables. Lines in another form are left out.
    pub fn read(&self) -> Result<BTreeMap<String, SecretString>, Error> {
        let text = plain_file::read_text(&self.0).map_err(|source| Error::Read {
            path: self.0.clone(),
            source,
        })?;
        Ok(text.map_or_else(BTreeMap::new, |text| EnvFile::parse(&text).variables))
    }

    /// Replaces the file in one step, with mode 0600.
    pub fn write(&self, keys: &BTreeMap<String, SecretString>) -> Result<(), Error> {
        let failed = |source| Error::Write {
            path: self.0.clone(),
            source,
        };
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let disk = Disk::private(".keys-");
        disk.make_folder(folder).map_err(failed)?;
        let staged = disk.stage(&self.0).map_err(failed)?;
        for (name, key) in keys {
            writeln!(staged.file(), "{name}='{}'", key.expose_secret()).map_err(failed)?;
        }
        staged.keep().map_err(failed)
    }

    /// Removes the file and returns whether it existed.
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

    /// Returns `false`: on this system only the user can read the folder of the user's data.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the same call on every system")]
    pub fn is_readable_by_others(&self) -> bool {
        false
    }
}

/// Checks that a text can be a key and can be written between quotes.
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
