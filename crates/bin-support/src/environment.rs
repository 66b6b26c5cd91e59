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

/// Sets the variables of the file at `path` that the environment does not have yet.
pub(crate) fn load_file(path: PathBuf) -> Result<(), Error> {
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
