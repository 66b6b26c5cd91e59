//! Forks without a change continue as their parents did.

use logosphere_core::config::Scheduling;
use logosphere_core::journal::{ForkArm, Forked, MemJournal, fork_seed};
use logosphere_core::study::fork::ForkPoint;
use logosphere_core::verify::{Comparison, ResumedRun, compare, verify};
use logosphere_core::{MindId, Orchestrator, Round, RunControl, Settings, Transcript};

use crate::desk;

/// Five runs with different minds and schedulings.
fn parents() -> Vec<Settings> {
    let with = |scheduling, mind: &str, seed| {
        desk::settings(scheduling).with(|settings| {
            settings.mind = Some(mind.to_owned());
            settings.max_rounds = 40;
            settings.m_active_pool = 40;
            settings.seed = seed;
        })
    };
    vec![
        with(Scheduling::Sequential, "mutator:p=0.1", 1),
        with(Scheduling::Sequential, "copier:mu=0.1", 2),
        with(Scheduling::Sequential, "disobedient", 3),
        with(Scheduling::Sequential, "biased:s=1,type=door", 4),
        with(Scheduling::Snapshot, "markov:n=2", 5),
    ]
}

/// The journal of a fork of `parent` at a point.
fn fork(
    parent: &[u8],
    point: ForkPoint,
    settings: &Settings,
    arm: ForkArm,
    replicate: u32,
) -> Vec<u8> {
    let length = point.length_in(parent).unwrap() as usize;
    let shared = ResumedRun::read(&parent[..length]).unwrap();
    let journal = MemJournal::resumed(&parent[..length], shared.lines, &shared.chain);
    let forked = Forked::new("child", arm, replicate, settings.max_rounds);
    let (mind, clock) = (desk::mind(settings), desk::Ticking::default());
    let mut run =
        Orchestrator::fork(shared, forked, mind, journal, clock, RunControl::default()).unwrap();
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    run.into_journal().bytes
}

#[test]
fn n13_a_fork_without_a_change_is_its_parent() {
    let mut equal = 0;
    for settings in parents() {
        let (_, parent) = desk::run(&settings, desk::mind(&settings));
        let is_snapshot = settings.scheduling == Scheduling::Snapshot;
        let points = (0..100).map(|at| {
            let call = if is_snapshot { at % 40 * 4 } else { at * 8 / 5 };
            let (round, mind) = (Round(1 + call / 4), MindId(call % 4));
            ForkPoint { round, mind }
        });
        for point in points {
            let child = fork(&parent, point, &settings, ForkArm::Unchanged, 0);
            let compared = compare(&parent[..], &child[..]).unwrap();
            assert!(
                matches!(compared, Comparison::Equal(_)),
                "{point}: {compared:?}"
            );
            verify(&child[..]).unwrap();
            equal += 1;
        }
    }
    assert_eq!(equal, 500);
}

#[test]
fn n13_both_arms_of_a_replicate_draw_the_same_and_replicates_differ() {
    for settings in parents() {
        let (_, parent) = desk::run(&settings, desk::mind(&settings));
        let point = "9".parse().unwrap();
        let texts = |arm, replicate| {
            let child = fork(&parent, point, &settings, arm, replicate);
            verify(&child[..]).unwrap();
            Transcript::read(&child[..]).unwrap().messages
        };
        for replicate in 0..4 {
            let control = texts(ForkArm::Unchanged, replicate);
            assert!(control == texts(ForkArm::Treated, replicate));
            assert!(control != texts(ForkArm::Unchanged, replicate + 1));
        }
    }
    assert_eq!(
        (fork_seed(7, 0), fork_seed(7, 1)),
        (7, 10_801_668_222_989_738_813)
    );
}

#[test]
fn a_fork_may_go_on_after_the_end_and_be_forked_again() {
    let settings = &parents()[0];
    let (_, parent) = desk::run(settings, desk::mind(settings));
    let longer = settings.clone().with(|settings| settings.max_rounds = 45);
    let child = fork(&parent, "41".parse().unwrap(), &longer, ForkArm::Treated, 3);
    assert_eq!(Transcript::read(&child[..]).unwrap().rounds.len(), 45);
    let end = String::from_utf8(child.clone()).unwrap();
    let end: serde_json::Value = serde_json::from_str(end.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&end["total_rounds"], &end["own"]["calls"]),
        (&45.into(), &20.into())
    );
    let again = fork(
        &child,
        "44.2".parse().unwrap(),
        &longer,
        ForkArm::Unchanged,
        0,
    );
    verify(&again[..]).unwrap();
    assert!(matches!(
        compare(&child[..], &again[..]).unwrap(),
        Comparison::Equal(_)
    ));
}

#[test]
fn a_point_that_is_not_in_the_journal_is_refused_with_its_last_round() {
    let settings = &parents()[4];
    let (_, parent) = desk::run(settings, desk::mind(settings));
    let refused = |point: &str| {
        let point: ForkPoint = point.parse().unwrap();
        point.length_in(&parent[..]).unwrap_err().to_string()
    };
    assert_eq!(
        refused("42"),
        "the journal has no call 42; its last round is 40"
    );
    let snapshot =
        "the minds of a round read the pool as it was when the round began; fork before a round: 3";
    assert_eq!(refused("3.1"), snapshot);
    let settings = &parents()[0];
    let (_, parent) = desk::run(settings, desk::mind(settings));
    let point: ForkPoint = "3.4".parse().unwrap();
    assert!(point.length_in(&parent[..]).is_err());
    for wrong in ["", "0", "x", "3.x", "3.", "-1"] {
        assert!(wrong.parse::<ForkPoint>().is_err(), "{wrong}");
    }
}
