//! React itself for tests, as `cargo xtask test` fetched it.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a skipped test says why, and CI may forbid to skip"
)]

use std::path::{Path, PathBuf};

use hermitcrab_face::Runtime;
use test_support::browser::{self, Browser};

/// React, if it was fetched into `target/react`. If not, a line says so, unless `ORRERY_REACT` is `required`.
pub fn kept_react() -> Option<Runtime> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = target.unwrap_or_else(|| workspace.join("target"));
    let folder = workspace.join(target).join("react");
    let react = Runtime::kept_react(&folder);
    if react.is_none() {
        let missing = format!(
            "React is not in {}: cargo xtask test fetches it",
            folder.display()
        );
        let must = std::env::var_os("ORRERY_REACT").is_some_and(|value| value == "required");
        assert!(!must, "{missing}");
        eprintln!("skipped, no React: {missing}");
    }
    react
}

/// React, or the built-in runtime without it.
pub fn best() -> Runtime {
    kept_react().unwrap_or_else(Runtime::builtin)
}

/// Runs a test on the built-in runtime.
pub fn on_builtin(test: impl AsyncFnOnce(&Browser, &Runtime)) {
    browser::run(async |browser| test(browser, &Runtime::builtin()).await);
}

/// Runs a test on React, if it is there.
pub fn on_react(test: impl AsyncFnOnce(&Browser, &Runtime)) {
    let Some(react) = kept_react() else { return };
    browser::run(async |browser| test(browser, &react).await);
}

/// Each of these functions as a test on the built-in runtime, and as another one on React.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod builtin {
            $(#[test] fn $name() { crate::face::react::on_builtin(super::$name); })+
        }
        mod react {
            $(#[test] fn $name() { crate::face::react::on_react(super::$name); })+
        }
    };
}
pub(crate) use on_both;
