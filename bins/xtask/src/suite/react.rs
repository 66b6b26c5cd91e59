use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::workspace::Workspace;

/// The time limit of the installer.
const LIMIT: Duration = Duration::from_mins(3);
const POLL: Duration = Duration::from_millis(100);

/// Fetches React for the browser tests by the program's own installer, which checks what is there and installs it only if it is
/// not whole. The reason if it fails.
pub fn provide(workspace: &Workspace) -> Option<String> {
    let data = workspace.target.join("react");
    let mut command = workspace.binary("hermitcrab");
    command.args(["runtime", "fetch", "--to"]).arg(&data);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let failed = |reason: String| {
        Some(format!(
            "React could not be fetched ({reason}): the browser tests run on the built-in runtime only"
        ))
    };
    let mut process = match command.spawn() {
        Ok(process) => process,
        Err(error) => return failed(error.to_string()),
    };
    let start = Instant::now();
    loop {
        match process.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return failed(status.to_string()),
            Ok(None) if start.elapsed() < LIMIT => std::thread::sleep(POLL),
            ended => {
                let _ = process.kill();
                let _ = process.wait();
                let limit = format!("it took more than {} s", LIMIT.as_secs());
                return failed(ended.err().map_or(limit, |error| error.to_string()));
            }
        }
    }
}

/// Whether tests without React are an error.
pub fn is_required() -> bool {
    std::env::var_os("ORRERY_REACT").is_some_and(|value| value == "required")
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Torn files must not pass for React: the program looks at each of them, whatever is there.
    #[test]
    fn the_program_checks_the_files_that_are_there() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().to_owned();
        let kept = target.join("react/runtime/react-18.3.1");
        let program = target.join("debug/hermitcrab");
        for folder in [&kept, program.parent().unwrap()] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in ["react.production.min.js", "react-dom.production.min.js"] {
            fs::write(kept.join(file), "torn").unwrap();
        }
        let workspace = Workspace {
            root: target.clone(),
            target,
            packages: Vec::new(),
        };
        for (code, is_react) in [(0, true), (1, false)] {
            fs::write(
                &program,
                format!("#!/bin/sh\necho \"$@\" > asked; exit {code}\n"),
            )
            .unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(provide(&workspace).is_none(), is_react);
            let asked = fs::read_to_string(place.path().join("asked")).unwrap();
            let data = place.path().join("react");
            assert_eq!(asked, format!("runtime fetch --to {}\n", data.display()));
        }
    }
}
