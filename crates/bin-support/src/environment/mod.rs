//! The variables of a program, from the environment and from files.

mod child;
mod data_folder;
mod env_file;
mod host;
mod origin;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use crate::Error;

pub use self::child::child_environment;
pub use self::data_folder::data_folder;
pub use self::env_file::EnvFile;
pub use self::host::host_name;
pub use self::origin::Origin;

/// The variable that sets another address for Anthropic.
pub(crate) const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// The variables that every file may set, in addition to names that begin with [`OURS`].
const KEYS: [&str; 8] = [
    "POPPER_API_KEY",
    "ZER0GRAVITY_API_KEY",
    "LOGOSPHERE_API_KEY",
    "LOGOSPHERE_EMBED_API_KEY",
    "HERMITCRAB_API_KEY",
    "ANTHROPIC_API_KEY",
    "OPENROUTER_API_KEY",
    "OPENAI_API_KEY",
];
const OURS: &str = "ORRERY_";

/// The maximum number of malformed lines of one file that are reported.
const NAMED: usize = 10;

/// A value and its source.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub value: SecretString,
    pub origin: Origin,
}

/// The variables of a program: those of the process, then those of files.
///
/// Every value keeps its origin, and no file changes the environment of the process.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The files in the order of lookup.
    files: Vec<(Origin, BTreeMap<String, SecretString>)>,
}

impl Environment {
    /// Loads the file of `--env-file`, or else the `.env` found from the working directory upwards. Also returns notices for the
    /// user, one line each.
    ///
    /// # Errors
    /// The file of `--env-file` cannot be read, or has a line that is not `NAME=value`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the working directory is where the search for `.env` starts"
    )]
    pub(crate) fn load(env_file: Option<&Path>) -> Result<(Self, Vec<String>), Error> {
        let mut environment = Self::default();
        let notices = if let Some(file) = env_file {
            environment.add(Origin::Given(file.to_owned()), checked(file)?)
        } else {
            let start = std::env::current_dir().and_then(|folder| folder.canonicalize());
            let home = real_variable("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
            // Without a working directory there is no place to search from.
            let folder = start.ok().and_then(|start| find(&start, home.as_deref()));
            folder.map_or_else(Vec::new, |folder| environment.add_found(folder))
        };
        Ok((environment, notices))
    }

    /// Adds the keys of a program's key file; keys that are already set stay. Returns notices for the user.
    ///
    /// # Errors
    /// The file cannot be read, or has a line that is not `NAME=value`.
    pub(crate) fn add_key_file(&mut self, file: &Path) -> Result<Vec<String>, Error> {
        Ok(self.add(Origin::KeyFile, checked(file)?))
    }

    fn add_found(&mut self, folder: PathBuf) -> Vec<String> {
        let text = read_found(&folder.join(".env"));
        let origin = Origin::Found(folder);
        match text {
            Ok(text) => self.add(origin, EnvFile::parse(&text)),
            Err(why) => vec![format!("{origin}: ignored, {why}")],
        }
    }

    /// Keeps the names that such a file may set; a notice lists the others that have a value.
    fn add(&mut self, origin: Origin, file: EnvFile) -> Vec<String> {
        let mut notices: Vec<_> = (file.bad_lines.iter().take(NAMED))
            .map(|line| format!("{origin}: line {line} is not NAME=value, ignored"))
            .collect();
        let more = file.bad_lines.len().saturating_sub(NAMED);
        if more > 0 {
            notices.push(format!("{origin}: {more} more lines like these, ignored"));
        }
        let addresses = matches!(origin, Origin::Given(_));
        let counts = |name: &str| {
            KEYS.contains(&name) || name.starts_with(OURS) || addresses && name == BASE_URL
        };
        let given =
            (file.variables.into_iter()).filter(|(_, value)| !value.expose_secret().is_empty());
        let (kept, ignored): (BTreeMap<_, _>, BTreeMap<_, _>) =
            given.partition(|(name, _)| counts(name));
        if !ignored.is_empty() {
            let names: Vec<_> = ignored.keys().map(String::as_str).collect();
            let rule = match origin {
                Origin::Found(_) => {
                    "a file that was found gives keys only; --env-file FILE takes addresses too"
                }
                Origin::Given(_) => "such a file gives keys and ANTHROPIC_BASE_URL only",
                _ => "such a file gives keys only",
            };
            notices.push(format!("{origin}: ignored {} ({rule})", names.join(", ")));
        }
        self.files.push((origin, kept));
        notices
    }

    /// The text of the variable `name`, for one that may hold a password; an empty one counts as absent.
    pub fn value(&self, name: &str) -> Option<String> {
        let variable = self.get(name)?;
        Some(variable.value.expose_secret().to_owned())
    }

    /// Whether the variable `name` is set, here or in a file, and not empty.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The variable `name`; an empty one counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<Variable> {
        self.get_after(real_variable(name), name)
    }

    fn get_after(&self, real: Option<String>, name: &str) -> Option<Variable> {
        if let Some(value) = real.filter(|value| !value.is_empty()) {
            return Some(Variable {
                value: value.into(),
                origin: Origin::Environment,
            });
        }
        self.files.iter().find_map(|(origin, variables)| {
            Some(Variable {
                value: variables.get(name)?.clone(),
                origin: origin.clone(),
            })
        })
    }
}

/// The variable `name` of the process. Invalid Unicode is replaced, so that the check of the value refuses it.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' environment is read"
)]
fn real_variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Reads a file that the user named: every line must be valid.
fn checked(path: &Path) -> Result<EnvFile, Error> {
    let bytes = fs::read(path).map_err(|source| Error::EnvFileUnreadable {
        path: path.to_owned(),
        source,
    })?;
    let file = EnvFile::parse(&String::from_utf8_lossy(&bytes));
    match file.bad_lines.first() {
        None => Ok(file),
        Some(line) => Err(Error::EnvFileMalformed {
            path: path.to_owned(),
            line: *line,
        }),
    }
}

/// The nearest folder with a `.env` at or above `start`.
///
/// The search ends at the first folder that contains `.git` or is `home`. Without such a folder only `start` is searched.
fn find(start: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let is_last =
        |folder: &Path| Some(folder) == home || folder.join(".git").symlink_metadata().is_ok();
    let last = start.ancestors().position(is_last).unwrap_or(0);
    let mut folders = start.ancestors().take(last + 1);
    // Some tools keep a folder of this name.
    let has_file = |folder: &&Path| {
        let found = folder.join(".env").symlink_metadata();
        found.is_ok_and(|found| !found.is_dir())
    };
    folders.find(has_file).map(Path::to_owned)
}

/// The text of a `.env` that was found, or the reason why it is ignored.
fn read_found(path: &Path) -> Result<String, String> {
    let unreadable = |error: io::Error| format!("it cannot be read: {error}");
    let found = path.symlink_metadata().map_err(unreadable)?;
    // A link and a pipe are refused before they are opened.
    refused(&found)?;
    let mut file = File::open(path).map_err(unreadable)?;
    let opened = file.metadata().map_err(unreadable)?;
    refused(&opened)?;
    if !is_same(&found, &opened) {
        return Err("it was replaced while it was read".to_owned());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn refused(found: &fs::Metadata) -> Result<(), String> {
    match refusal(found) {
        Some(why) => Err(why.to_owned()),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn refusal(found: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    refusal_of(found.is_file(), found.uid(), found.mode(), user)
}

/// The reason why a file with this owner and mode is ignored for `user`.
#[cfg(unix)]
fn refusal_of(is_file: bool, owner: u32, mode: u32, user: u32) -> Option<&'static str> {
    const ROOT: u32 = 0;
    if !is_file {
        Some("it is not a regular file")
    } else if owner != user && owner != ROOT {
        Some("it belongs to another user")
    } else if mode & 0o022 != 0 {
        Some("others can write to it; run chmod go-w on it")
    } else {
        None
    }
}

#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn refusal(found: &fs::Metadata) -> Option<&'static str> {
    (!found.is_file()).then_some("it is not a regular file")
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these tests are about files")]
mod tests {
    use super::*;

    /// A temporary folder that contains these folders and files (`PATH=TEXT`).
    fn tree(parts: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        for part in parts {
            match part.split_once('=') {
                Some((path, text)) => {
                    let path = root.join(path);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(&path, text).unwrap();
                    own(&path, 0o600);
                }
                None => fs::create_dir_all(root.join(part)).unwrap(),
            }
        }
        (temporary, root)
    }

    #[cfg(unix)]
    fn own(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[cfg(not(unix))]
    fn own(_: &Path, _: u32) {}

    /// The value of `name` in the files alone, with its source.
    fn value(environment: &Environment, name: &str) -> Option<String> {
        let found = environment.get_after(None, name)?;
        Some(format!(
            "{} from {}",
            found.value.expose_secret(),
            found.origin
        ))
    }

    fn found(folder: &Path) -> (Environment, Vec<String>) {
        let mut environment = Environment::default();
        let notices = environment.add_found(folder.to_owned());
        (environment, notices)
    }

    #[test]
    fn the_search_ends_at_a_repository_or_at_home() {
        for (parts, home, expected) in [
            // A repository is the last folder, itself included.
            (&["a/.env=", "a/r/.git", "a/r/b/c"][..], None, None),
            (
                &["a/.env=", "a/r/.git", "a/r/.env=", "a/r/b/c"],
                None,
                Some("a/r"),
            ),
            (
                &["a/r/.git=gitdir: x", "a/r/.env=", "a/r/b/c"],
                None,
                Some("a/r"),
            ),
            // So is the home.
            (&["a/.env=", "a/r/b/c"], Some("a/r"), None),
            (
                &["a/.env=", "a/r/.env=", "a/r/b/c"],
                Some("a/r"),
                Some("a/r"),
            ),
            // The first of them counts, and the first file.
            (&["a/.env=", "a/r/b/.git", "a/r/b/c"], Some("a"), None),
            (
                &["a/r/.env=", "a/r/b/.env=", "a/r/.git", "a/r/b/c"],
                None,
                Some("a/r/b"),
            ),
            // Without any of them only the working directory counts.
            (&["a/r/b/.env=", "a/r/b/c"], None, None),
            (
                &["a/.env=", "a/r/b/c/.env="],
                Some("elsewhere"),
                Some("a/r/b/c"),
            ),
            // A folder called `.env` is passed over.
            (
                &["a/r/.git", "a/r/.env=", "a/r/b/c/.env"],
                None,
                Some("a/r"),
            ),
        ] {
            let (_kept, root) = tree(parts);
            let home = home.map(|home| root.join(home));
            let folder = find(&root.join("a/r/b/c"), home.as_deref());
            assert_eq!(
                folder,
                expected.map(|path| root.join(path)),
                "{parts:?} {home:?}"
            );
        }
    }

    #[test]
    fn a_found_file_gives_keys_only() {
        let (_kept, root) = tree(&[concat!(
            ".env=ANTHROPIC_BASE_URL=https://other.test\nSSL_CERT_FILE=ca.pem\nXDG_DATA_HOME=/other\nPATH=/x\n",
            "HTTPS_PROXY=http://p\nEMPTY=\nPOPPER_API_KEY=one\nANTHROPIC_API_KEY=\nORRERY_X=two\n"
        )]);
        let (environment, notices) = found(&root);
        let source = format!(".env in {}", root.display());
        let rule = "a file that was found gives keys only; --env-file FILE takes addresses too";
        let names = "ANTHROPIC_BASE_URL, HTTPS_PROXY, PATH, SSL_CERT_FILE, XDG_DATA_HOME";
        assert_eq!(notices, [format!("{source}: ignored {names} ({rule})")]);
        assert_eq!(
            value(&environment, "POPPER_API_KEY"),
            Some(format!("one from {source}"))
        );
        assert_eq!(
            value(&environment, "ORRERY_X"),
            Some(format!("two from {source}"))
        );
        for name in [
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_API_KEY",
            "SSL_CERT_FILE",
            "XDG_DATA_HOME",
        ] {
            assert_eq!(value(&environment, name), None, "{name}");
            assert_eq!(real_variable(name), std::env::var(name).ok(), "{name}");
        }
    }

    #[test]
    fn a_bad_line_of_a_found_file_is_told_without_its_text() {
        let (_kept, root) = tree(&[".env=A=\nPOPPER_API_KEY=one\nsk-secret and more\n"]);
        let (environment, notices) = found(&root);
        let line = format!(
            ".env in {}: line 3 is not NAME=value, ignored",
            root.display()
        );
        assert_eq!(notices, [line]);
        assert!(environment.get_after(None, "POPPER_API_KEY").is_some());
        let many = format!(".env={}", "x\n".repeat(NAMED + 7));
        let (_kept, root) = tree(&[&many]);
        let (_, notices) = found(&root);
        assert_eq!(notices.len(), NAMED + 1);
        assert!(notices[NAMED].ends_with(": 7 more lines like these, ignored"));
    }

    #[cfg(unix)]
    #[test]
    fn a_found_file_must_be_the_users_own() {
        assert_eq!(refusal_of(true, 7, 0o100_600, 7), None);
        assert_eq!(refusal_of(true, 0, 0o100_644, 7), None);
        for (facts, why) in [
            ((true, 8, 0o100_600, 7), "another user"),
            ((true, 8, 0o100_600, 0), "another user"),
            ((true, 7, 0o100_620, 7), "chmod go-w"),
            ((true, 0, 0o100_602, 7), "chmod go-w"),
            ((false, 7, 0o120_600, 7), "regular file"),
        ] {
            let (is_file, owner, mode, user) = facts;
            let refusal = refusal_of(is_file, owner, mode, user);
            assert!(refusal.is_some_and(|told| told.contains(why)), "{facts:?}");
        }
        let (_kept, root) = tree(&["real=POPPER_API_KEY=one", "link", ".env=POPPER_API_KEY=one"]);
        std::os::unix::fs::symlink(root.join("real"), root.join("link/.env")).unwrap();
        for (folder, mode, why) in [
            ("link", 0o600, "it is not a regular file"),
            ("", 0o602, "others can write to it; run chmod go-w on it"),
        ] {
            own(&root.join(".env"), mode);
            let folder = root.join(folder);
            let (environment, notices) = found(&folder);
            let line = format!("{}: ignored, {why}", Origin::Found(folder));
            assert_eq!(notices, [line]);
            assert!(environment.get_after(None, "POPPER_API_KEY").is_none());
        }
        // Only root can give a file to another user.
        own(&root.join(".env"), 0o600);
        if std::os::unix::fs::chown(root.join(".env"), Some(12_345), None).is_ok() {
            let (_, notices) = found(&root);
            assert!(
                notices[0].ends_with("it belongs to another user"),
                "{notices:?}"
            );
        }
    }

    #[test]
    fn a_given_file_takes_an_address_too_and_must_be_good() {
        let (_kept, root) = tree(&[
            "good=ANTHROPIC_BASE_URL=https://h\nOPENAI_API_KEY='k'\nLD_PRELOAD=x.so\n",
            "bad=A=1\nsk-secret and more\n",
        ]);
        let good = root.join("good");
        let (environment, notices) = Environment::load(Some(&good)).unwrap();
        let shown = good.display();
        let rule = "such a file gives keys and ANTHROPIC_BASE_URL only";
        assert_eq!(notices, [format!("{shown}: ignored LD_PRELOAD ({rule})")]);
        assert_eq!(
            value(&environment, BASE_URL),
            Some(format!("https://h from {shown}"))
        );
        let error = Environment::load(Some(&root.join("bad"))).unwrap_err();
        assert!(
            matches!(error, Error::EnvFileMalformed { line: 2, .. }),
            "{error:?}"
        );
        assert!(
            !format!("{error} {error:?}").contains("secret"),
            "{error:?}"
        );
        assert!(Environment::load(Some(&root.join("none"))).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn the_null_device_is_a_file_without_variables() {
        let (environment, notices) = Environment::load(Some(Path::new("/dev/null"))).unwrap();
        assert_eq!(notices, [""; 0]);
        assert!(environment.files[0].1.is_empty());
    }

    #[test]
    fn a_real_variable_wins_an_empty_one_is_absent_and_the_key_file_comes_last() {
        let (_kept, root) = tree(&[
            "given=OPENAI_API_KEY=given",
            "keys=OPENAI_API_KEY=kept\nANTHROPIC_API_KEY=kept\nANTHROPIC_BASE_URL=http://x\n",
        ]);
        let (mut environment, _) = Environment::load(Some(&root.join("given"))).unwrap();
        let notices = environment.add_key_file(&root.join("keys")).unwrap();
        let rule = "such a file gives keys only";
        assert_eq!(
            notices,
            [format!("the key file: ignored ANTHROPIC_BASE_URL ({rule})")]
        );
        let origin = |real: Option<&str>, name| {
            let found = environment.get_after(real.map(str::to_owned), name);
            found.map(|found| found.origin)
        };
        let given = Origin::Given(root.join("given"));
        assert_eq!(
            origin(Some("real"), "OPENAI_API_KEY"),
            Some(Origin::Environment)
        );
        assert_eq!(origin(Some(""), "OPENAI_API_KEY"), Some(given.clone()));
        assert_eq!(origin(None, "OPENAI_API_KEY"), Some(given));
        assert_eq!(origin(None, "ANTHROPIC_API_KEY"), Some(Origin::KeyFile));
        assert_eq!(origin(None, BASE_URL), None);
    }
}
