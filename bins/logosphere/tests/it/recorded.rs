//! A replay has the time of its recording, and so the same journal on every day.

use test_support::program::with_fixed_times;
use test_support::{MindMode, MindScript, MindStub};

use crate::program::{Place, finish, start, words};

#[test]
fn a_replay_takes_the_time_of_its_recording_whatever_its_concurrency() {
    for scheduling in ["sequential", "snapshot"] {
        let place = Place::new();
        let run = format!("--minds 4 --rounds 3 --scheduling {scheduling} --max-wall 600");
        let url = {
            let stub = MindStub::start(MindScript {
                mode: MindMode::Mix,
                ..MindScript::default()
            });
            place.experiment("live");
            let live = format!("run live {run} --record calls.jsonl");
            place.asking(&stub, &words(&live)).exits(0);
            stub.url()
        };
        place.file("calls.jsonl", with_fixed_times(&place.read("calls.jsonl")));
        let replay = |name: &str, flags: &str, zone: &str| {
            place.experiment(name);
            let arguments = format!(
                "run {name} {run} --replay calls.jsonl --provider openrouter --model m --base-url {url} {flags}"
            );
            let mut command = place.command(&words(&arguments));
            finish(start(command.env("TZ", zone))).exits(0);
            place.alone(&["report", name]).exits(0);
            place.files(name)
        };
        let first = replay("first", "--concurrency 1", "UTC");
        assert_eq!(replay("second", "--concurrency 4", "Asia/Kolkata"), first);
        assert_eq!(replay("third", "", "UTC"), first);
        let journal = place.read("first/logs/experiment.jsonl");
        let lines: Vec<_> = journal.lines().collect();
        assert!(
            lines[0].contains("2031-05-06T07:00:00.000Z"),
            "{}",
            lines[0]
        );
        let last = lines.last().unwrap();
        assert!(last.contains("2031-05-06T07:00:11.000Z"), "{last}");
    }
}

#[test]
fn the_folder_of_a_replay_has_the_day_of_its_recording() {
    let place = Place::new();
    let url = {
        let stub = MindStub::start(MindScript::default());
        let live = words("run --minds 3 --rounds 1 --record calls.jsonl");
        place.asking(&stub, &live).exits(0);
        stub.url()
    };
    place.file("calls.jsonl", with_fixed_times(&place.read("calls.jsonl")));
    let arguments = format!(
        "run --minds 3 --rounds 1 --replay calls.jsonl --provider openrouter --model m --base-url {url}"
    );
    place.alone(&words(&arguments)).exits(0);
    let names = place.names("experiments");
    assert_eq!(names.last().unwrap(), "2031-05-06-run", "{names:?}");
}
