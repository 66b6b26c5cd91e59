//! Calls that fail: what the run does, what the journal says, and what a resume makes of it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use llm_types::ErrorClass;
use logosphere_core::config::{OnError, Scheduling};
use logosphere_core::format::Reason;
use logosphere_core::journal::{AttemptFacts, InterruptCause};
use logosphere_core::verify::{Comparison, compare, verify};
use logosphere_core::{
    CallContext, Mind, MindError, MindId, MindInput, MindReply, Round, RunControl, RunError,
    RunSummary, Settings, WireRequest,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::desk;

/// A mind some of whose calls fail, each as often as said.
struct Failing<M> {
    mind: M,
    failures: Mutex<BTreeMap<String, (u32, MindError)>>,
    calls: Mutex<Vec<String>>,
}

fn failing<'a>(
    settings: &Settings,
    failures: impl IntoIterator<Item = (&'a str, u32, MindError)>,
) -> Failing<logosphere_core::LocalMind> {
    let failures = failures.into_iter();
    Failing {
        mind: desk::mind(settings),
        failures: Mutex::new(
            failures
                .map(|(call, times, error)| (call.to_owned(), (times, error)))
                .collect(),
        ),
        calls: Mutex::default(),
    }
}

fn error(class: ErrorClass, fatal: bool) -> MindError {
    let attempt = |n| {
        let mut attempt = AttemptFacts::new(n);
        (attempt.status, attempt.class) = (Some(503), Some(class));
        (attempt.wait_ms, attempt.latency_ms) = (5, 7);
        attempt
    };
    let mut error = MindError::new(class, "it did not work");
    error.fatal = fatal;
    error.attempts = vec![attempt(1), attempt(2)];
    error
}

#[async_trait]
impl<M: Mind> Mind for &Failing<M> {
    fn label(&self) -> &str {
        self.mind.label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        self.mind.request(input)
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        self.calls.lock().unwrap().push(side.call_key().to_owned());
        if let Some((times, error)) = self.failures.lock().unwrap().get_mut(side.call_key())
            && *times > 0
        {
            *times -= 1;
            return Err(error.clone());
        }
        self.mind.respond(input, side).await
    }
}

fn of_type(journal: &[u8], kind: &str) -> Vec<Value> {
    let events = desk::lines(journal).into_iter();
    events.filter(|event| event["type"] == kind).collect()
}

#[test]
fn a_failed_call_is_written_with_every_try_and_the_round_goes_on() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = desk::settings(scheduling);
        let mind = failing(&settings, [("2/1", 9, error(ErrorClass::Server, false))]);
        let (summary, journal) = desk::run(&settings, &mind);
        let RunSummary::Ended { errors, .. } = summary else {
            panic!("{summary:?}");
        };
        assert_eq!(errors, 1);
        let told = of_type(&journal, "error");
        assert_eq!(
            (told.len(), &told[0]["round"], &told[0]["mind_id"]),
            (1, &2.into(), &1.into())
        );
        assert_eq!(told[0]["attempts"].as_array().unwrap().len(), 2);
        let calls = of_type(&journal, "mind_invocation");
        assert_eq!(calls.len(), 20);
        let failed: Vec<_> = (calls.iter())
            .filter(|call| call["parse"]["reason"] == Reason::CallFailed.to_string())
            .collect();
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["attempts"], told[0]["attempts"]);
        assert_eq!(
            (&failed[0]["raw_output"], &failed[0]["added_ids"]),
            (&"".into(), &serde_json::json!([]))
        );
        let rounds = of_type(&journal, "round_end");
        assert_eq!(
            (&rounds[1]["messages_added"], &rounds[2]["messages_added"]),
            (&3.into(), &4.into())
        );
        assert_eq!(of_type(&journal, "experiment_end")[0]["errors"], 1);
        verify(&journal[..]).unwrap();
    }
}

#[test]
fn a_failure_that_every_call_would_meet_stops_the_run_before_it() {
    let whole = {
        let settings = desk::settings(Scheduling::Snapshot);
        desk::run(&settings, desk::mind(&settings)).1
    };
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = desk::settings(scheduling);
        let mind = failing(&settings, [("2/1", 1, error(ErrorClass::Auth, true))]);
        let (summary, journal) = desk::run(&settings, &mind);
        let RunSummary::Interrupted(why) = summary else {
            panic!("{summary:?}");
        };
        assert_eq!(
            (why.round, why.next_mind, why.cause.as_str()),
            (Round(2), MindId(1), "error")
        );
        assert_eq!(of_type(&journal, "mind_invocation").len(), 5);
        assert_eq!(of_type(&journal, "error")[0]["fatal"], true);
        verify(&journal[..]).unwrap();
        // The key is mended: the same call is made again.
        let (summary, resumed) = desk::resume(&journal, Vec::new(), &mind);
        assert!(
            matches!(summary, RunSummary::Ended { errors: 0, .. }),
            "{summary:?}"
        );
        assert_eq!(
            mind.calls
                .lock()
                .unwrap()
                .iter()
                .filter(|call| *call == "2/1")
                .count(),
            2
        );
        if scheduling == Scheduling::Snapshot {
            assert!(matches!(
                compare(&whole[..], &resumed[..]).unwrap(),
                Comparison::Equal(_)
            ));
        }
        verify(&resumed[..]).unwrap();
    }
}

#[test]
fn with_on_error_stop_any_failure_stops() {
    let settings =
        desk::settings(Scheduling::Sequential).with(|settings| settings.on_error = OnError::Stop);
    let mind = failing(&settings, [("1/2", 1, error(ErrorClass::Timeout, false))]);
    let (summary, journal) = desk::run(&settings, &mind);
    assert!(
        matches!(&summary, RunSummary::Interrupted(why) if why.cause == InterruptCause::Error),
        "{summary:?}"
    );
    let (summary, _) = desk::resume(&journal, Vec::new(), &mind);
    assert!(matches!(summary, RunSummary::Ended { errors: 0, .. }));
}

#[test]
fn three_times_all_minds_in_a_row_are_too_many() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = desk::settings(scheduling)
            .with(|settings| settings.mind = Some("flaky:rate=1".to_owned()));
        let (summary, journal) = desk::run(&settings, desk::mind(&settings));
        let RunSummary::Interrupted(why) = summary else {
            panic!("{summary:?}");
        };
        // Twelve of four minds: the twelfth is asked again.
        assert_eq!(
            (why.round, why.next_mind, why.cause.as_str()),
            (Round(3), MindId(3), "error")
        );
        assert_eq!(of_type(&journal, "error").len(), 12);
        assert_eq!(of_type(&journal, "mind_invocation").len(), 11);
        verify(&journal[..]).unwrap();
    }
}

#[test]
fn a_cap_stops_the_run_without_an_error() {
    let settings = desk::settings(Scheduling::Snapshot);
    let mind = failing(&settings, [("3/0", 1, error(ErrorClass::Budget, false))]);
    let (summary, journal) = desk::run(&settings, &mind);
    assert!(
        matches!(&summary, RunSummary::Interrupted(why) if why.cause == InterruptCause::Cap && why.round == Round(3)),
        "{summary:?}"
    );
    assert!(of_type(&journal, "error").is_empty());
    let (summary, _) = desk::resume(&journal, Vec::new(), &mind);
    assert!(matches!(summary, RunSummary::Ended { errors: 0, .. }));
}

#[test]
fn time_that_is_up_stops_the_run_between_calls() {
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.caps.max_wall = Some(std::time::Duration::from_secs(1));
        settings.max_rounds = 1000;
    });
    // The desk's clock goes on by a millisecond whenever it is looked at.
    let (summary, journal) = desk::run(&settings, desk::mind(&settings));
    assert!(
        matches!(&summary, RunSummary::Interrupted(why) if why.cause == InterruptCause::Wall),
        "{summary:?}"
    );
    assert!(of_type(&journal, "mind_invocation").len() > 50);
    verify(&journal[..]).unwrap();
}

#[test]
fn time_that_is_up_stops_a_run_whose_call_never_comes_back() {
    let settings = desk::settings(Scheduling::Snapshot)
        .with(|settings| settings.caps.max_wall = Some(std::time::Duration::from_secs(3)));
    // The token that it cancels is nobody's.
    let mind = Stuck {
        mind: desk::mind(&settings),
        cancel: CancellationToken::new(),
    };
    let start = desk::start(&settings, &&mind);
    let journal = logosphere_core::journal::MemJournal::default();
    let (summary, took) = desk::wait(async {
        let begun = tokio::time::Instant::now();
        let clock = Paused(begun);
        let run = logosphere_core::Orchestrator::start(
            start,
            &mind,
            journal,
            clock,
            RunControl::default(),
        );
        let summary = run.unwrap().run(&mut |_| {}).await.unwrap();
        (summary, begun.elapsed())
    });
    assert!(
        matches!(&summary, RunSummary::Interrupted(why) if why.cause == InterruptCause::Wall),
        "{summary:?}"
    );
    // The cap, and then as long as calls under way are waited for.
    assert_eq!(took, std::time::Duration::from_secs(13));
}

/// The time of the runtime, which advances when all tasks wait.
struct Paused(tokio::time::Instant);

impl llm_types::Clock for Paused {
    fn now(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH
    }

    fn elapsed(&self) -> std::time::Duration {
        self.0.elapsed()
    }
}

#[test]
fn a_cancelled_run_begins_nothing_new_and_keeps_what_was_under_way() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = desk::settings(scheduling);
        let cancel = CancellationToken::new();
        let mind = Cancelling {
            mind: desk::mind(&settings),
            at: "2/1",
            cancel: cancel.clone(),
        };
        let mut control = RunControl::default();
        control.cancel = cancel;
        let (summary, journal) = desk::try_run(&settings, &mind, control);
        let RunSummary::Interrupted(why) = summary.unwrap() else {
            panic!("it ended");
        };
        assert_eq!(why.cause, InterruptCause::Signal);
        // From a snapshot, four calls are under way at once, and all of them come back.
        let next = match scheduling {
            Scheduling::Sequential => (Round(2), MindId(2)),
            Scheduling::Snapshot => (Round(3), MindId(0)),
        };
        assert_eq!((why.round, why.next_mind), next);
        verify(&journal[..]).unwrap();
        let (_, resumed) = desk::resume(&journal, Vec::new(), desk::mind(&settings));
        let (_, whole) = desk::run(&settings, desk::mind(&settings));
        assert!(matches!(
            compare(&whole[..], &resumed[..]).unwrap(),
            Comparison::Equal(_)
        ));
    }
}

/// A mind that cancels the run in the middle of one of its calls.
struct Cancelling<M> {
    mind: M,
    at: &'static str,
    cancel: CancellationToken,
}

#[async_trait]
impl<M: Mind> Mind for &Cancelling<M> {
    fn label(&self) -> &str {
        self.mind.label()
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        if side.call_key() == self.at {
            self.cancel.cancel();
            tokio::time::sleep(std::time::Duration::from_secs(9)).await;
        }
        self.mind.respond(input, side).await
    }
}

#[test]
fn a_call_that_never_comes_back_is_given_up_after_a_signal() {
    let settings = desk::settings(Scheduling::Snapshot);
    let cancel = CancellationToken::new();
    let mind = Stuck {
        mind: desk::mind(&settings),
        cancel: cancel.clone(),
    };
    let mut control = RunControl::default();
    control.cancel = cancel;
    let (summary, journal) = desk::try_run(&settings, &mind, control);
    let RunSummary::Interrupted(why) = summary.unwrap() else {
        panic!("it ended");
    };
    assert_eq!((why.round, why.next_mind), (Round(1), MindId(1)));
    verify(&journal[..]).unwrap();
}

struct Stuck<M> {
    mind: M,
    cancel: CancellationToken,
}

#[async_trait]
impl<M: Mind> Mind for &Stuck<M> {
    fn label(&self) -> &str {
        self.mind.label()
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        if side.call_key() == "1/1" {
            self.cancel.cancel();
            std::future::pending::<()>().await;
        }
        self.mind.respond(input, side).await
    }
}

/// A mind that adds a field to its requests.
struct Telling<M>(M);

#[async_trait]
impl<M: Mind> Mind for &Telling<M> {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        let mut request = self.0.request(input)?;
        let messages = input.prompt().text().matches("\n---\n").count();
        if messages > 0 {
            let text = String::from_utf8(request.body).unwrap();
            request.body = text
                .replace(
                    "\"max_tokens\"",
                    &format!("\"user\":\"{messages} read\",\"max_tokens\""),
                )
                .into();
        }
        Ok(request)
    }

    async fn respond(&self, _: &MindInput, _: &CallContext) -> Result<MindReply, MindError> {
        panic!("it was asked");
    }
}

#[test]
fn a_request_that_tells_too_much_is_not_sent() {
    let settings = desk::settings(Scheduling::Sequential);
    let (summary, journal) = desk::try_run(
        &settings,
        &Telling(desk::mind(&settings)),
        RunControl::default(),
    );
    let error = summary.unwrap_err();
    assert!(
        matches!(
            &error,
            RunError::Leak {
                round: Round(1),
                mind: MindId(0),
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("3 read"), "{error}");
    let told = of_type(&journal, "run_interrupted");
    assert_eq!((told.len(), &told[0]["cause"]), (1, &"error".into()));
}

#[test]
fn rules_that_stop_a_run_write_its_end() {
    let stop = |mind: &str, rules: fn(&mut logosphere_core::config::StopRules), minds: u32| {
        let settings = desk::settings(Scheduling::Sequential).with(|settings| {
            settings.mind = Some(mind.to_owned());
            rules(&mut settings.stop);
            settings.n_minds = minds;
            settings.max_rounds = 400;
        });
        let (_, journal) = desk::run(&settings, desk::mind(&settings));
        verify(&journal[..]).unwrap();
        let end = of_type(&journal, "experiment_end").remove(0);
        (
            end["stop_reason"].as_str().unwrap().to_owned(),
            end["total_rounds"].as_u64().unwrap(),
        )
    };
    let silence = |rules: &mut logosphere_core::config::StopRules| rules.silence_rounds = Some(3);
    assert_eq!(stop("silent", silence, 4), ("silence_rounds".to_owned(), 3));
    let fixed = |rules: &mut logosphere_core::config::StopRules| rules.fixed_pool = true;
    let (reason, rounds) = stop("copier:mu=0", fixed, 4);
    assert_eq!(reason, "fixed_pool");
    assert!(rounds > 1);
    // Seven in ten answers of the disobedient are read in some way.
    let loss = |rules: &mut logosphere_core::config::StopRules| rules.loss_above = Some(0.1);
    let (reason, rounds) = stop("disobedient", loss, 5);
    assert_eq!((reason.as_str(), rounds), ("loss_above", 10));
    assert_eq!(stop("copier", silence, 4).0, "max_rounds");
}

/// A journal that accepts a limited number of events, and then fails once.
struct Full {
    journal: logosphere_core::journal::MemJournal,
    left: u32,
}

impl logosphere_core::journal::JournalSink for Full {
    fn append(
        &mut self,
        timestamp: &str,
        event: &logosphere_core::journal::Event,
    ) -> Result<(), logosphere_core::journal::JournalError> {
        self.left = self.left.wrapping_sub(1);
        if self.left == u32::MAX {
            return Err(logosphere_core::journal::JournalError::new(
                "journal",
                std::io::ErrorKind::StorageFull,
            ));
        }
        self.journal.append(timestamp, event)
    }
}

#[test]
fn a_journal_that_is_full_behind_any_event_holds_and_goes_on() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = desk::settings(scheduling).with(|settings| {
            settings.mind = Some("flaky:rate=0.3".to_owned());
            settings.max_rounds = 3;
        });
        let (_, whole) = desk::run(&settings, desk::mind(&settings));
        let events = desk::lines(&whole).len() as u32;
        for left in 1..events {
            let mind = desk::mind(&settings);
            let start = desk::start(&settings, &mind);
            let journal = Full {
                journal: logosphere_core::journal::MemJournal::default(),
                left,
            };
            let (clock, control) = (desk::Ticking::default(), RunControl::default());
            let mut run =
                logosphere_core::Orchestrator::start(start, mind, journal, clock, control).unwrap();
            let error = desk::wait(async { run.run(&mut |_| {}).await }).unwrap_err();
            assert!(matches!(error, RunError::Journal(_)), "{error}");
            let journal = run.into_journal().journal.bytes;
            verify(&journal[..]).unwrap_or_else(|error| panic!("{left}: {error}"));
            let (_, resumed) = desk::resume(&journal, Vec::new(), desk::mind(&settings));
            verify(&resumed[..]).unwrap_or_else(|error| panic!("{left}: {error}"));
            assert!(
                matches!(
                    compare(&whole[..], &resumed[..]).unwrap(),
                    Comparison::Equal(_)
                ),
                "{left}"
            );
        }
    }
}
