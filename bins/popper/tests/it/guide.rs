//! `docs/many-machines.md` on a real server, and a watched status.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use test_support::Guide;
use test_support::postgres::{self, Database};

use crate::process::{Ran, fresh, popper, words};

/// The database that the guide to many machines works with, under the name that it has there.
struct GuideServer {
    folder: tempfile::TempDir,
    database: Database,
}

impl GuideServer {
    const URL: &str = "postgres://localhost/popper";

    /// Runs lines of the guide in a shell, in which its programs and its database are those of the test.
    fn shell(&self, lines: &str) -> Ran {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/");
        let lines = lines
            .replace("fixtures/", fixtures)
            .replace(Self::URL, &format!("'{}'", self.database.url()));
        let programs = [
            env!("CARGO_BIN_EXE_popper").into(),
            postgres::client("psql"),
        ];
        let folders = programs.iter().filter_map(|path| path.parent());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = folders
            .map(Path::to_owned)
            .chain(std::env::split_paths(&path));
        let output = Command::new("sh")
            .args(["-euc", &lines])
            .current_dir(self.folder.path())
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("POPPER_STORE", self.database.url())
            .env_remove("POPPER_API_KEY")
            .env_remove("ANTHROPIC_API_KEY")
            .output();
        let ran: Ran = output.unwrap().into();
        assert_eq!(ran.code, Some(0), "{lines}: {}", ran.stderr);
        ran
    }

    /// Runs statements of the guide with the client of the server.
    fn sql(&self, statements: &str) -> Ran {
        let psql = format!("psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 {}", Self::URL);
        self.shell(&format!("{psql} <<'END'\n{statements}\nEND"))
    }
}

#[test]
fn the_guide_to_many_machines_runs_as_printed() {
    let Some(database) = postgres::database() else {
        return;
    };
    let server = GuideServer {
        folder: tempfile::tempdir().unwrap(),
        database,
    };
    let guide = Guide::read("many-machines");
    let start = guide.section("Start on one machine");
    let [first, worker, check] = start.blocks("sh needs-network")[..] else {
        panic!("the section has three blocks of commands");
    };
    // The test has its database already.
    let (createdb, rest) = first.split_once('\n').unwrap();
    assert_eq!(
        createdb,
        "createdb --encoding UTF8 --template template0 popper"
    );
    let run = server.shell(rest);
    assert!(
        run.stdout.contains("iterations 2 completed"),
        "{}",
        run.stdout
    );
    // Nothing is open, so that a worker which may end does.
    server.shell(&format!("{} --drain", worker.trim()));
    let expected = popper(&["check", "fixtures/popper/laws/true.json"]);
    assert_eq!(server.shell(check).stdout, expected.stdout);

    let see = guide.section("See what happens");
    let watched: Vec<&str> = see.blocks("sh needs-network")[0].lines().collect();
    assert_eq!(
        watched,
        [
            "popper status",
            "popper status --watch 5",
            "popper queue list"
        ]
    );
    let status = server.shell(watched[0]).stdout;
    assert!(status.contains("\nqueue      no jobs\n"), "{status}");
    let list = server.shell(watched[2]).stdout;
    assert_eq!(list, "set aside: 0\nconflicts: 0\n");
    for statement in see.blocks("sql") {
        let ran = server.sql(statement);
        assert_eq!(ran.stderr, "", "{statement}");
    }

    let wrong = guide.section("Find out what went wrong");
    let dump = wrong.blocks("sh needs-network")[0].trim();
    let url = format!(" {}", GuideServer::URL);
    server.shell(&dump.replace(" popper\n", &url).replacen(
        " popper.sql popper",
        &format!(" popper.sql{url}"),
        1,
    ));
    let dumped = std::fs::read_to_string(server.folder.path().join("popper.sql")).unwrap();
    assert!(dumped.contains("CREATE TABLE popper.laws"));
}

#[test]
fn the_service_of_the_guide_starts_a_worker() {
    let guide = Guide::read("many-machines");
    let service = guide.section("Run a worker as a service").blocks("ini")[0].to_owned();
    let start = service
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let arguments = words(
        start
            .unwrap()
            .strip_prefix("/usr/local/bin/popper ")
            .unwrap(),
    );
    // Without an address it ends before it would wait.
    let mut worker = fresh(Path::new("."), &arguments);
    let ran: Ran = worker.env_remove("POPPER_STORE").output().unwrap().into();
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .starts_with("popper: there is no server to work for"),
        "{}",
        ran.stderr
    );
}

/// Waits for lines of a file that grows.
fn lines_of(path: &Path, count: usize) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.len() >= count && text.ends_with('\n') {
            return lines;
        }
        assert!(Instant::now() < deadline, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
#[test]
fn a_watched_status_has_a_line_for_each_change() {
    let folder = tempfile::tempdir().unwrap();
    let run = |iterations: &str| {
        let arguments = words(
            "run --proposer enumerative --propose 4 --test 2 --exhaustive-n 5 --db w.db --iterations",
        );
        let arguments = [&arguments[..], &[iterations]].concat();
        let ran: Ran = fresh(folder.path(), &arguments).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    };
    run("1");
    for json in [false, true] {
        let shown = folder.path().join(format!("shown.{json}"));
        let mut arguments = words("status --db w.db --watch 1");
        arguments.extend(json.then_some("--json"));
        let mut watch = fresh(folder.path(), &arguments)
            .stdout(std::fs::File::create(&shown).unwrap())
            .spawn()
            .unwrap();
        let first = lines_of(&shown, 1);
        run(if json { "3" } else { "2" });
        let lines = lines_of(&shown, 2);
        assert_eq!(lines[0], first[0]);
        assert_ne!(lines[0], lines[1]);
        if json {
            let last: serde_json::Value = serde_json::from_str(lines.last().unwrap()).unwrap();
            assert_eq!(last["run_id"], 1);
        } else {
            assert!(
                lines[0].starts_with("run 1: iteration 1 completed"),
                "{lines:?}"
            );
        }
        crate::kill::signal(&watch, "-INT");
        assert_eq!(watch.wait().unwrap().code(), Some(130));
    }
}
