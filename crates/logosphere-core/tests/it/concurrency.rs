//! A run from snapshots does not depend on which answer comes first.

use logosphere_core::config::Scheduling;
use logosphere_core::verify::{Comparison, compare};

use crate::desk::{self, Slow};

#[test]
fn any_latency_and_any_concurrency_make_the_same_journal() {
    let settings = |seed, concurrency| {
        desk::settings(Scheduling::Snapshot).with(|settings| {
            settings.seed = seed;
            settings.concurrency = concurrency;
            settings.n_minds = 9;
            settings.max_rounds = 3;
        })
    };
    for seed in 0..50 {
        let journal = |concurrency, salt| {
            let settings = settings(seed, concurrency);
            let slow = Slow::new(desk::mind(&settings), salt);
            desk::run(&settings, &slow).1
        };
        let first = journal(1, 0);
        for (concurrency, salt) in [(16, seed), (4, seed + 100)] {
            let other = journal(concurrency, salt);
            let compared = compare(&first[..], &other[..]).unwrap();
            assert!(
                matches!(compared, Comparison::Equal(35)),
                "seed {seed}: {compared:?}"
            );
        }
    }
}

#[test]
fn as_many_calls_are_under_way_as_allowed_and_no_more() {
    let settings = desk::settings(Scheduling::Snapshot).with(|settings| {
        settings.n_minds = 8;
        settings.max_rounds = 1;
        settings.concurrency = 3;
        settings.mind = Some("slow:ms=100".to_owned());
    });
    let begun = std::time::Duration::from_millis(300);
    let took = desk::wait(async {
        let mind = desk::mind(&settings);
        let start = desk::start(&settings, &mind);
        let now = tokio::time::Instant::now();
        let mut run = logosphere_core::Orchestrator::start(
            start,
            mind,
            logosphere_core::journal::MemJournal::default(),
            desk::Ticking::default(),
            logosphere_core::RunControl::default(),
        )
        .unwrap();
        run.run(&mut |_| {}).await.unwrap();
        now.elapsed()
    });
    // Eight calls, three at a time, in three waves of a tenth of a second of paused time.
    assert_eq!(took, begun);
}
