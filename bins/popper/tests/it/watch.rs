//! `popper report --watch`: the page of a run while another process works on it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use test_support::{Answer, FaultServer, Signal};

use crate::kill::signal;
use crate::models::{completion, laws};
use crate::process::{Ran, fresh, words};
use crate::runs::Place;

/// The longest wait for a page, far more than one takes.
const PATIENCE: Duration = Duration::from_mins(2);

const REFRESH: &str = "<meta http-equiv=\"refresh\" content=\"1\">";

/// A run whose model answers each call when its signal is fired, and the watcher of its page.
struct Watched {
    place: Place,
    answers: [Signal; 3],
    run: Child,
    watcher: Child,
    _server: FaultServer,
}

impl Watched {
    fn new() -> Self {
        let place = Place::new();
        let answers: [Signal; 3] = Default::default();
        let waiting = answers.clone();
        let mut calls = 0;
        let server = FaultServer::play(move |_| {
            let wait = Answer::raw().wait(&waiting[calls]);
            calls += 1;
            completion(&laws()).after(wait)
        });
        let line = format!(
            "run --config config.json --db popper.db --provider vllm --model m --iterations 3 --base-url {}",
            server.url("/v1")
        );
        let run = started(&place, &line);
        server.block_until_open(1);
        let watcher = started(&place, "report 1 --db popper.db -o page.html --watch 1");
        Self {
            place,
            answers,
            run,
            watcher,
            _server: server,
        }
    }

    /// Waits for a page with these words and returns it.
    fn page(&mut self, words: &str) -> String {
        let path = self.place.path().join("page.html");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let page = fs::read_to_string(&path).unwrap_or_default();
            if page.contains(words) {
                assert!(page.trim_end().ends_with("</html>"));
                return page;
            }
            assert!(Instant::now() < deadline, "{words}: {page}");
            assert!(self.watcher.try_wait().unwrap().is_none(), "{words}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn started(place: &Place, line: &str) -> Child {
    let mut command = fresh(place.path(), &words(line));
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ended(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}

fn text(page: &Path) -> String {
    fs::read_to_string(page).unwrap()
}

#[test]
fn the_page_follows_the_run_to_its_end() {
    let mut watched = Watched::new();
    let mut pages = BTreeSet::new();
    for (index, words) in ["iteration 1", "iteration 2", "iteration 3"]
        .iter()
        .enumerate()
    {
        let page = watched.page(&format!("Run in progress: {words}, last event "));
        assert!(page.contains(REFRESH));
        pages.insert(page);
        watched.answers[index].fire();
    }
    assert_eq!(pages.len(), 3);
    assert_eq!(ended(watched.run).code, Some(0));
    let watcher = ended(watched.watcher);
    assert_eq!(
        (watcher.code, watcher.stdout.as_str()),
        (Some(0), "page.html\n"),
        "{}",
        watcher.stderr
    );
    let folder = watched.place.path();
    let last = text(&folder.join("page.html"));
    assert!(!last.contains("http-equiv=\"refresh\"") && !last.contains("Run in progress"));
    // The same data give the same bytes.
    let again = watched.place.popper(&["report", "-o", "again.html"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(last == text(&folder.join("again.html")));
    // A run that has ended is one page.
    let ended = watched
        .place
        .popper(&["report", "1", "--watch", "-o", "ended.html"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(last == text(&folder.join("ended.html")));
}

#[cfg(unix)]
#[test]
fn a_killed_writer_ends_the_watch_with_the_command_that_continues() {
    let mut watched = Watched::new();
    watched.page("Run in progress: iteration 1, ");
    watched.run.kill().unwrap();
    watched.run.wait().unwrap();
    let watcher = ended(watched.watcher);
    assert_eq!(watcher.code, Some(3), "{}", watcher.stderr);
    let said = "popper: stopped, not finished; resume with popper resume 1 --db popper.db\n";
    assert!(watcher.stderr.ends_with(said), "{}", watcher.stderr);
    let page = text(&watched.place.path().join("page.html"));
    assert!(!page.contains("http-equiv=\"refresh\""));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_watch_and_leaves_the_run() {
    let mut watched = Watched::new();
    watched.page("Run in progress: iteration 1, ");
    signal(&watched.watcher, "-INT");
    assert_eq!(ended(watched.watcher).code, Some(130));
    assert!(watched.run.try_wait().unwrap().is_none());
    watched.run.kill().unwrap();
    watched.run.wait().unwrap();
}

#[test]
fn a_page_on_stdout_cannot_be_watched() {
    let place = Place::new();
    let ran = place.popper(&["report", "-o", "-", "--watch"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("need a file"), "{}", ran.stderr);
}
