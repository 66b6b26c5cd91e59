use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::workspace::Workspace;

/// The time limit of the installer.
const LIMIT: Duration = Duration::from_mins(3);
const POLL: Duration = Duration::from_millis(100);

/// The files of React, below its folder.
const FILES: [&str; 2] = ["react.production.min.js", "react-dom.production.min.js"];

/// Fetches React for the browser tests, once, by the program's own installer. The reason if it is not there afterwards.
pub fn provide(workspace: &Workspace) -> Option<String> {
    let data = workspace.target.join("react");
    let is_there = || {
        let folder = data.join("runtime/react-18.3.1");
        FILES.iter().all(|file| folder.join(file).is_file())
    };
    if is_there() {
        return None;
    }
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
            Ok(Some(_)) if is_there() => return None,
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
