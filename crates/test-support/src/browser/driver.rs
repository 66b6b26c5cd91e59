//! The two programs: found, started, and stopped together with all their children.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::skip::on_path;

/// The number of times that chromedriver is started.
const STARTS: usize = 10;

/// Chromium and the chromedriver that fits it.
pub struct Programs {
    chromium: PathBuf,
    chromedriver: PathBuf,
}

impl Programs {
    /// The programs that `ORRERY_CHROMIUM` and `ORRERY_CHROMEDRIVER` name, else those on the PATH. `Err` is a line that names
    /// the missing one.
    pub fn find() -> Result<Self, String> {
        let chromium = named(
            "ORRERY_CHROMIUM",
            &["chromium", "chromium-browser", "google-chrome"],
        )?;
        let chromedriver = named("ORRERY_CHROMEDRIVER", &["chromedriver"])?;
        match (chromium, chromedriver) {
            (Some(chromium), Some(chromedriver)) => Ok(Self {
                chromium,
                chromedriver,
            }),
            (chromium, chromedriver) => {
                let missing: Vec<_> = [(chromium, "chromium"), (chromedriver, "chromedriver")]
                    .into_iter()
                    .filter_map(|(found, name)| found.is_none().then_some(name))
                    .collect();
                Err(format!(
                    "no {} on the PATH (Debian: apt-get install chromium chromium-driver)",
                    missing.join(" and no "),
                ))
            }
        }
    }
}

/// The program that an environment variable names, else the first of `names` that is installed.
fn named(variable: &str, names: &[&str]) -> Result<Option<PathBuf>, String> {
    match std::env::var_os(variable).filter(|value| !value.is_empty()) {
        None => Ok(find(names)),
        Some(value) => {
            let program = PathBuf::from(value);
            let given = program.display();
            let missing = format!("{variable} is {given}, which is not a file");
            program.is_file().then_some(Some(program)).ok_or(missing)
        }
    }
}

fn find(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| on_path(name))
}

/// Starts chromedriver and reads its port. It takes a free port of one kind of address and ends if the same port of the
/// other kind is in use, so it is started again.
fn started(chromedriver: &Path) -> (Child, BufReader<ChildStdout>, u16) {
    let mut said = String::new();
    for _ in 0..STARTS {
        let mut process = Command::new(chromedriver)
            .arg("--port=0")
            // Any Chromium that the driver can talk to will do.
            .arg("--disable-build-check")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while output.read_line(&mut line).unwrap() > 0 {
            let port = line.split_once("successfully on port ");
            if let Some(port) =
                port.and_then(|(_, port)| port.trim().trim_end_matches('.').parse().ok())
            {
                return (process, output, port);
            }
            said.push_str(&line);
            line.clear();
        }
        process.wait().unwrap();
    }
    panic!("chromedriver ended {STARTS} times before it said its port: {said}");
}

/// A running chromedriver, and the profile of the one browser that it may start.
pub struct Driver {
    process: Child,
    /// Kept open, as a chromedriver that cannot write ends.
    _output: BufReader<ChildStdout>,
    port: u16,
    chromium: PathBuf,
    profile: TempDir,
    browser: Mutex<Option<Started>>,
}

/// The handles that stop a browser.
struct Started {
    session: String,
    process: Option<u64>,
}

impl Driver {
    pub fn start(programs: &Programs) -> Self {
        let (process, output, port) = started(&programs.chromedriver);
        Self {
            process,
            _output: output,
            port,
            chromium: programs.chromium.clone(),
            profile: tempfile::tempdir().unwrap(),
            browser: Mutex::new(None),
        }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The capabilities of a new session.
    pub fn capabilities(&self) -> Value {
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-gpu".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-quic".to_owned(),
            "--window-size=1280,800".to_owned(),
            format!("--user-data-dir={}", self.profile.path().display()),
        ];
        // Chromium's own sandbox refuses to run as root, and is not what is tested here.
        if cfg!(target_os = "linux") {
            arguments.push("--no-sandbox".to_owned());
        }
        json!({
            "browserName": "chrome",
            // Each test waits for what it needs; a frame that hangs must not hold up every command.
            "pageLoadStrategy": "none",
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "binary": self.chromium, "args": arguments },
        })
    }

    /// Stores the handles to stop.
    pub fn started(&self, session: String, process: Option<u64>) {
        *self.browser.lock().unwrap() = Some(Started { session, process });
    }

    /// Asks chromedriver to close the browser; ignores a missing answer.
    fn close(&self, session: &str) -> std::io::Result<()> {
        let patience = Some(Duration::from_secs(5));
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(patience)?;
        stream.set_write_timeout(patience)?;
        write!(
            stream,
            "DELETE /session/{session} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
            self.port
        )?;
        // It answers once the browser is closed, and keeps the connection.
        stream.read_exact(&mut [0; 12])?;
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let started = self.browser.get_mut().ok().and_then(Option::take);
        if let Some(started) = started
            && self.close(&started.session).is_err()
            && let Some(process) = started.process
        {
            // A browser that hangs: without it its own children leave too.
            let _gone = Command::new("kill")
                .args(["-KILL", &process.to_string()])
                .stderr(Stdio::null())
                .status();
        }
        let _ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_chromedriver_that_gets_no_port_is_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("chromedriver");
        let text = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n[ -e again ] && echo \"was started successfully on port 12.\" && exit\n\
            touch again\necho \"port not available\"\n";
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let (mut process, _, port) = started(&program);
        process.wait().unwrap();
        assert_eq!(port, 12);
    }
}
