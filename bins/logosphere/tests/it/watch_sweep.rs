//! `watch` of a sweep or a fork: its runs in the terminal, while another process makes them.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::Command;

use logosphere_core::experiment::Experiment;
use test_support::{MindScript, MindStub};
use unicode_width::UnicodeWidthStr as _;

use crate::program::{Place, SEEDS, finish, init, start, words};
use crate::terminal::{begin, written};

const PLAN: &str = r#"
schema_version = 1
name = "try"
repeats = 2
seed = 7
init = "init.md"
[base]
n_minds = 2
max_rounds = 3
mind = "mutator:p=0.1"
[axes]
k_samples = [1, 2]
[tests]
null_runs = 199
"#;

const AXIS: &str = "k_samples = [1, 2]";

/// A folder with a plan and its seed messages.
fn planned(plan: &str) -> Place {
    let place = Place::new();
    place.file("plan.toml", plan);
    place.file("init.md", init(&SEEDS));
    place
}

/// A plan with runs that take a while.
fn slow() -> String {
    PLAN.replace("mutator:p=0.1", "slow:ms=20")
        .replace("max_rounds = 3", "max_rounds = 12")
}

fn once(place: &Place, name: &str) -> String {
    place.alone(&["watch", name, "--once"]).exits(0).stdout
}

/// Returns the output of a command on a terminal, and its exit code.
fn ended(command: &mut Command) -> (String, Option<i32>) {
    let (mut watch, mut terminal) = begin(command, (120, 30), true);
    let mut bytes = Vec::new();
    // The end of a terminal is an error of the system.
    let _ = terminal.read_to_end(&mut bytes);
    let code = watch.wait().unwrap().code();
    (String::from_utf8_lossy(&bytes).into_owned(), code)
}

const NARROW: &str = r"sweep        sweeps/try, stopped
runs         39/40 ███████████████████░ 0 open, 1 failed, 0 not begun
cells        19/20 done, 0 with open runs, 1 with failed runs
             1/2 k_samples=4,m_active_pool=9  1 failed
             2/2 k_samples=1,m_active_pool=5
             2/2 k_samples=1,m_active_pool=6
             2/2 k_samples=1,m_active_pool=7
             2/2 k_samples=1,m_active_pool=8
             2/2 k_samples=1,m_active_pool=9
             2/2 k_samples=2,m_active_pool=5
             2/2 k_samples=2,m_active_pool=6
             2/2 k_samples=2,m_active_pool=7
             2/2 k_samples=2,m_active_pool=8
             2/2 k_samples=2,m_active_pool=9
             2/2 k_samples=3,m_active_pool=5
             and 8 more cells
calls        234, 0 failed
tokens       24480 in, 4948 out
offline      no model was called
failed       k_samples=4,m_active_pool=9/r001: line 2 (mind_invocation): has se…
";

const WIDE: &str = r"sweep        sweeps/try, stopped
runs         39/40 ███████████████████████████████████████░ 0 open, 1 failed, 0 not begun
cells        19/20 done, 0 with open runs, 1 with failed runs
             1/2 k_samples=4,m_active_pool=9  1 failed
             2/2 k_samples=1,m_active_pool=5
             2/2 k_samples=1,m_active_pool=6
             2/2 k_samples=1,m_active_pool=7
             2/2 k_samples=1,m_active_pool=8
             2/2 k_samples=1,m_active_pool=9
             2/2 k_samples=2,m_active_pool=5
             2/2 k_samples=2,m_active_pool=6
             2/2 k_samples=2,m_active_pool=7
             2/2 k_samples=2,m_active_pool=8
             2/2 k_samples=2,m_active_pool=9
             2/2 k_samples=3,m_active_pool=5
             and 8 more cells
calls        234, 0 failed
tokens       24480 in, 4948 out
offline      no model was called
failed       k_samples=4,m_active_pool=9/r001: line 2 (mind_invocation): has seq 2, expected 1: lines are missing or were moved
";

#[test]
fn a_frame_of_a_sweep_fits_its_terminal() {
    let axes = "k_samples = [1, 2, 3, 4]\nm_active_pool = [5, 6, 7, 8, 9]";
    let place = planned(&PLAN.replace(AXIS, axes));
    place.alone(&words("sweep plan.toml")).exits(0);
    // A run that cannot be read, with a reason that is longer than a line.
    let journal = "sweeps/try/cells/k_samples=4,m_active_pool=9/r001/logs/experiment.jsonl";
    let whole = place.read(journal);
    let without_one = whole.lines().enumerate().filter(|(at, _)| *at != 1);
    let lines: Vec<_> = without_one.map(|(_, line)| format!("{line}\n")).collect();
    place.file(journal, lines.concat());
    let frame = |size| {
        let frame = written(&mut place.command(&words("watch try --once")), size, false);
        frame.replace("\r\n", "\n")
    };
    let narrow = frame((80, 24));
    assert!(narrow.lines().count() <= 20, "{narrow}");
    assert!(narrow.lines().all(|line| line.width() <= 80), "{narrow}");
    assert_eq!(narrow, NARROW);
    assert_eq!(frame((200, 50)), WIDE);
    // A file has the same lines as a wide terminal.
    let printed = place.alone(&words("watch sweeps/try")).exits(0);
    assert_eq!(printed.stdout, WIDE);
    assert_eq!(printed.stderr, "");
}

#[test]
fn a_sweep_is_followed_to_its_end() {
    let place = planned(&slow());
    let sweep = start(&mut place.command(&words("sweep plan.toml --jobs 2")));
    while !place.path("sweeps/try/plan.json").exists() {}
    let mut seen = String::new();
    while !seen.contains("in progress  k_samples=1/r000 in round ")
        || !seen.contains("r001 in round ")
    {
        seen = once(&place, "try");
    }
    assert!(
        seen.starts_with("sweep        sweeps/try, running\nruns         0/4 "),
        "{seen}"
    );
    assert!(seen.contains(" 2 open, 0 failed, 2 not begun\n"), "{seen}");
    assert!(seen.contains("0/2 k_samples=1  2 open\n"), "{seen}");
    assert!(seen.contains("0/2 k_samples=2\n"), "{seen}");
    let mut watch = place.command(&words("watch sweeps/try --interval 50ms"));
    let (drawn, code) = ended(&mut watch);
    assert_eq!(code, Some(0), "{drawn}");
    let (live, last) = drawn.rsplit_once("sweep        sweeps/try, ended").unwrap();
    assert!(live.contains("sweep        sweeps/try, running"), "{drawn}");
    assert!(last.contains("4/4 "), "{drawn}");
    assert!(last.contains("calls        96, 0 failed"), "{drawn}");
    finish(sweep).exits(0);
    // The watch has written nothing.
    let run = "verify sweeps/try/cells/k_samples=1/r000";
    place.alone(&words(run)).exits(0);
}

#[test]
fn a_run_that_has_ended_is_not_read_again() {
    let place = planned(&slow());
    let sweep = start(&mut place.command(&words("sweep plan.toml --jobs 1")));
    while !place.path("sweeps/try/plan.json").exists() {}
    let mut command = place.command(&words("watch try --interval 50ms"));
    let (mut watch, mut terminal) = begin(&mut command, (120, 30), true);
    let mut seen = Vec::new();
    let has_ended = |seen: &[u8]| {
        let seen = String::from_utf8_lossy(seen);
        (1..4).any(|ended| seen.contains(&format!("runs         {ended}/4 ")))
    };
    while !has_ended(&seen) {
        let mut bytes = [0; 256];
        let read = terminal.read(&mut bytes).unwrap();
        seen.extend_from_slice(&bytes[..read]);
    }
    fs::remove_dir_all(place.path("sweeps/try/cells/k_samples=1/r000")).unwrap();
    let _ = terminal.read_to_end(&mut seen);
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    let drawn = String::from_utf8_lossy(&seen);
    assert!(drawn.contains("runs         4/4 "), "{drawn}");
    finish(sweep).exits(0);
    let read = once(&place, "try");
    assert!(read.contains("runs         3/4 "), "{read}");
}

#[test]
fn a_sweep_that_was_killed_ends_the_watch_with_the_command_that_continues_it() {
    let place = planned(&slow());
    let mut sweep = start(&mut place.command(&words("sweep plan.toml --repeats 3 --jobs 2")));
    while !place
        .path("sweeps/try/cells/k_samples=1/r001/logs/experiment.jsonl")
        .exists()
    {}
    sweep.kill().unwrap();
    sweep.wait().unwrap();
    let stopped = once(&place, "try");
    assert!(
        stopped.starts_with("sweep        sweeps/try, stopped\nruns         0/6 "),
        "{stopped}"
    );
    assert!(!stopped.contains("in progress"), "{stopped}");
    let command = "sweep sweeps/try/plan.toml --repeats 3";
    let (drawn, code) = ended(&mut place.command(&words("watch try")));
    assert_eq!(code, Some(3), "{drawn}");
    let line = format!("stopped, not finished; continue with: logosphere {command}");
    assert!(drawn.contains(&line), "{drawn}");
    place.alone(&words(command)).exits(0);
    let ended = once(&place, "try");
    assert!(
        ended.starts_with("sweep        sweeps/try, ended\nruns         6/6 "),
        "{ended}"
    );
    // Without its result a sweep is not finished.
    fs::remove_file(place.path("sweeps/try/summary.json")).unwrap();
    assert!(once(&place, "try").starts_with("sweep        sweeps/try, stopped\n"));
}

#[test]
fn a_sweep_that_has_not_begun_is_waited_for() {
    let place = planned(PLAN);
    let waits = "sweep        sweeps/try\nruns         not begun; waiting for its plan\n";
    fs::create_dir_all(place.path("sweeps/try/logs")).unwrap();
    assert_eq!(once(&place, "try"), waits);
    // The first half of a plan is none yet.
    place.alone(&words("sweep plan.toml --summary")).exits(0);
    let json = place.read("sweeps/try/plan.json");
    place.file("sweeps/try/plan.json", &json[..json.len() / 2]);
    assert_eq!(once(&place, "sweeps/try"), waits);
    place.file("sweeps/try/plan.json", &json);
    let waiting = once(&place, "try");
    let head = "sweep        sweeps/try, not begun; waiting for its first run\n";
    assert!(waiting.starts_with(head), "{waiting}");
    assert!(
        waiting.contains(" 0 open, 0 failed, 4 not begun\n"),
        "{waiting}"
    );
    for (file, content, error) in [
        (
            "plan.json",
            json.replacen('1', "3", 1),
            "plan.json: schema_version 3 is newer than this program",
        ),
        (
            "plan.json",
            "{\"schema_version\":\"x\"}".to_owned(),
            "plan.json: cannot be read as the plan of a sweep",
        ),
        (
            "plan.toml",
            PLAN.replace("seed = 7", "seed = 8"),
            "plan.toml: is not the plan of plan.json",
        ),
    ] {
        let path = format!("sweeps/try/{file}");
        let before = place.read(&path);
        place.file(&path, content);
        place
            .alone(&words("watch try --once"))
            .exits(2)
            .tells(&[error]);
        place.file(&path, before);
    }
}

#[test]
fn a_torn_line_is_left_to_its_writer_and_a_damaged_one_is_named() {
    let place = planned(PLAN);
    place.alone(&words("sweep plan.toml")).exits(0);
    let path = "sweeps/try/cells/k_samples=2/r001/logs/experiment.jsonl";
    let whole = place.read(path);
    let lines: Vec<_> = whole.lines().collect();
    let open = lines[..lines.len() - 3].join("\n") + "\n";
    place.file(path, &open);
    let before = once(&place, "try");
    assert!(
        before.contains(" 1 open, 0 failed, 0 not begun\n"),
        "{before}"
    );
    assert!(
        before.contains("\n             1/2 k_samples=2  1 open\n             2/2 k_samples=1\n"),
        "{before}"
    );
    let mut journal = OpenOptions::new()
        .append(true)
        .open(place.path(path))
        .unwrap();
    journal.write_all(b"{\"type\":\"round_").unwrap();
    assert_eq!(once(&place, "try"), before);
    journal.write_all(b"\n").unwrap();
    let damaged = once(&place, "try");
    assert!(
        damaged.contains(" 0 open, 1 failed, 0 not begun\n"),
        "{damaged}"
    );
    assert!(damaged.contains("1/2 k_samples=2  1 failed\n"), "{damaged}");
    let line = format!("failed       k_samples=2/r001: line {}", lines.len() - 2);
    assert!(damaged.contains(&line), "{damaged}");
    // The first line of a run without its end is not an event yet, and a run of another cell is not one of this.
    place.file(path, &lines[0][..40]);
    let unbegun = once(&place, "try");
    assert!(
        unbegun.contains(" 0 open, 0 failed, 1 not begun\n"),
        "{unbegun}"
    );
    place.file(
        path,
        place.read("sweeps/try/cells/k_samples=1/r001/logs/experiment.jsonl"),
    );
    let other = once(&place, "try");
    assert!(other.contains("failed       k_samples=2/r001: "), "{other}");
    assert!(other.contains("is not a run of this cell"), "{other}");
    let (drawn, code) = ended(&mut place.command(&words("watch try")));
    assert_eq!(code, Some(3), "{drawn}");
    assert!(
        drawn.contains("stopped; runs that cannot be read: 1; move their folders away"),
        "{drawn}"
    );
}

#[test]
fn a_name_is_that_of_a_run_else_of_a_sweep_or_a_fork() {
    let place = planned(PLAN);
    place.alone(&words("sweep plan.toml")).exits(0);
    place.experiment("E");
    place
        .alone(&words("run E --rounds 6 --mind mutator:p=0.1 -q"))
        .exits(0);
    let fork = "fork E --at 4 --inject note.md --name turn --replicates 2";
    place.file("note.md", init(&["A text that was not there."]));
    place.alone(&words(fork)).exits(0);
    let shown = once(&place, "turn");
    assert!(
        shown.starts_with("fork         forks/turn, ended\nruns         4/4 "),
        "{shown}"
    );
    // Three rounds of three minds, twice in each arm; what the runs share with their parent is not counted.
    assert!(shown.contains("calls        36, 0 failed\n"), "{shown}");
    assert!(
        shown.contains("             2/2 control\n             2/2 treated\n"),
        "{shown}"
    );
    let refused = place.alone(&words("watch tri --once")).exits(2);
    refused.tells(&["tri: no such path, and no run in experiments/, sweep in sweeps/ or fork in forks/ has this name; did you mean try, turn?"]);
    // A run has the name first.
    fs::create_dir(place.path("experiments")).unwrap();
    fs::rename(place.path("E"), place.path("experiments/try")).unwrap();
    assert!(once(&place, "try").starts_with("experiment   experiments/try, ended\n"));
    assert!(once(&place, "sweeps/try").starts_with("sweep        sweeps/try, ended\n"));
    let folder = once(&place, "sweeps/try/cells/k_samples=1/r000");
    assert!(
        folder.starts_with("experiment   sweeps/try/cells/k_samples=1/r000, ended\n"),
        "{folder}"
    );
}

#[test]
fn a_sweep_elsewhere_is_continued_there() {
    let place = planned(&PLAN.replace("init.md", "seeds.md"));
    fs::rename(place.path("init.md"), place.path("seeds.md")).unwrap();
    place
        .alone(&words("sweep plan.toml --output-dir there"))
        .exits(0);
    assert!(once(&place, "there").starts_with("sweep        try in there, ended\n"));
    fs::remove_dir_all(place.path("there/cells/k_samples=1/r000")).unwrap();
    let (drawn, code) = ended(&mut place.command(&words("watch there")));
    assert_eq!(code, Some(3), "{drawn}");
    let command = "logosphere sweep PLAN --output-dir there --repeats 2";
    assert!(drawn.contains(command), "{drawn}");
}

#[test]
fn the_cost_of_all_runs_and_the_last_failed_call_are_shown() {
    let stub = MindStub::start(MindScript {
        cost: Some([1.0, 5.0]),
        fail_every: Some(5),
        ..MindScript::default()
    });
    let minds = "provider = \"openrouter\"\nmodel = \"m\"\nretries = 0";
    let place = planned(&PLAN.replace("mind = \"mutator:p=0.1\"", minds));
    place
        .alone(&["sweep", "plan.toml", "--base-url", &stub.url()])
        .exits(3);
    let frame = once(&place, "try");
    // Every fifth of two times two runs of two minds over three rounds.
    assert!(frame.contains("calls        24, 4 failed\n"), "{frame}");
    let billed = stub.stats().billed;
    let spent = (billed.prompt as f64 + 5.0 * billed.completion as f64) / 1e6;
    let shown = frame
        .lines()
        .find_map(|line| line.strip_prefix("cost         $"));
    let shown: f64 = shown.unwrap().parse().unwrap();
    assert!((shown - spent).abs() < 1e-6, "{frame} {spent}");
    let error = frame.lines().last().unwrap();
    // The twentieth call is the second of the last run's first round.
    assert!(
        error.starts_with("last error   k_samples=2/r001: mind 1 in round 1: "),
        "{frame}"
    );
    let costs = frame
        .lines()
        .filter(|line| line.starts_with("             2/2 k_samples="));
    assert!(
        costs.filter(|line| line.contains("  $0.")).count() == 2,
        "{frame}"
    );
    assert!(!frame.contains("offline"), "{frame}");
}

#[test]
fn a_folder_that_is_removed_ends_the_watch() {
    let place = planned(PLAN);
    place.alone(&words("sweep plan.toml")).exits(0);
    // A process works on the sweep as long as the lock is held.
    let folder = Experiment::open(&place.path("sweeps/try")).unwrap();
    let _lock = folder.lock(7).unwrap();
    let mut command = place.command(&words("watch try --interval 50ms"));
    let (mut watch, mut terminal) = begin(&mut command, (120, 30), true);
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("sweeps/try, testing") {
        let mut bytes = [0; 256];
        let read = terminal.read(&mut bytes).unwrap();
        seen.extend_from_slice(&bytes[..read]);
    }
    fs::rename(place.path("sweeps/try"), place.path("away")).unwrap();
    let _ = terminal.read_to_end(&mut seen);
    assert_eq!(watch.wait().unwrap().code(), Some(2));
    let seen = String::from_utf8_lossy(&seen);
    assert!(
        seen.contains("sweeps/try: was removed while it was watched"),
        "{seen}"
    );
}
