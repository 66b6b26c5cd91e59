//! A server: its folder, its process, and the shell that ends it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use super::database::Database;
use super::programs::PostgresPrograms;

/// The limit for a start, with the recovery after a crash.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most bytes of the path of a socket's folder that every system takes.
const LONGEST: usize = 80;

/// Ends the server, at once, when its stdin says `keep` or ends: then the process that has the other end is gone, and the folder
/// goes, too.
const KEEPER: &str = r#""$@" <&- & server=$!
read -r word
kill -QUIT "$server" 2> /dev/null
wait "$server"
[ "$word" = keep ] || { cd / && rm -rf "$0"; }"#;

/// A running server on a Unix socket, which trusts everyone who can reach it. It is stopped, and its folder removed, when this is
/// dropped or the process ends.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    postgres: std::path::PathBuf,
    user: Option<(u32, u32)>,
    is_durable: bool,
    process: Option<Keeper>,
}

/// The shell that ends a server.
#[derive(Debug)]
struct Keeper {
    process: Child,
    stdin: Option<ChildStdin>,
}

impl Server {
    /// Makes a cluster in a new folder and starts it. A durable one writes to the disk before it says so.
    pub(super) fn start(programs: &PostgresPrograms, is_durable: bool) -> Self {
        let parent = std::env::temp_dir();
        let is_short = parent.as_os_str().len() < LONGEST - 20;
        let parent = if is_short {
            parent.as_path()
        } else {
            Path::new("/tmp")
        };
        let folder = tempfile::Builder::new()
            .prefix("orrery-pg-")
            .tempdir_in(parent);
        let folder = folder.unwrap();
        let user = unprivileged(folder.path());
        if let Some((uid, gid)) = user {
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let mut server = Self {
            folder,
            postgres: programs.postgres(),
            user,
            is_durable,
            process: None,
        };
        let mut initdb = server.command(&programs.initdb());
        initdb.args([
            "-D",
            "data",
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        let output = initdb.stdin(Stdio::null()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "initdb: {errors}");
        server.begin();
        server
    }

    /// The address of the database `postgres`.
    pub fn url(&self) -> String {
        format!(
            "postgres://postgres@localhost/postgres?host={}",
            self.folder.path().display()
        )
    }

    /// The folder that holds the socket `.s.PGSQL.5432`.
    pub fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a database, which must be dropped before the server.
    pub fn database(&self) -> Database {
        Database::create(&self.url())
    }

    /// Ends the server at once, as a crash of it would. Its sessions are cut off.
    pub fn crash(&mut self) {
        if let Some(mut keeper) = self.process.take() {
            let stdin = keeper.stdin.as_mut().unwrap();
            stdin.write_all(b"keep\n").unwrap();
        }
    }

    /// Starts the server again after a crash; returns when it accepts connections.
    pub fn begin(&mut self) {
        self.begin_with(&[]);
    }

    /// The same with settings of the server, such as `ssl=on`, which win over those of the tests.
    pub(super) fn begin_with(&mut self, settings: &[&str]) {
        let folder = self.folder.path().display().to_string();
        let sync = if self.is_durable {
            "fsync=on"
        } else {
            "fsync=off"
        };
        let mut command = self.command(Path::new("/bin/sh"));
        command.args(["-c", KEEPER, &folder]).arg(&self.postgres);
        command.args([
            "-D",
            "data",
            "-k",
            &folder,
            "-c",
            "listen_addresses=",
            "-p",
            "5432",
        ]);
        let usual = [
            sync,
            "max_connections=400",
            "shared_buffers=32MB",
            "log_min_messages=log",
        ];
        for setting in usual.iter().chain(settings) {
            command.args(["-c", setting]);
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take();
        let log = process.stderr.take().unwrap();
        self.process = Some(Keeper { process, stdin });
        wait_for_start(log);
    }

    /// Crashes the server and starts it again.
    pub fn restart(&mut self) {
        self.crash();
        self.begin();
    }

    /// A program that runs in the folder, and never as root.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path());
        command
            .env_remove("PGDATA")
            .env_remove("PGPORT")
            .env_remove("PGHOST");
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        command
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stdin = None;
        let _reaped = self.process.wait();
    }
}

/// Waits until the log says that connections are accepted, and reads the rest of it, which no one needs, in another thread.
fn wait_for_start(log: ChildStderr) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            let _unheard = sender.send(line);
        }
    });
    let mut said = String::new();
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(line) if line.contains("is ready to accept connections") => return,
            Ok(line) => said = said + &line + "\n",
            Err(error) => panic!("the server did not start ({error}):\n{said}"),
        }
    }
}

/// The user and group to run the server as, if the tests are run by root: `postgres`, else `nobody`.
fn unprivileged(own: &Path) -> Option<(u32, u32)> {
    if own.metadata().unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let is_named = fields.next() == Some(name);
            let (uid, gid) = (fields.nth(1)?, fields.next()?);
            is_named.then_some((uid.parse().ok()?, gid.parse().ok()?))
        })
    };
    Some(
        find("postgres")
            .or_else(|| find("nobody"))
            .unwrap_or((65_534, 65_534)),
    )
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use crate::postgres::{Database, server};

    fn count(url: &str) -> i64 {
        Database::query(
            url,
            "SELECT count(*) FROM pg_database WHERE datname LIKE 'test_%'",
        )
    }

    #[test]
    fn a_database_is_gone_with_its_test_and_a_server_with_its_owner() {
        let Some(mut server) = server() else { return };
        let folder = server.socket_folder().to_owned();
        let database = server.database();
        assert_eq!(count(&server.url()), 1);
        Database::query(database.url(), "SELECT 1::bigint");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _second = server.database();
            panic!("as a test does");
        }));
        assert!(panicked.is_err());
        assert_eq!(count(&server.url()), 1);
        server.restart();
        assert_eq!(count(&server.url()), 1);
        drop(database);
        assert_eq!(count(&server.url()), 0);
        assert!(folder.join(".s.PGSQL.5432").exists());
        drop(server);
        assert!(!folder.exists());
    }
}
