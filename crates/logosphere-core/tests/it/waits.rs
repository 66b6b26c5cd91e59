//! Calls that are made again after a wait, with `on_error` wait. The time is that of the test's runtime.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use llm_types::{Clock, ErrorClass};
use logosphere_core::config::{OnError, Scheduling};
use logosphere_core::journal::{AttemptFacts, InterruptCause, MemJournal};
use logosphere_core::verify::{Comparison, compare, verify};
use logosphere_core::{
    CallContext, Mind, MindError, MindInput, MindReply, Orchestrator, Progress, RunControl,
    RunSummary, Settings, WireRequest,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::desk;

const SECOND: Duration = Duration::from_secs(1);

/// A mind whose calls of one key fail with these errors, one after another, and then succeed.
struct Failing {
    mind: logosphere_core::LocalMind,
    key: &'static str,
    errors: Mutex<Vec<MindError>>,
    /// The calls and the seconds since the start.
    calls: Mutex<Vec<(String, u64)>>,
    start: Mutex<Option<Instant>>,
}

fn failing(settings: &Settings, key: &'static str, errors: Vec<MindError>) -> Failing {
    Failing {
        mind: desk::mind(settings),
        key,
        errors: Mutex::new(errors.into_iter().rev().collect()),
        calls: Mutex::default(),
        start: Mutex::default(),
    }
}

#[async_trait]
impl Mind for &Failing {
    fn label(&self) -> &str {
        self.mind.label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        self.mind.request(input)
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        let start = *self.start.lock().unwrap().get_or_insert_with(Instant::now);
        let call = (side.call_key().to_owned(), start.elapsed().as_secs());
        self.calls.lock().unwrap().push(call);
        if side.call_key() == self.key
            && let Some(error) = self.errors.lock().unwrap().pop()
        {
            return Err(error);
        }
        let mut reply = self.mind.respond(input, side).await?;
        reply.attempts = vec![AttemptFacts::new(1)];
        Ok(reply)
    }
}

impl Failing {
    /// The seconds at which the failing call was made.
    fn made(&self) -> Vec<u64> {
        let calls = self.calls.lock().unwrap();
        let made = calls.iter().filter(|(key, _)| key == self.key);
        made.map(|(_, second)| *second).collect()
    }
}

fn error(class: ErrorClass) -> MindError {
    let attempt = |n| {
        let mut attempt = AttemptFacts::new(n);
        attempt.class = Some(class);
        attempt.wait_ms = 5 * u64::from(n - 1);
        attempt
    };
    let mut error = MindError::new(class, "not now");
    error.attempts = vec![attempt(1), attempt(2)];
    error
}

fn settings(scheduling: Scheduling) -> Settings {
    desk::settings(scheduling).with(|settings| {
        settings.on_error = OnError::Wait;
        settings.max_rounds = 3;
    })
}

struct Paused(Instant);

impl Clock for Paused {
    fn now(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH + self.0.elapsed()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Runs with these controls. The result has the waits of the notices, in seconds.
fn run(
    settings: &Settings,
    mind: &Failing,
    control: impl FnOnce(&mut RunControl),
) -> (RunSummary, Vec<u8>, Vec<String>) {
    let start = desk::start(settings, &mind);
    let mut controls = RunControl::default();
    control(&mut controls);
    let mut notices = Vec::new();
    let (summary, journal) = desk::wait(async {
        let clock = Paused(Instant::now());
        let journal = MemJournal::default();
        let mut run = Orchestrator::start(start, mind, journal, clock, controls).unwrap();
        let summary = run
            .run(&mut |progress| {
                if let Progress::Delayed {
                    round,
                    mind,
                    error,
                    wait,
                } = progress
                {
                    let seconds = wait.as_secs();
                    notices.push(format!("{round}/{mind} {} {seconds}", error.class));
                }
            })
            .await;
        (summary.unwrap(), run.into_journal().bytes)
    });
    (summary, journal, notices)
}

fn of_type(journal: &[u8], kind: &str) -> Vec<Value> {
    let mut lines = desk::lines(journal);
    lines.retain(|line| line["type"] == kind);
    lines
}

#[test]
fn n20_a_call_that_time_may_help_is_made_again_after_a_minute_and_then_twice_as_long() {
    use ErrorClass::{Network, Overloaded, RateLimit, Timeout};
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = settings(scheduling);
        let calm = failing(&settings, "", Vec::new());
        let (_, whole, none) = run(&settings, &calm, |_| {});
        assert_eq!(none, [""; 0]);
        let classes = [
            RateLimit, Overloaded, Network, Timeout, RateLimit, RateLimit,
        ];
        let mind = failing(&settings, "2/1", classes.map(error).to_vec());
        let (summary, journal, notices) = run(&settings, &mind, |_| {});
        assert!(
            matches!(summary, RunSummary::Ended { errors: 0, .. }),
            "{summary:?}"
        );
        let waits = [
            "rate_limit 60",
            "overloaded 120",
            "network 240",
            "timeout 480",
            "rate_limit 600",
            "rate_limit 600",
        ];
        assert_eq!(notices, waits.map(|wait| format!("2/1 {wait}")));
        assert_eq!(mind.made(), [0, 60, 180, 420, 900, 1500, 2100]);
        assert_eq!(of_type(&journal, "error"), [Value::Null; 0]);
        let calls = of_type(&journal, "mind_invocation");
        let late = (calls.iter())
            .find(|call| (&call["round"], &call["mind_id"]) == (&json!(2), &json!(1)));
        let late = late.unwrap();
        let attempts = late["attempts"].as_array().unwrap();
        let numbers: Vec<_> = attempts.iter().map(|one| one["n"].as_u64()).collect();
        assert!(numbers.into_iter().eq((1..=13).map(Some)));
        assert_eq!(attempts[0]["wait_ms"], 0);
        assert_eq!(
            (&attempts[1]["wait_ms"], &attempts[2]["wait_ms"]),
            (&json!(5), &json!(60_000))
        );
        assert_eq!(attempts[12]["wait_ms"], 600_000);
        assert_eq!(late["latency_ms"], 2_100_000);
        // The pool is the one of a run without failures.
        let equal = compare(&whole[..], &journal[..]).unwrap();
        assert!(matches!(equal, Comparison::Equal(_)), "{equal:?}");
        verify(&journal[..]).unwrap();
    }
}

#[test]
fn other_minds_are_called_while_one_waits_and_later_answers_keep_their_order() {
    let settings = settings(Scheduling::Snapshot).with(|settings| settings.concurrency = 2);
    let mind = failing(&settings, "1/0", vec![error(ErrorClass::RateLimit)]);
    let (_, journal, notices) = run(&settings, &mind, |_| {});
    assert_eq!(notices, ["1/0 rate_limit 60"]);
    let made: Vec<_> = mind.calls.lock().unwrap().clone();
    let at = |key: &str| made.iter().rfind(|(made, _)| made == key).unwrap().1;
    // The call that waits takes up one of the two places.
    assert_eq!(
        ["1/1", "1/2", "1/3", "1/0", "2/0"].map(at),
        [0, 0, 0, 60, 60]
    );
    let minds: Vec<_> = (of_type(&journal, "mind_invocation").iter())
        .map(|call| call["mind_id"].as_u64().unwrap())
        .collect();
    assert!(minds.into_iter().eq((0..3).flat_map(|_| 0..4)));
    verify(&journal[..]).unwrap();
}

#[test]
fn other_failures_are_skipped_or_stop_as_without_a_wait() {
    let settings = settings(Scheduling::Sequential);
    for class in [ErrorClass::Server, ErrorClass::BadResponse] {
        let mind = failing(&settings, "2/1", vec![error(class)]);
        let (summary, journal, notices) = run(&settings, &mind, |_| {});
        assert!(
            matches!(summary, RunSummary::Ended { errors: 1, .. }),
            "{summary:?}"
        );
        assert_eq!(notices, [""; 0]);
        assert_eq!(of_type(&journal, "error").len(), 1);
        verify(&journal[..]).unwrap();
    }
    // A failure after a wait has the attempts of both.
    let errors = vec![
        error(ErrorClass::RateLimit),
        error(ErrorClass::Auth).fatal(),
    ];
    let mind = failing(&settings, "2/1", errors);
    let (summary, journal, notices) = run(&settings, &mind, |_| {});
    assert!(matches!(summary, RunSummary::Interrupted(_)), "{summary:?}");
    assert_eq!(notices, ["2/1 rate_limit 60"]);
    let failed = &of_type(&journal, "error")[0];
    assert_eq!(failed["attempts"].as_array().unwrap().len(), 4);
    verify(&journal[..]).unwrap();
}

#[test]
fn a_cap_in_time_ends_a_wait_and_the_run_can_be_resumed() {
    let settings =
        settings(Scheduling::Snapshot).with(|settings| settings.caps.max_wall = Some(90 * SECOND));
    let errors = vec![error(ErrorClass::Timeout); 9];
    let mind = failing(&settings, "1/2", errors);
    let (summary, journal, notices) = run(&settings, &mind, |_| {});
    let RunSummary::Interrupted(why) = summary else {
        panic!("{summary:?}");
    };
    assert_eq!((why.cause, why.next_mind.0), (InterruptCause::Wall, 2));
    assert_eq!(notices, ["1/2 timeout 60", "1/2 timeout 120"]);
    assert_eq!(mind.made(), [0, 60]);
    // The failures have left nothing in the journal, and the call is made again.
    assert_eq!(of_type(&journal, "error"), [Value::Null; 0]);
    assert_eq!(of_type(&journal, "mind_invocation").len(), 2);
    verify(&journal[..]).unwrap();
    let (summary, resumed) = desk::resume(&journal, Vec::new(), desk::mind(&settings));
    assert!(
        matches!(summary, RunSummary::Ended { errors: 0, .. }),
        "{summary:?}"
    );
    verify(&resumed[..]).unwrap();
}

#[test]
fn a_signal_ends_a_wait_at_once() {
    let settings = settings(Scheduling::Sequential);
    let mind = failing(&settings, "2/1", vec![error(ErrorClass::RateLimit); 9]);
    let control = RunControl::default();
    let cancel = control.cancel.clone();
    let start = desk::start(&settings, &&mind);
    let (summary, took) = desk::wait(async {
        let begun = Instant::now();
        let journal = MemJournal::default();
        let run = Orchestrator::start(start, &mind, journal, Paused(begun), control);
        let mut run = run.unwrap();
        let mut show = |_: Progress<'_>| {};
        let signal = async {
            tokio::time::sleep(100 * SECOND).await;
            cancel.cancel();
        };
        let (summary, ()) = tokio::join!(run.run(&mut show), signal);
        (summary.unwrap(), begun.elapsed())
    });
    let RunSummary::Interrupted(why) = summary else {
        panic!("{summary:?}");
    };
    assert_eq!(
        (why.cause, why.round.0, why.next_mind.0),
        (InterruptCause::Signal, 2, 1)
    );
    assert_eq!(took, 100 * SECOND);
    assert_eq!(mind.made(), [0, 60]);
}

#[test]
fn a_cap_in_money_ends_a_wait_of_another_mind() {
    let settings = settings(Scheduling::Snapshot);
    let mind = Capped {
        failing: failing(&settings, "1/0", vec![error(ErrorClass::RateLimit); 9]),
    };
    let (summary, journal) = desk::try_run(&settings, &mind, RunControl::default());
    let RunSummary::Interrupted(why) = summary.unwrap() else {
        panic!("it ended");
    };
    assert_eq!((why.cause, why.next_mind.0), (InterruptCause::Cap, 0));
    assert_eq!(mind.failing.made().len(), 1);
    verify(&journal[..]).unwrap();
}

/// A mind that fails as another one does, and has no money left for its fourth call.
struct Capped {
    failing: Failing,
}

#[async_trait]
impl Mind for &Capped {
    fn label(&self) -> &str {
        self.failing.mind.label()
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        if side.call_key() == "1/3" {
            return Err(MindError::new(ErrorClass::Budget, "no money left"));
        }
        (&self.failing).respond(input, side).await
    }
}

#[test]
fn a_replay_does_not_wait() {
    let settings = settings(Scheduling::Sequential);
    let mind = failing(&settings, "2/1", vec![error(ErrorClass::RateLimit); 3]);
    let (summary, journal, notices) = run(&settings, &mind, |control| {
        control.first_wait = Duration::ZERO;
    });
    assert!(
        matches!(summary, RunSummary::Ended { errors: 0, .. }),
        "{summary:?}"
    );
    assert_eq!(notices, ["2/1 rate_limit 0"; 3]);
    assert_eq!(mind.made(), [0; 4]);
    verify(&journal[..]).unwrap();
}
