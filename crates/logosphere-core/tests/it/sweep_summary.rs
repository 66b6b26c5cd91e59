//! The result of a sweep over runs in memory.

use std::ops::ControlFlow;

use logosphere_core::Transcript;
use logosphere_core::measures::metrics::Metric;
use logosphere_core::study::sweep::{Cell, CellFindings, CellVerdict, SweepPlan, SweepSummary};

use crate::population::{self, BiasedMutator};

const PLAN: &str = r#"
schema_version = 1
name = "by-window"
repeats = 5
init = "init.md"
[base]
n_minds = 8
max_rounds = 40
[axes]
m_active_pool = [20, 50]
[tests]
null_runs = 199
"#;

/// The runs of a cell of mutators that prefer texts with a word by `s`.
fn runs(plan: &SweepPlan, cell: &Cell, s: f64) -> Vec<Transcript> {
    let run = |repeat| {
        let settings = cell
            .layer
            .clone()
            .settings(cell.seed(plan, repeat))
            .unwrap();
        let settings = settings.with(|settings| {
            settings.provider = "offline".into();
            settings.mind = Some("mutator:p=0.05".into());
        });
        let mind = BiasedMutator::new(s, 0.05, &settings);
        population::run_of(&settings, &population::sentences(50, 9), mind)
    };
    (0..plan.repeats).map(run).collect()
}

fn summary(plan: &SweepPlan, s: &[f64], threads: usize) -> SweepSummary {
    let found: Vec<(Cell, CellFindings)> = (plan.cells().into_iter().zip(s))
        .map(|(cell, s)| {
            let runs = runs(plan, &cell, *s);
            let go_on = &mut |_| ControlFlow::Continue(());
            let findings = CellFindings::of(&runs, plan, None, threads, go_on).unwrap();
            (cell, findings)
        })
        .collect();
    SweepSummary::of(plan, &found)
}

#[test]
fn the_cell_with_selection_is_found_and_the_neutral_one_is_not() {
    let plan = SweepPlan::parse(PLAN.as_bytes()).unwrap();
    let found = summary(&plan, &[0.0, 1.0], 2);
    assert_eq!(found.axes, ["m_active_pool"]);
    let [neutral, selected] = &found.cells[..] else {
        panic!("{} cells", found.cells.len())
    };
    assert_eq!((neutral.values[0].as_str(), neutral.repeats), ("20", 5));
    assert!(
        matches!(neutral.verdict, CellVerdict::Drift | CellVerdict::Undecided),
        "{}",
        neutral.sentence
    );
    assert_eq!(selected.verdict, CellVerdict::Selection);
    assert!(
        selected
            .sentence
            .starts_with("Selection: texts with \"moon\" are passed on "),
        "{}",
        selected.sentence
    );
    assert!(
        selected
            .sentence
            .ends_with("corrected for all cells and all words).")
    );
    assert!(neutral.effects.iter().all(|effect| effect.delta.is_none()));
    let similarity = |effects: &[logosphere_core::study::sweep::Effect]| {
        let mut effects = effects.iter();
        *effects
            .find(|effect| effect.measure == Metric::TfidfSimilarity)
            .unwrap()
    };
    let effect = similarity(&selected.effects);
    assert!((-1.0..=1.0).contains(&effect.delta.unwrap()));
    assert!(effect.p_holm.unwrap() >= effect.p.unwrap());
    assert!(effect.low < effect.mean && effect.mean < effect.high);
    assert_eq!(found, summary(&plan, &[0.0, 1.0], 4));
}

#[test]
fn one_repeat_is_undecided() {
    let plan = PLAN.replace("repeats = 5", "repeats = 1");
    let plan = SweepPlan::parse(plan.as_bytes()).unwrap();
    let found = summary(&plan, &[1.0], 1);
    assert_eq!(found.cells[0].verdict, CellVerdict::Undecided);
    assert_eq!(
        found.cells[0].sentence,
        "Undecided: one repeat shows nothing across repeats."
    );
}
