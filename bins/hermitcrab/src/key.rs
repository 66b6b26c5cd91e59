//! `key`: the key that a model is asked with, kept in a file of its own.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::path::{Path, PathBuf};

use bin_support::environment::{EnvFile, Environment};
use bin_support::model::ProviderName;
use bin_support::{Exit, Failure, Session};
use clap::ValueEnum as _;
use durable::Disk;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;

use crate::answer::{Answer, give};
use crate::cli::{self, KeyCommand};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::plain_file;

/// The file, one `NAME='key'` a line as in a `.env`. It is no part of any export.
pub const FILE: &str = "keys.env";

/// The longest key in bytes; real ones have about a hundred.
const LONGEST: usize = 1024;

/// The part of the variables' names that is this program's.
pub const PROGRAM: &str = "hermitcrab";

pub fn execute(args: &cli::Key, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let file = KeyFile(data.path().join(FILE));
    match &args.command {
        KeyCommand::Set(set) => give(args.json, keep(set, &file), session),
        KeyCommand::Clear => give(args.json, file.clear(), session),
        KeyCommand::Status => give(args.json, status(&file, &session.environment), session),
    }
}

/// Adds the keys of the file, if there is one, to those that the program knows.
pub fn read(data: &DataDir, session: &mut Session) -> Result<(), Failure> {
    let path = data.path().join(FILE);
    match plain_file::is_there(&path) {
        Ok(true) if path.is_file() => session.read_key_file(&path),
        Err(source) if source.kind() == io::ErrorKind::Other => {
            Err(Error::Read { path, source }.failure())
        }
        // What is wrong with the folder, the blocks say.
        _ => Ok(()),
    }
}

/// What became of the file of keys.
#[derive(Serialize)]
#[serde(tag = "done", rename_all = "snake_case")]
enum Kept {
    /// A key is in it.
    Stored {
        /// The variable that the key stands for.
        variable: String,
        file: PathBuf,
    },
    /// It is gone.
    Cleared { file: PathBuf },
    /// There was none.
    Nothing { file: PathBuf },
}

fn keep(args: &cli::KeySet, file: &KeyFile) -> Result<Kept, Error> {
    if args.typed.is_some() {
        return Err(Error::KeyTyped);
    }
    if args.provider == ProviderName::Offline {
        return Err(Error::KeyOfNobody);
    }
    let variable = variable_of(args.provider).ok_or(Error::KeyOfOwnServer)?;
    if !args.file {
        return Err(Error::NoKeyring { variable });
    }
    let key = ask(args.provider)?;
    check(key.expose_secret())?;
    let mut keys = file.read()?;
    keys.insert(variable.clone(), key);
    file.write(&keys)?;
    Ok(Kept::Stored {
        variable,
        file: file.0.clone(),
    })
}

/// The variable for a provider's own key. The program's would be sent to whichever provider is asked next.
fn variable_of(provider: ProviderName) -> Option<String> {
    let mut variables = provider.key_variables(PROGRAM);
    let own = variables.pop();
    own.filter(|_| !variables.is_empty())
}

/// From the person without showing it, or from a pipe.
fn ask(provider: ProviderName) -> Result<SecretString, Error> {
    let stdin = |source| Error::Read {
        path: PathBuf::from("stdin"),
        source,
    };
    if io::stdin().is_terminal() {
        let prompt = format!("key for {provider} (not shown): ");
        return rpassword::prompt_password(prompt)
            .map(SecretString::from)
            .map_err(stdin);
    }
    let mut text = String::new();
    let mut pipe = io::stdin().take(LONGEST as u64 + 3);
    pipe.read_to_string(&mut text).map_err(stdin)?;
    Ok(SecretString::from(text.trim_end_matches(['\r', '\n'])))
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

/// Where keys are found.
#[derive(Serialize)]
struct Status {
    /// For each provider that takes a key.
    keys: Vec<KeyStatus>,
    file: PathBuf,
    /// Whether others on this machine can read the file.
    readable_by_others: bool,
}

/// Where a provider's key is found.
#[derive(Serialize)]
struct KeyStatus {
    provider: &'static str,
    /// The variables that may hold it; the first that is set wins.
    variables: Vec<String>,
    /// Those of them that the environment or a `.env` sets. They win over the file.
    set: Vec<String>,
    /// Whether the file has one.
    in_file: bool,
}

fn status(file: &KeyFile, environment: &Environment) -> Result<Status, Error> {
    let kept = file.read()?;
    let providers = ProviderName::value_variants().iter();
    let keys = providers.filter_map(|provider| {
        let variables = provider.key_variables(PROGRAM);
        // The others need no key.
        (variables.len() > 1).then(|| KeyStatus {
            provider: provider.as_str(),
            set: variables
                .iter()
                .filter(|name| environment.is_set(name))
                .cloned()
                .collect(),
            in_file: variables.iter().any(|name| kept.contains_key(name)),
            variables,
        })
    });
    Ok(Status {
        keys: keys.collect(),
        readable_by_others: file.is_readable_by_others(),
        file: file.0.clone(),
    })
}

/// The file of keys, which need not be there.
struct KeyFile(PathBuf);

impl KeyFile {
    /// The keys by their variables. What is no line of this program is left out.
    fn read(&self) -> Result<BTreeMap<String, SecretString>, Error> {
        let text = plain_file::read_text(&self.0).map_err(|source| Error::Read {
            path: self.0.clone(),
            source,
        })?;
        Ok(text.map_or_else(BTreeMap::new, |text| EnvFile::parse(&text).variables))
    }

    /// Puts the file in its place in one step, with mode 0600.
    fn write(&self, keys: &BTreeMap<String, SecretString>) -> Result<(), Error> {
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

    fn clear(&self) -> Result<Kept, Error> {
        let file = self.0.clone();
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(Kept::Cleared { file }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Kept::Nothing { file }),
            Err(source) => Err(Error::Write { path: file, source }),
        }
    }

    #[cfg(unix)]
    fn is_readable_by_others(&self) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(&self.0).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    }

    /// The folder of a user's data is that user's own here.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the same call on every system")]
    fn is_readable_by_others(&self) -> bool {
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

impl Answer for Kept {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Stored { variable, file } => {
                writeln!(out, "{variable} is kept in {}", crate::error::name(file))
            }
            Self::Cleared { file } => writeln!(out, "{} is gone", crate::error::name(file)),
            Self::Nothing { file } => {
                writeln!(out, "no key was kept in {}", crate::error::name(file))
            }
        }
    }
}

impl Answer for Status {
    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        for key in &self.keys {
            let place = match (key.set.first(), key.in_file) {
                (Some(variable), _) => format!("{variable} is set"),
                (None, true) => format!("in {}", crate::error::name(&self.file)),
                (None, false) => format!("none; set {}", key.variables.join(" or ")),
            };
            writeln!(out, "{:<10}  {place}", key.provider)?;
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        let file = crate::error::name(&self.file);
        let warning = format!("{file} can be read by others on this machine; `chmod 600` it");
        self.readable_by_others
            .then_some(warning)
            .into_iter()
            .collect()
    }
}
