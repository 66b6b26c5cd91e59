//! The number of times that a run waits for the disk, and the calls that continue meanwhile.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use logosphere_core::config::Scheduling;
use logosphere_core::journal::{Event, JournalError, JournalSink, MemJournal, PendingReply};
use logosphere_core::{
    CallContext, LocalMind, Mind, MindError, MindId, MindInput, MindReply, Orchestrator, Progress,
    Round, RunControl, Settings, Transcript,
};

use crate::desk::{self, Slow, Ticking};

/// A journal that notes what is written to it, kept in its spool, and waited for.
#[derive(Default)]
struct CanaryMind {
    journal: MemJournal,
    /// The data that is not on the disk yet.
    unsafe_now: usize,
    /// `w` for an event, `k` for an answer that is kept, `s` for a wait, `e` for an emptied spool.
    log: String,
    /// The disk takes no event after this number of them.
    room: Option<usize>,
    /// The wait with this number fails, from 0.
    broken_wait: Option<usize>,
    /// Minds whose answers are in the spool.
    kept: Vec<(Round, MindId)>,
}

fn full() -> JournalError {
    JournalError::new("journal", io::ErrorKind::StorageFull)
}

impl JournalSink for CanaryMind {
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError> {
        if self
            .room
            .is_some_and(|room| self.log.matches('w').count() >= room)
        {
            return Err(full());
        }
        self.log.push('w');
        self.unsafe_now += 1;
        self.journal.append(timestamp, event)
    }

    fn sync(&mut self) -> BoxFuture<'_, Result<(), JournalError>> {
        async {
            if self.unsafe_now > 0 {
                // The disk takes its time; calls under way come back meanwhile.
                tokio::time::sleep(Duration::from_millis(7)).await;
                let failed = self.broken_wait == Some(self.log.matches('s').count());
                self.log.push('s');
                if failed {
                    return Err(full());
                }
                self.unsafe_now = 0;
            }
            Ok(())
        }
        .boxed()
    }

    fn spool(&mut self, answer: &PendingReply) -> Result<(), JournalError> {
        self.kept.push((answer.round, answer.mind_id));
        self.log.push('k');
        self.unsafe_now += 1;
        Ok(())
    }

    fn settle(&mut self) -> Result<(), JournalError> {
        assert_eq!(self.unsafe_now, 0, "{}", self.log);
        self.log.push('e');
        Ok(())
    }
}

fn log(settings: &Settings, mind: impl Mind) -> (String, Vec<u8>) {
    let start = desk::start(settings, &mind);
    let (journal, control) = (CanaryMind::default(), RunControl::default());
    let mut run = Orchestrator::start(start, mind, journal, Ticking::default(), control).unwrap();
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    let CanaryMind { journal, log, .. } = run.into_journal();
    (log, journal.bytes)
}

#[test]
fn l22_a_run_one_by_one_waits_for_the_disk_once_a_call() {
    let settings = desk::settings(Scheduling::Sequential);
    let (log, journal) = log(&settings, desk::mind(&settings));
    // Two events begin the run and its first round, and one ends it.
    let round = "wwswswsws";
    assert_eq!(log, format!("w{}wws", [round; 5].join("w")));
    assert_eq!(journal, desk::run(&settings, desk::mind(&settings)).1);
}

#[test]
fn l22_a_round_at_once_waits_for_the_disk_once_for_all_that_is_there() {
    let settings = desk::settings(Scheduling::Snapshot).with(|settings| settings.concurrency = 4);
    // All answer at once.
    let (log, _) = log(&settings, desk::mind(&settings));
    assert_eq!(log, format!("w{}wws", ["wwwwws"; 5].join("w")));
    // Each answers when it likes: what comes back during a wait shares the next one, and what has to wait for its turn is kept.
    for salt in 0..20 {
        let (log, journal) = self::log(&settings, &Slow::new(desk::mind(&settings), salt));
        let waits = log.matches('s').count();
        assert!(waits <= 1 + 5 * (4 + 1), "{log}");
        let kept = log.matches('k').count();
        assert!(log.matches('e').count() <= kept, "{log}");
        let events = desk::lines(&journal).len();
        assert_eq!(log.matches('w').count(), events, "{log}");
    }
}

/// A mind whose answers take as long as `pause` says of the number of the call, and which counts them.
struct Paced {
    mind: LocalMind,
    pause: fn(usize) -> u64,
    calls: AtomicUsize,
    answers: Arc<AtomicUsize>,
}

impl Paced {
    fn new(settings: &Settings, pause: fn(usize) -> u64) -> Self {
        Self {
            mind: desk::mind(settings),
            pause,
            calls: AtomicUsize::new(0),
            answers: Arc::default(),
        }
    }
}

#[async_trait]
impl Mind for Paced {
    fn label(&self) -> &str {
        self.mind.label()
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis((self.pause)(call))).await;
        let answer = self.mind.respond(input, side).await;
        self.answers.fetch_add(1, Ordering::SeqCst);
        answer
    }
}

/// Runs until the disk fails, and compares the answers with those in the journal or in the spool.
fn nothing_is_lost(settings: &Settings, journal: CanaryMind) {
    let told = format!("{:?} {:?}", journal.room, journal.broken_wait);
    let mind = Paced::new(settings, |call| (call % 3) as u64 * 4);
    let answers = mind.answers.clone();
    let start = desk::start(settings, &mind);
    let control = RunControl::default();
    let mut run = Orchestrator::start(start, mind, journal, Ticking::default(), control).unwrap();
    let failed = desk::wait(async { run.run(&mut |_| {}).await });
    let CanaryMind {
        journal, mut kept, ..
    } = run.into_journal();
    if failed.is_ok() {
        return;
    }
    let written = Transcript::read(&journal.bytes[..]).unwrap().calls;
    kept.extend(written.iter().map(|call| (call.round, call.mind)));
    kept.sort_unstable();
    kept.dedup();
    assert_eq!(
        kept.len(),
        answers.load(Ordering::SeqCst),
        "{told}: {kept:?}"
    );
}

#[test]
fn an_answer_survives_a_disk_that_fails_at_any_event_or_wait() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = desk::settings(scheduling).with(|settings| settings.concurrency = 4);
        for number in 1..40 {
            for (room, broken_wait) in [(Some(number), None), (None, Some(number - 1))] {
                let journal = CanaryMind {
                    room,
                    broken_wait,
                    ..CanaryMind::default()
                };
                nothing_is_lost(&settings, journal);
            }
        }
    }
}

#[test]
fn l16_a_call_that_came_back_during_a_wait_is_not_shown_as_waited_for() {
    let settings = desk::settings(Scheduling::Snapshot).with(|settings| {
        settings.concurrency = 4;
        settings.max_rounds = 1;
    });
    // The second comes back while the disk is waited for, the fourth long after.
    let mind = Paced::new(&settings, |call| [0, 3, 0, 5000][call]);
    let start = desk::start(&settings, &mind);
    let (journal, control) = (CanaryMind::default(), RunControl::default());
    let mut run = Orchestrator::start(start, mind, journal, Ticking::default(), control).unwrap();
    let mut waited_for = Vec::new();
    let mut show = |progress: Progress<'_>| {
        if let Progress::Waiting { mind, .. } = progress {
            waited_for.push(mind);
        }
    };
    desk::wait(run.run(&mut show)).unwrap();
    assert_eq!(waited_for, [MindId(3); 4]);
}
