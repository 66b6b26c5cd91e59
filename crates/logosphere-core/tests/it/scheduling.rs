//! The messages of the same round that each mind reads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use llm_types::Clock;
use logosphere_core::config::Scheduling;
use logosphere_core::journal::MemJournal;
use logosphere_core::{
    CallContext, LocalMind, Mind, MindError, MindId, MindInput, MindReply, Orchestrator, Progress,
    Round, RunControl, Settings,
};
use serde_json::Value;

use crate::desk;

/// For each call whether it read a message that was sent in its own round.
fn reads_own_round(settings: &Settings) -> Vec<bool> {
    let (_, journal) = desk::run(settings, desk::mind(settings));
    let mut before = 0;
    let mut reads = Vec::new();
    for event in desk::lines(&journal) {
        match event["type"].as_str().unwrap() {
            "round_start" => before = event["pool_size"].as_u64().unwrap(),
            "mind_invocation" => {
                let ids = event["sampled_ids"].as_array().unwrap();
                reads.push(ids.iter().any(|id| id.as_u64().unwrap() >= before));
            }
            _ => {}
        }
    }
    reads
}

#[test]
fn one_by_one_a_mind_can_read_what_those_before_it_sent() {
    let reads = reads_own_round(&desk::settings(Scheduling::Sequential));
    assert_eq!(reads.len(), 20);
    assert!(
        reads.iter().filter(|reads| **reads).count() > 5,
        "{reads:?}"
    );
    // Nobody was before the first of a round.
    assert!(reads.iter().step_by(4).all(|reads| !reads));
}

#[test]
fn from_a_snapshot_nobody_reads_what_was_sent_in_the_round() {
    for concurrency in [1, 4, 16] {
        let settings = desk::settings(Scheduling::Snapshot)
            .with(|settings| settings.concurrency = concurrency);
        let reads = reads_own_round(&settings);
        assert_eq!(reads, [false; 20]);
    }
}

#[test]
fn a_pool_that_forgets_gives_the_same_run() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let all = desk::settings(scheduling);
        let active = all
            .clone()
            .with(|settings| settings.keep = logosphere_core::config::RetentionSetting::Active);
        let inputs = |settings: &Settings| {
            let (_, journal) = desk::run(settings, desk::mind(settings));
            let events = desk::lines(&journal).into_iter();
            let calls = events.filter(|event| event["type"] == "mind_invocation");
            calls
                .map(|call| call["input_messages"].clone())
                .collect::<Vec<Value>>()
        };
        assert_eq!(inputs(&all), inputs(&active));
    }
}

/// A mind whose first answer takes two minutes.
struct Late(LocalMind, AtomicBool);

#[async_trait]
impl Mind for Late {
    fn label(&self) -> &str {
        self.0.label()
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        if !self.1.swap(true, Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_mins(1)).await;
            side.attempt().store(2, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_mins(1)).await;
        }
        self.0.respond(input, side).await
    }
}

/// The time of the runtime, which does not wait.
struct Paused(tokio::time::Instant);

impl Clock for Paused {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[test]
fn l16_a_call_that_does_not_come_back_is_shown_each_second() {
    let settings = desk::settings(Scheduling::Sequential);
    let mut waits = Vec::new();
    desk::wait(async {
        let mind = Late(desk::mind(&settings), AtomicBool::new(false));
        let start = desk::start(&settings, &mind);
        let clock = Paused(tokio::time::Instant::now());
        let journal = MemJournal::default();
        let mut run =
            Orchestrator::start(start, mind, journal, clock, RunControl::default()).unwrap();
        run.run(&mut |progress| {
            if let Progress::Waiting {
                round,
                mind,
                since,
                attempt,
            } = progress
            {
                waits.push((round, mind, since.as_secs(), attempt));
            }
        })
        .await
        .unwrap();
    });
    let expected: Vec<_> = (1..120)
        .filter(|second| *second != 60)
        .map(|second| (Round(1), MindId(0), second, if second < 60 { 1 } else { 2 }))
        .collect();
    waits.retain(|(_, _, second, _)| *second != 60);
    assert!(
        waits.starts_with(&expected) && waits.len() <= 120,
        "{waits:?}"
    );
}
