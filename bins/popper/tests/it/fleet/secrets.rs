//! The password of a server is shown nowhere: not in an output, not in an error, not to other users.

use std::fs;
use std::path::Path;

use test_support::postgres::{self, Server};

use super::scene::{Fleet, Process};
use crate::kill::place;
use crate::process::{fresh, words};

/// The password that the server accepts, and another.
const PASSWORD: &str = "Kn0wn-5ecret";
const WRONG: &str = "Wr0ng-5ecret";

/// Part of both.
const SECRET: &str = "5ecret";

/// A server that asks the user `keeper` for a password.
struct Guarded {
    fleet: Fleet,
    server: Server,
}

impl Guarded {
    fn new() -> Option<Self> {
        let server = postgres::server()?;
        let fleet = Fleet::on(&server, place(20));
        fleet.execute(&format!(
            "CREATE ROLE keeper LOGIN CREATEROLE PASSWORD '{PASSWORD}'; ALTER DATABASE {} OWNER TO keeper",
            fleet.name()
        ));
        let rules = "local all keeper scram-sha-256\nlocal all all trust\n";
        fs::write(server.socket_folder().join("data/pg_hba.conf"), rules).unwrap();
        fleet.number("SELECT pg_reload_conf()::int::bigint");
        let this = Self { fleet, server };
        // The rules hold for new sessions a moment later.
        loop {
            let ran = this.popper("status", &this.url("", "")).end();
            if ran.stderr.contains("password") {
                return Some(this);
            }
        }
    }

    /// The address with a password, and with something at the end of the database's name.
    fn url(&self, password: &str, end: &str) -> String {
        let name = self.fleet.name();
        let url = (self.fleet.url).replacen("postgres@", &format!("keeper:{password}@"), 1);
        url.replacen(name, &format!("{name}{end}"), 1)
    }

    /// A command with the address in the variable.
    fn popper(&self, line: &str, url: &str) -> Process {
        let mut command = fresh(self.fleet.place.path(), &words(line));
        command.env("POPPER_STORE", url);
        Process::start(&self.fleet, command)
    }

    /// Checks all that the processes have written, and their command lines and names on the server.
    fn assert_secret(&self, running: &[&Process]) {
        for process in running {
            let line = fs::read(format!("/proc/{}/cmdline", process.id())).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&line).contains(SECRET));
        }
        let shown = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()";
        assert!(running.is_empty() || self.fleet.number(shown) > 1);
        let leaks = format!(
            "{shown} AND pid <> pg_backend_pid() AND application_name || usename || query LIKE '%{SECRET}%'"
        );
        assert_eq!(self.fleet.number(&leaks), 0);
        assert_folder(self.fleet.place.path());
    }
}

/// Checks that no file in a folder has the secret in its name or contents.
fn assert_folder(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            !path.to_string_lossy().contains(SECRET),
            "{}",
            path.display()
        );
        if path.is_dir() {
            assert_folder(&path);
        } else {
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{}: {text}", path.display());
        }
    }
}

const RUN: &str = "run --config config.json --proposer enumerative --lease 1s";

#[test]
fn no_output_has_the_password() {
    let Some(guarded) = Guarded::new() else {
        return;
    };
    let url = guarded.url(PASSWORD, "");
    let run = guarded.popper(
        &format!("{RUN} --iterations 3 --threads 0 --log-format json"),
        &url,
    );
    guarded.fleet.reaches(
        "SELECT sign(count(*))::bigint FROM pg_class WHERE relname = '_private_workers'",
        1,
    );
    guarded
        .fleet
        .reaches("SELECT sign(count(*))::bigint FROM work_queue.work", 1);
    let worker = guarded.popper("worker --name w --lease 1s", &url);
    worker.says("it computes");
    guarded.assert_secret(&[&run, &worker]);
    let names = "SELECT count(DISTINCT application_name) FROM pg_stat_activity
        WHERE application_name IN ('popper', 'popper run 1', 'popper worker w')";
    assert!(guarded.fleet.number(names) >= 2);
    run.end().exits(0);
    worker.signal("-INT");
    worker.end().exits(130);
    for line in [
        "status",
        "status --json",
        "export",
        "export --format csv",
        "report",
        "resume --run-id 1 --iterations 4 --json",
        "worker --drain --json",
    ] {
        guarded.popper(line, &url).end().exits(0);
    }
    guarded.assert_secret(&[]);
}

#[test]
fn no_error_has_the_password() {
    let Some(mut guarded) = Guarded::new() else {
        return;
    };
    let url = guarded.url(PASSWORD, "");
    let run = format!("{RUN} --iterations 3 --threads 1");
    guarded.popper(&run, &url).end().exits(0);
    let commands = [
        "run --proposer enumerative --patience 1s",
        "resume --run-id 1 --patience 1s",
        "worker --drain --patience 1s",
        "status",
        "export",
        "report",
        "retest --law-fingerprint 0123456789abcdef",
    ];
    let unreadable = |part: &str| format!("postgres://keeper:{PASSWORD}@localhost{part}");
    for (url, code, said) in [
        (
            guarded.url(WRONG, ""),
            1,
            "password authentication failed for user \"keeper\"",
        ),
        (guarded.url(PASSWORD, "_absent"), 1, "_absent"),
        (
            unreadable("/x?host=/nowhere"),
            1,
            "No such file or directory",
        ),
        (unreadable(":99999/x"), 2, "invalid port number"),
        (unreadable("/x?sslmode=5ecret"), 2, "wrong value"),
        (
            unreadable("/x?colour=red"),
            2,
            "one of its parameters is unknown",
        ),
        (url.replacen("postgres:", "mysql:", 1), 2, "scheme"),
        // Passwords that should have been escaped.
        (guarded.url("12/5ecret", ""), 2, "%2F"),
        (guarded.url("12?5ecret=1", ""), 2, "%2F"),
        (guarded.url("12#5ecret", ""), 2, "%2F"),
    ] {
        // A wrong address is the same for all of them.
        let some = if code == 1 {
            &commands[..]
        } else {
            &commands[2..4]
        };
        for line in some {
            let ran = guarded.popper(line, &url).end().exits(code).tells(&[said]);
            let lines = ran.stderr.lines();
            let lines = lines.filter(|line| !line.ends_with("; trying again"));
            assert_eq!(lines.count(), 1, "{}", ran.stderr);
        }
    }
    // In a flag other users see it, so it is refused.
    for url in [&url, &format!("{}&password={PASSWORD}", guarded.fleet.url)] {
        for line in commands {
            let ran = guarded.fleet.start(&format!("{line} --store {url}"));
            ran.end()
                .exits(2)
                .tells(&["--store holds a password", "POPPER_STORE"]);
        }
    }
    // The server goes away from processes that run.
    let run = guarded.popper(
        &format!("{RUN} --iterations 90 --threads 0 --patience 1s"),
        &url,
    );
    let open = "SELECT sign(count(*))::bigint FROM work_queue.work WHERE state = 0";
    guarded.fleet.reaches(open, 1);
    let worker = guarded.popper("worker --name w --lease 1s --patience 1s", &url);
    worker.says("it computes");
    guarded.assert_secret(&[&run, &worker]);
    guarded.server.crash();
    run.end()
        .exits(1)
        .tells(&["to continue: popper resume 1 --iterations 90"]);
    worker.end().exits(1).tells(&["no connection for 1 s"]);
    assert_folder(guarded.fleet.place.path());
}
