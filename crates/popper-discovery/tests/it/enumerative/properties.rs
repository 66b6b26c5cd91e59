//! Properties of every proposal.

use std::collections::BTreeSet;

use popper_discovery::{EnumerativeProposer, FailureExample, Snapshot};
use popper_harness::decide::{Harness, Status};
use popper_harness::law::{Extensions, Law, Program};
use popper_harness::law::{holds, observe};
use popper_harness::universe::{KineticGrid, Tabulated, Universe, random_universe};
use serde_json::Value;

use super::{Order, empty, fixture, hasty, next_laws, read, story, whole_loop};

/// Whether a state of an excerpt, or two consecutive ones, violate a law without preconditions. A second implementation from the
/// meaning of the templates, for claims about single states and steps.
fn broken(law: &Law, specimen: &FailureExample, universe: &Tabulated) -> bool {
    use popper_harness::law::syntax::Time;
    let Ok(program) = Program::compile(law, universe) else {
        return false;
    };
    let popper_harness::law::Claim::Always {
        antecedent,
        consequent,
        steps,
    } = &program.claim
    else {
        return false;
    };
    let parse = |text: &str| universe.alphabet().parse(text).unwrap();
    let start = parse(&specimen.initial_state);
    let met = program.preconditions.iter().all(|condition| {
        let left = observe(&condition.left, &start, universe).unwrap();
        let right = observe(&condition.right, &start, universe).unwrap();
        condition.op.compares(&left, &right)
    });
    let last = program.horizon - u64::from(*steps);
    met && specimen
        .excerpt
        .iter()
        .filter(|m| m.t <= last)
        .any(|moment| {
            // The run is made from the start with the rule, which the proposer does not know.
            let now = parse(&moment.state);
            assert_eq!(now, universe.evolve(&start, moment.t));
            let after = specimen.excerpt.iter().find(|m| m.t == moment.t + 1);
            if *steps && after.is_none() {
                return false;
            }
            let after = universe.step(&now);
            let mut value = |index: usize, time| {
                let state = match time {
                    Time::Now => &now,
                    Time::Next => &after,
                    _ => &start,
                };
                observe(&program.observables[index], state, universe)
            };
            let antecedent = antecedent
                .as_ref()
                .is_none_or(|p| holds(p, moment.t, &mut value) == Ok(true));
            antecedent && holds(consequent, moment.t, &mut value) == Ok(false)
        })
}

/// Whether a law speaks of what the excerpts do not show: collisions that a rule announces.
fn needs_the_rule(law: &Value) -> bool {
    law.to_string().contains("incoming_collisions")
}

fn check(universe: &Tabulated, turns: &[(Snapshot, Vec<Value>)]) {
    let mut proposed = BTreeSet::new();
    for (snapshot, laws) in turns {
        assert_eq!(laws.len(), 20, "{}", snapshot.iteration);
        for source in laws {
            let law = read(source);
            Program::compile(&law, universe).unwrap();
            assert!(proposed.insert(law.fingerprint()), "{source}");
            let shown = snapshot.falsified.iter().map(|f| &f.counterexample);
            for specimen in shown.chain(&snapshot.gallery) {
                let open = needs_the_rule(source);
                assert!(
                    open || !broken(&law, specimen, universe),
                    "{source} {specimen:?}"
                );
            }
        }
    }
}

#[test]
fn no_law_twice_none_that_was_seen_to_break_each_one_of_the_language() {
    for seed in 0..3 {
        let grid = story(KineticGrid, hasty(), seed, Order::Proposed, 6);
        check(&KineticGrid, &grid.turns);
        let universe = random_universe(seed);
        let random = story(universe.clone(), hasty(), seed, Order::Shuffled(seed), 6);
        check(&universe, &random.turns);
    }
    for number in [30, 90, 110, 184] {
        let universe = fixture(&format!("elementary_{number}"));
        let elementary = story(universe.clone(), hasty(), 1, Order::Proposed, 6);
        check(&universe, &elementary.turns);
    }
}

#[tokio::test]
async fn the_whole_loop_takes_every_proposal_and_finds_what_is_known() {
    let tested = whole_loop(KineticGrid, 0).await;
    assert_eq!(tested.len(), 50);
    let with = |status| tested.iter().filter(move |(_, other)| *other == status);
    assert_eq!(with(Status::Unknown).count(), 0);
    for known in [
        "conserved_gt_plus_X",
        "conserved_lt_plus_X",
        "conserved_gt_minus_lt",
        "conserved_gt_plus_lt_plus_2_X",
        "symmetry_mirror_swap",
    ] {
        assert!(
            with(Status::Pass).any(|(law, _)| law.law_id() == known),
            "{known}"
        );
    }
}

#[test]
fn the_same_snapshot_gives_the_same_laws() {
    let story = story(random_universe(4), hasty(), 9, Order::Proposed, 3);
    let proposer = EnumerativeProposer::new(9);
    let mut stored = BTreeSet::new();
    for (snapshot, laws) in &story.turns {
        let mut snapshot = snapshot.clone();
        assert_eq!(*laws, next_laws(proposer, &mut snapshot, &mut stored, 20));
    }
    // The seed chooses among equals.
    let mut snapshot = story.turns[0].0.clone();
    let other = EnumerativeProposer::new(10);
    let other = next_laws(other, &mut snapshot, &mut BTreeSet::new(), 20);
    assert_ne!(story.turns[0].1, other);
}

/// A universe with this many symbols in which every cell becomes what its left neighbour was.
fn shifting(symbols: usize) -> Tabulated {
    let symbols: String = ".abct1+-".chars().take(symbols).collect();
    let patterns: Vec<Value> = symbols
        .chars()
        .map(|symbol| serde_json::json!([format!("{symbol}??"), symbol.to_string()]))
        .collect();
    let universe = serde_json::json!({
        "id": "shifting", "symbols": symbols, "radius": 1, "rule": {"patterns": patterns, "default": "."},
    });
    Tabulated::from_json(&universe.to_string()).unwrap()
}

#[test]
fn the_walk_does_not_end_whatever_the_symbols() {
    for symbols in 1..=8 {
        let universe = shifting(symbols);
        let mut snapshot = empty(&Harness::new(universe.clone(), hasty()).unwrap());
        let mut stored = BTreeSet::new();
        for (k, whole) in [(20, 20), (1000, 1020)] {
            let proposer = EnumerativeProposer::default();
            let laws = next_laws(proposer, &mut snapshot, &mut stored, k);
            // No law came twice.
            assert_eq!((laws.len(), stored.len()), (k, whole), "{symbols} symbols");
            for law in &laws {
                Program::compile(&read(law), &universe).unwrap();
            }
        }
    }
}

#[test]
fn the_walk_does_not_end_after_a_long_run() {
    let mut story = story(KineticGrid, hasty(), 3, Order::Proposed, 8);
    let (mut snapshot, _) = story.turns.pop().unwrap();
    let proposer = EnumerativeProposer::new(3);
    let laws = next_laws(proposer, &mut snapshot, &mut story.stored, 1000);
    assert_eq!(laws.len(), 1000);
}

#[test]
fn a_damaged_snapshot_is_data() {
    let story = story(KineticGrid, hasty(), 0, Order::Proposed, 2);
    let mut snapshot = story.turns[1].0.clone();
    for (place, falsified) in snapshot.falsified.iter_mut().enumerate() {
        let specimen = &mut falsified.counterexample;
        match place % 5 {
            0 => specimen.initial_state = String::new(),
            1 => specimen.initial_state = "??".into(),
            2 => specimen.excerpt[0].t = u64::MAX,
            3 => specimen.excerpt[0].state = ">".repeat(40),
            _ => falsified.law = Value::Null,
        }
    }
    for specimen in &mut snapshot.gallery {
        specimen.excerpt.clear();
    }
    snapshot.contract.symbols = vec!['\'', '?'];
    let proposer = EnumerativeProposer::default();
    next_laws(proposer, &mut snapshot, &mut BTreeSet::new(), 20);
    snapshot.contract.symbols.clear();
    next_laws(proposer, &mut snapshot, &mut BTreeSet::new(), 20);
    snapshot.cursor = [("step".to_owned(), u64::MAX), ("bound".to_owned(), 3)].into();
    next_laws(proposer, &mut snapshot, &mut BTreeSet::new(), 20);
}

/// Positions of a walk in its parts that no walk writes.
#[test]
fn a_damaged_cursor_is_data() {
    let story = story(KineticGrid, hasty(), 0, Order::Proposed, 4);
    let mut whole = story.turns[3].0.clone();
    let proposer = EnumerativeProposer::default();
    // The cursor of these observations.
    next_laws(proposer, &mut whole, &mut BTreeSet::new(), 20);
    assert!(whole.cursor.keys().any(|key| key.ends_with(" left")));
    for parts in [
        &[" between"][..],
        &[" left"],
        &[" end"],
        &[" between", " left", " end"],
    ] {
        for damage in [0, 1, 99, 250, u64::MAX] {
            let mut snapshot = whole.clone();
            for (key, position) in &mut snapshot.cursor {
                if parts.iter().any(|part| key.ends_with(part)) {
                    *position = damage;
                }
            }
            let laws = next_laws(proposer, &mut snapshot, &mut BTreeSet::new(), 200);
            assert_eq!(laws.len(), 200, "{damage}{parts:?}");
        }
    }
}

/// A law in words that no proposer uses, refuted and accepted: mutations are laws, too.
#[test]
fn laws_of_others_are_mutated() {
    let claims = [
        ("bound", "-(f(t)) + 2 * (g(t) - 3) <= 4 * f(0)"),
        ("bound", "f(t) % 2 == 0 or not (g(t) == 1 and f(t) > g(t))"),
        (
            "implication_step",
            "f(t) >= 2 and g(t) == 0 -> f(t+1) + g(t+1) >= t",
        ),
        ("eventually", "f(t) == 1 -> g(t) / 2 < 3"),
    ];
    let story = story(KineticGrid, hasty(), 0, Order::Proposed, 2);
    let mut snapshot = story.turns[1].0.clone();
    for (template, claim) in claims {
        let law = serde_json::json!({
            "law_id": "other", "template": template, "quantifiers": {"T": 12, "H": 3}, "claim": claim, "forbidden": "not so",
            "observables": [{"name": "f", "expr": "max_gap('.') - count_odd('>')"}, {"name": "g", "expr": "-(count('X')) + 3"}],
            "preconditions": [{"lhs": 3, "op": "<=", "rhs": "f + grid_length"}],
        });
        let law = Law::from_value(law, "$", Extensions::default()).unwrap();
        Program::compile(&law, &KineticGrid).unwrap();
        for falsified in &mut snapshot.falsified {
            falsified.law = serde_json::json!(law.normal());
        }
        for accepted in &mut snapshot.accepted {
            accepted.law = serde_json::json!(law.normal());
        }
        let proposer = EnumerativeProposer::default();
        let mut stored = BTreeSet::from([law.fingerprint()]);
        let laws = next_laws(proposer, &mut snapshot, &mut stored, 60);
        let mutants = laws
            .iter()
            .filter(|law| law.to_string().contains("max_gap"));
        let mut found = 0;
        for mutant in mutants {
            let mutant = read(mutant);
            Program::compile(&mutant, &KineticGrid).unwrap();
            assert_ne!(mutant.fingerprint(), law.fingerprint());
            found += 1;
        }
        assert!(found > 0, "{claim}");
    }
}

#[test]
fn hardly_a_proposal_is_undecidable() {
    for seed in 0..4 {
        let story = story(KineticGrid, hasty(), seed, Order::Proposed, 5);
        let unknown = story
            .tested
            .iter()
            .filter(|(_, verdict)| verdict.status == Status::Unknown);
        let unknown: Vec<_> = unknown
            .map(|(law, verdict)| (law.law_id(), verdict.reason_code))
            .collect();
        assert!(unknown.len() <= 2, "{unknown:?}");
    }
}
