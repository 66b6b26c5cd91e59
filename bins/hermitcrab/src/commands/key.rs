//! `key`: stores the key of a provider in a separate file.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;

use bin_support::environment::Environment;
use bin_support::model::ProviderName;
use bin_support::{Exit, Failure, Results, Session};
use clap::ValueEnum as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;

use crate::answer::{Answer, print_answer};
use crate::data_dir::DataDir;
use crate::error::{Error, name};
use crate::key_file::{KeyFile, LONGEST, PROGRAM, check};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab key status
  hermitcrab key set --file < key.txt
  hermitcrab key clear";

#[derive(Debug, clap::Args)]
pub struct KeyArgs {
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: KeyCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum KeyCommand {
    /// Store a key from stdin, or one typed and not shown
    #[command(after_help = "Examples:\n  hermitcrab key set --file < key.txt")]
    Set(KeySetArgs),
    /// Delete the stored keys
    #[command(after_help = "Examples:\n  hermitcrab key clear")]
    Clear,
    /// Print where keys are found, without the keys
    #[command(after_help = "Examples:\n  hermitcrab key status")]
    Status,
}

#[derive(Debug, clap::Args)]
pub struct KeySetArgs {
    /// Store the key in a file of the data directory that only this user can read. Exports leave it out.
    #[arg(long)]
    pub file: bool,
    /// Provider of the key.
    #[arg(long, value_enum, value_name = "PROVIDER", default_value_t = ProviderName::Anthropic)]
    pub provider: ProviderName,
    /// A key that was typed by mistake. The command refuses it and does not repeat it.
    #[arg(hide = true, allow_hyphen_values = true)]
    pub typed: Option<String>,
}

pub fn execute(args: &KeyArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let file = KeyFile::of(data);
    match &args.command {
        KeyCommand::Set(set) => print_answer(args.json, keep(set, &file), session),
        KeyCommand::Clear => print_answer(args.json, clear(&file), session),
        KeyCommand::Status => print_answer(args.json, status(&file, &session.environment), session),
    }
}

/// The change of the file of keys.
#[derive(Serialize)]
#[serde(tag = "done", rename_all = "snake_case")]
enum KeyChange {
    /// The file contains a new key.
    Stored {
        /// The environment variable in whose place the key is used.
        variable: String,
        file: PathBuf,
    },
    /// The file was deleted.
    Cleared { file: PathBuf },
    /// There was no file.
    Nothing { file: PathBuf },
}

fn keep(args: &KeySetArgs, file: &KeyFile) -> Result<KeyChange, Error> {
    if args.typed.is_some() {
        return Err(Error::KeyTyped);
    }
    if args.provider == ProviderName::Offline {
        return Err(Error::KeyForOffline);
    }
    let variable = variable_of(args.provider).ok_or(Error::KeyForOwnServer)?;
    if !args.file {
        return Err(Error::NoKeyring { variable });
    }
    let key = ask(args.provider)?;
    check(key.expose_secret())?;
    let mut keys = file.read()?;
    keys.insert(variable.clone(), key);
    file.write(&keys)?;
    Ok(KeyChange::Stored {
        variable,
        file: file.path().to_owned(),
    })
}

fn clear(file: &KeyFile) -> Result<KeyChange, Error> {
    let is_removed = file.remove()?;
    let file = file.path().to_owned();
    Ok(if is_removed {
        KeyChange::Cleared { file }
    } else {
        KeyChange::Nothing { file }
    })
}

/// Returns the variable for the key of this provider alone.
///
/// The variable of the program is not used here: its key would be sent to the provider of the next command.
fn variable_of(provider: ProviderName) -> Option<String> {
    let mut variables = provider.key_variables(PROGRAM);
    let own = variables.pop();
    own.filter(|_| !variables.is_empty())
}

/// Reads a key from the terminal without showing it, or from a pipe.
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

/// The sources of all keys.
#[derive(Serialize)]
struct KeyStatus {
    /// A row for each provider that needs a key.
    keys: Vec<ProviderKeyStatus>,
    file: PathBuf,
    /// Whether other users of this machine can read the file.
    readable_by_others: bool,
}

/// The sources of a provider's key.
#[derive(Serialize)]
struct ProviderKeyStatus {
    provider: &'static str,
    /// The variables that may contain it. The first one that is set is used.
    variables: Vec<String>,
    /// The variables that the environment or a `.env` sets. They are used before the file.
    set: Vec<String>,
    /// Whether the file contains a key of this provider.
    in_file: bool,
}

fn status(file: &KeyFile, environment: &Environment) -> Result<KeyStatus, Error> {
    let kept = file.read()?;
    let providers = ProviderName::value_variants().iter();
    let keys = providers.filter_map(|provider| {
        let variables = provider.key_variables(PROGRAM);
        // A provider without a variable of its name needs no key.
        (variables.len() > 1).then(|| ProviderKeyStatus {
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
    Ok(KeyStatus {
        keys: keys.collect(),
        readable_by_others: file.is_readable_by_others(),
        file: file.path().to_owned(),
    })
}

impl Answer for KeyChange {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        match self {
            Self::Stored { variable, file } => {
                writeln!(out, "{variable} is kept in {}", name(file))
            }
            Self::Cleared { file } => writeln!(out, "{} is gone", name(file)),
            Self::Nothing { file } => {
                writeln!(out, "no key was kept in {}", name(file))
            }
        }
    }
}

impl Answer for KeyStatus {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        for key in &self.keys {
            let place = match (key.set.first(), key.in_file) {
                (Some(variable), _) => format!("{variable} is set"),
                (None, true) => format!("in {}", name(&self.file)),
                (None, false) => format!("none; set {}", key.variables.join(" or ")),
            };
            writeln!(out, "{:<10}  {place}", key.provider)?;
        }
        Ok(())
    }

    fn notices(&self) -> Vec<String> {
        let file = name(&self.file);
        let warning = format!("{file} can be read by others on this machine; `chmod 600` it");
        self.readable_by_others
            .then_some(warning)
            .into_iter()
            .collect()
    }
}
