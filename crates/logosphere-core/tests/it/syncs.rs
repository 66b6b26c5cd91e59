//! How often a run waits for the disk, and what goes on meanwhile.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use logosphere_core::{
    Control, Event, JournalError, JournalSink, MemJournal, Orchestrator, Scheduling, Settings,
    Spooled,
};

use crate::desk::{self, Slow, Ticking};

/// A journal that notes what is written to it, kept in its spool, and waited for.
#[derive(Default)]
struct Watched {
    journal: MemJournal,
    /// What is not safe yet.
    unsafe_now: usize,
    /// `w` for an event, `k` for an answer that is kept, `s` for a wait, `e` for an emptied spool.
    log: String,
}

impl JournalSink for Watched {
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError> {
        self.log.push('w');
        self.unsafe_now += 1;
        self.journal.append(timestamp, event)
    }

    fn sync(&mut self) -> BoxFuture<'_, Result<(), JournalError>> {
        async {
            if self.unsafe_now > 0 {
                // The disk takes its time; calls under way come back meanwhile.
                tokio::time::sleep(std::time::Duration::from_millis(7)).await;
                self.log.push('s');
                self.unsafe_now = 0;
            }
            Ok(())
        }
        .boxed()
    }

    fn spool(&mut self, _: &Spooled) -> Result<(), JournalError> {
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

fn log(settings: &Settings, mind: impl logosphere_core::Mind) -> (String, Vec<u8>) {
    let start = desk::start(settings, &mind);
    let (journal, control) = (Watched::default(), Control::default());
    let mut run = Orchestrator::start(start, mind, journal, Ticking::default(), control).unwrap();
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    let Watched { journal, log, .. } = run.into_journal();
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
    let settings = Settings {
        concurrency: 4,
        ..desk::settings(Scheduling::Snapshot)
    };
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
