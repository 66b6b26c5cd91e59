use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Error;

/// Sets the variables of the nearest `.env` at or above `start` that the environment does not have yet.
pub(crate) fn load(start: &Path) -> Result<(), Error> {
    let Some(path) = start
        .ancestors()
        .map(|folder| folder.join(".env"))
        .find(|path| path.is_file())
    else {
        return Ok(());
    };
    load_file(path)
}

/// Sets the variables of the file at `path` that the environment does not have yet, as `.env` does.
///
/// # Errors
/// It cannot be read, or a line is no `NAME=value`.
pub fn load_file(path: PathBuf) -> Result<(), Error> {
    match dotenvy::from_path(&path) {
        Ok(()) => Ok(()),
        Err(dotenvy::Error::Io(source)) => Err(Error::EnvFileUnreadable { path, source }),
        Err(dotenvy::Error::LineParse(_, index)) => Err(Error::EnvFileMalformed {
            path,
            column: index + 1,
        }),
        Err(_) => Err(Error::EnvFileMalformed { path, column: 1 }),
    }
}

/// Whether the variable `name` is set, and not to nothing. A `.env` counts.
pub fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| !value.is_empty())
}

/// Where programs of this user keep their data; each has a folder of its own name there. None if the environment does
/// not say.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' environment is read"
)]
pub fn data_folder() -> Option<PathBuf> {
    data_folder_of(std::env::consts::OS, |name| std::env::var_os(name))
}

/// What is relative depends on where the program is started, so it does not count.
fn data_folder_of(system: &str, get: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| {
        let path = get(name).map(PathBuf::from);
        path.filter(|path| path.has_root())
    };
    match system {
        "windows" => folder("APPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        _ => {
            folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
        }
    }
}

/// The variable `name`; what is not Unicode is shown so that whoever checks the value refuses it.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' environment is read"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "these tests are about the environment"
)]
mod tests {
    use std::fs;

    use super::*;

    /// A fresh folder `NAME/inner` with `text` in `NAME/.env`; gives the inner one.
    fn folder(name: &str, text: &str) -> PathBuf {
        let outer = std::env::temp_dir().join(format!("orrery-{}-{name}", std::process::id()));
        let inner = outer.join("inner");
        fs::create_dir_all(&inner).unwrap();
        fs::write(outer.join(".env"), text).unwrap();
        inner
    }

    #[test]
    fn the_nearest_file_upwards_fills_what_is_not_set_and_never_overrides() {
        let inner = folder("load", "ORRERY_TEST_FROM_FILE=file\nPATH=file\n");
        let path_before = std::env::var("PATH").unwrap();
        load(&inner).unwrap();
        fs::remove_dir_all(inner.parent().unwrap()).unwrap();
        assert_eq!(
            std::env::var("ORRERY_TEST_FROM_FILE").as_deref(),
            Ok("file")
        );
        assert_eq!(std::env::var("PATH"), Ok(path_before));
    }

    #[test]
    fn data_go_where_the_system_has_them() {
        let all = [("HOME", "/h"), ("XDG_DATA_HOME", "/x"), ("APPDATA", "/a")];
        let only_home = [("HOME", "/h"), ("XDG_DATA_HOME", "x"), ("APPDATA", "")];
        let folder = |system, variables: [(&str, &str); 3]| {
            let get = |name: &str| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| OsString::from(value))
            };
            data_folder_of(system, get).map(|path| path.to_str().unwrap().to_owned())
        };
        let is = |path: &str| Some(path.to_owned());
        assert_eq!(folder("linux", all), is("/x"));
        assert_eq!(folder("linux", only_home), is("/h/.local/share"));
        assert_eq!(folder("macos", all), is("/h/Library/Application Support"));
        assert_eq!(folder("windows", all), is("/a"));
        assert_eq!(folder("windows", only_home), None);
    }

    #[test]
    fn a_malformed_line_is_an_error_that_does_not_show_it() {
        let inner = folder("malformed", "sk-secret and more\n");
        let error = load(&inner).unwrap_err();
        fs::remove_dir_all(inner.parent().unwrap()).unwrap();
        assert!(matches!(error, Error::EnvFileMalformed { .. }), "{error:?}");
        assert!(
            !format!("{error} {error:?}").contains("secret"),
            "{error:?}"
        );
    }
}
