//! Forks find a message that spreads, and find nothing where nothing is.

use logosphere_core::config::Scheduling;
use logosphere_core::journal::{ForkArm, Forked, InterventionChange, MemJournal};
use logosphere_core::study::fork::{FollowedMessages, ForkPoint, ForkSummary, Replicate};
use logosphere_core::verify::ResumedRun;
use logosphere_core::{Orchestrator, RunControl, Settings, Transcript};

use crate::desk;

fn settings(s: f64, seed: u64) -> Settings {
    desk::settings(Scheduling::Sequential).with(|settings| {
        settings.mind = Some(format!("biased:s={s},type=idea"));
        settings.seed = seed;
        settings.n_minds = 8;
        settings.m_active_pool = 30;
        settings.max_rounds = 20;
    })
}

/// The summary of a fork before round 11 in which `text` is put in, with 20 replicates of ten rounds.
fn forked(settings: &Settings, text: &str) -> ForkSummary {
    let (_, parent) = desk::run(settings, desk::mind(settings));
    let point: ForkPoint = "11".parse().unwrap();
    let length = point.length_in(&parent[..]).unwrap() as usize;
    let shared = ResumedRun::read(&parent[..length]).unwrap();
    let change = InterventionChange::Inject {
        texts: vec![text.to_owned()],
        added_ids: Vec::new(),
    };
    let run = |arm, replicate| {
        let journal = MemJournal::resumed(&parent[..length], shared.lines, &shared.chain);
        let forked = Forked::new("child", arm, replicate, settings.max_rounds);
        let (mind, clock) = (desk::mind(settings), desk::Ticking::default());
        let control = RunControl::default();
        let run = Orchestrator::fork(shared.clone(), forked, mind, journal, clock, control);
        let mut run = run.unwrap();
        if arm == ForkArm::Treated {
            run.intervene(change.clone()).unwrap();
        }
        desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
        Transcript::read(&run.into_journal().bytes[..]).unwrap()
    };
    let replicates: Vec<Replicate> = (0..20)
        .map(|replicate| Replicate {
            control: run(ForkArm::Unchanged, replicate),
            treated: run(ForkArm::Treated, replicate),
        })
        .collect();
    let event = shared.state.intervention(change.clone());
    let InterventionChange::Inject { added_ids, .. } = event.change else {
        unreachable!()
    };
    let followed = FollowedMessages {
        injected: added_ids,
        ablated: Vec::new(),
    };
    ForkSummary::of(&replicates, point, &followed, settings.seed)
}

/// The number of forks in which a message with the favoured word keeps a share of the window, and of those in which a copy of a
/// seed message is said to change the similarity. A copy does change it a little, because the window has it once more.
fn found(forks: u64) -> (usize, usize) {
    let keeps = |seed| {
        let summary = forked(&settings(2.0, seed), "an idea from outside");
        let [_, low, _] = summary.followed[0].share;
        low > 0.0
    };
    let differs = |seed| {
        let copy = "count the doors before you open one\n\n~init";
        let summary = forked(&settings(0.0, seed), copy);
        let mut rows = summary.differences.iter();
        let row = rows.find(|row| row.measure == "tfidf_similarity" && row.part == "rounds");
        row.unwrap().p_holm.unwrap() <= 0.05
    };
    let seeds = 1..=forks;
    (
        seeds.clone().filter(|seed| keeps(*seed)).count(),
        seeds.filter(|seed| differs(*seed)).count(),
    )
}

#[test]
#[ignore = "minutes; in release: cargo test --release -p orrery-logosphere-core --test it -- --ignored fork_effect"]
fn n14_a_planted_message_spreads_and_a_copy_changes_nothing() {
    let (keeps, differs) = found(100);
    assert!(keeps >= 90 && differs <= 8, "{keeps} {differs}");
}

#[test]
fn n14_in_a_few_forks() {
    let (keeps, differs) = found(5);
    assert!(keeps >= 4, "{keeps}");
    assert!(differs <= 2, "{differs}");
}
