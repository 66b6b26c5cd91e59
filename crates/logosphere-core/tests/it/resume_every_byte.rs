//! A journal that ends anywhere goes on to the same end, and nothing is asked twice.

use logosphere_core::{Comparison, Resumption, Scheduling, Settings, compare};

use crate::desk::{self, Slow};

fn small(scheduling: Scheduling) -> Settings {
    Settings {
        n_minds: 3,
        k_samples: 2,
        max_rounds: 2,
        ..desk::settings(scheduling)
    }
}

/// The whole lines of what was written up to `cut`.
fn whole_lines(journal: &[u8], cut: usize) -> &[u8] {
    let end = journal[..cut].iter().rposition(|byte| *byte == b'\n');
    &journal[..end.map_or(0, |end| end + 1)]
}

fn calls_in(journal: &[u8]) -> usize {
    let events = desk::lines(journal).into_iter();
    events
        .filter(|event| event["type"] == "mind_invocation")
        .count()
}

#[test]
fn after_every_byte() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = small(scheduling);
        let (_, journal) = desk::run(&settings, desk::mind(&settings));
        let first_line = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut last = None;
        for cut in first_line..journal.len() {
            let kept = whole_lines(&journal, cut);
            // Between two line ends only the torn part differs, and the file journal's tests cut that off.
            if last.replace(kept.len()) == Some(kept.len()) {
                continue;
            }
            let slow = Slow::new(desk::mind(&settings), 3);
            let (_, resumed) = desk::resume(kept, Vec::new(), &slow);
            let compared = compare(&journal[..], &resumed[..]).unwrap();
            assert!(
                matches!(compared, Comparison::Equal(_)),
                "{cut}: {compared:?}"
            );
            let made = slow.calls.lock().unwrap().len();
            assert_eq!(made, calls_in(&journal) - calls_in(kept), "{cut}");
            logosphere_core::replay(&resumed[..]).unwrap();
        }
        // Each line but the last is an end that was tried.
        assert!(Resumption::read(&journal[..]).unwrap().ended);
    }
}
