//! Lines that are not requests, and budgets that are used up.

use popper_discovery::lab::LabTier;
use serde_json::{Value, json};

use super::{Numbers, Recorded, invariant};

/// Lines that no episode of tier A accepts.
fn malformed(numbers: &mut Numbers) -> Vec<u8> {
    let law = invariant("a", "count('a')", 5);
    let many: Vec<Value> = vec![law.clone(); 21];
    let wrong_law = |key: &str, value: Value| {
        let mut wrong = law.clone();
        wrong[key] = value;
        json!({"laws": [law, wrong]})
    };
    let state = numbers.ring(33, ".abc");
    let valid = [
        json!({"experiment": {"start": "..ab", "steps": 2}}),
        json!({"predict": [{"id": "q01.1", "state": state}]}),
        json!({"laws": [law]}),
        json!({"end": true}),
    ];
    let valid = valid[numbers.below(4)].to_string();
    let wrong = [
        json!(null),
        json!([]),
        json!({}),
        json!({"end": false}),
        json!({"end": true, "laws": []}),
        json!({"End": true}),
        json!({"experiment": null}),
        json!({"experiment": {"start": "..ab"}}),
        json!({"experiment": {"start": "", "steps": 1}}),
        json!({"experiment": {"start": "..ab..ab.", "steps": 1}}),
        json!({"experiment": {"start": "..xy", "steps": 1}}),
        json!({"experiment": {"start": "..ab", "steps": 0}}),
        json!({"experiment": {"start": "..ab", "steps": -1}}),
        json!({"experiment": {"start": "..ab", "steps": 1.5}}),
        json!({"experiment": {"start": "..ab", "steps": 1e30}}),
        json!({"experiment": {"start": "..ab", "steps": u64::MAX}}),
        json!({"experiment": {"start": "..ab", "steps": 1, "seed": 1}}),
        json!({"predict": {"q01.1": null}}),
        json!({"predict": [{"id": "q01.1"}]}),
        json!({"predict": [{"id": "q01.1", "state": "..ab"}]}),
        json!({"predict": [{"id": "q01.1", "state": "x".repeat(33)}]}),
        json!({"predict": [{"id": "q01.1", "state": 3}]}),
        json!({"predict": [{"id": "q01.2", "state": null}]}),
        json!({"predict": [{"id": 1, "state": null}]}),
        json!({"predict": [{"id": "q01.1", "values": [1, 2, 3]}]}),
        json!({"predict": [{"id": "q01.1", "state": null}, {"id": "q01.1", "state": null}]}),
        json!({"laws": law}),
        json!({"laws": many}),
        json!({"laws": [{}]}),
        wrong_law("template", json!("guess")),
        wrong_law("forbidden", json!(" ")),
        wrong_law("observables", json!([{"name": "f", "expr": "count('a'"}])),
        wrong_law("claim", json!("f stays")),
    ];
    match numbers.below(6) {
        // No part of an object is a whole one.
        0 => valid.as_bytes()[..numbers.below(valid.len())].to_vec(),
        1 => {
            let mut bytes = valid.into_bytes();
            let place = numbers.below(bytes.len());
            bytes[place] |= 0x80;
            bytes
        }
        2 => (0..numbers.below(60))
            .map(|_| numbers.below(256) as u8)
            .collect(),
        3 => format!("{valid}{valid}").into_bytes(),
        4 => "[".repeat(1 + numbers.below(3000)).into_bytes(),
        _ => wrong[numbers.below(wrong.len())].to_string().into_bytes(),
    }
}

#[test]
fn ten_thousand_malformed_lines_change_nothing() {
    let mut numbers = Numbers(11);
    let mut recorded = Recorded::new(LabTier::A, 4);
    for number in 1..=10_000 {
        let line = malformed(&mut numbers);
        let answer = recorded.episode.line(&line);
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        assert!(answer.is_error, "{shown}: {}", answer.line);
        let value: Value = serde_json::from_str(&answer.line).unwrap();
        let kind = value["error"].as_str().unwrap();
        assert!(
            kind == "budget"
                || value["message"]
                    .as_str()
                    .is_some_and(|text| text.len() > 10),
            "{shown}: {value}"
        );
        assert!(
            !answer.line.contains('\n') && answer.line.len() < 4000,
            "{shown}: {value}"
        );
        assert_eq!(recorded.episode.left(), 4096, "{shown}");
        assert_eq!(recorded.episode.rejected_lines(), number);
    }
    // Everything is still possible once.
    recorded.accepted(&json!({"experiment": {"start": "..ab", "steps": 2}}));
    recorded.accepted(&json!({"predict": []}));
    recorded.accepted(&json!({"laws": []}));
    recorded.accepted(&json!({"end": true}));
}

#[test]
fn a_line_has_a_longest_length() {
    let mut recorded = Recorded::new(LabTier::A, 4);
    let padded = |bytes: usize| r#"{"laws": []}"#.to_owned() + &" ".repeat(bytes - 12);
    let answer = recorded.ask(padded((1 << 20) + 1));
    assert!(answer.is_error && answer.line.contains("longer than 1048576 bytes"));
    let key = "k".repeat(1 << 19);
    for line in [
        format!(r#"{{"laws": [{{"{key}": 1}}]}}"#),
        format!(r#"{{"{key}": 1}}"#),
        format!(r#"{{"experiment": {{"{key}": {{"a": 1, "a": 2}}}}}}"#),
    ] {
        let answer = recorded.ask(line);
        assert!(answer.is_error && answer.line.len() < 2000);
    }
    // A rejected line has a short entry.
    assert!(recorded.log.len() < 20_000, "{}", recorded.log.len());
    assert!(!recorded.ask(padded(1 << 20)).is_error);
}

#[test]
fn a_used_up_budget_refuses_experiments_only() {
    let mut recorded = Recorded::new(LabTier::A, 4);
    let run = |steps: u64| json!({"experiment": {"start": "..ab..c.", "steps": steps}}).to_string();
    assert!(!recorded.ask(run(511)).is_error);
    let refused = recorded.ask(run(2));
    assert_eq!(refused.line, r#"{"error":"budget","left":8}"#);
    let last: Value = serde_json::from_str(&recorded.ask(run(1)).line).unwrap();
    assert_eq!(last["left"], 0);
    for steps in [1, u64::MAX] {
        let refused = recorded.ask(run(steps));
        assert_eq!(refused.line, r#"{"error":"budget","left":0}"#);
    }
    recorded.accepted(&json!({"predict": [{"id": "q64.16", "state": null}]}));
    recorded.accepted(&json!({"end": true}));
    let score = recorded.episode.score();
    assert_eq!(
        (score.cells.spent, score.experiments, score.rejected_lines),
        (4096, 2, 3)
    );
}

#[test]
fn predictions_and_laws_are_possible_once_and_nothing_after_the_end() {
    let mut recorded = Recorded::new(LabTier::A, 4);
    for request in [json!({"predict": []}), json!({"laws": []})] {
        recorded.accepted(&request);
        let again = recorded.ask(request.to_string());
        assert!(
            again.is_error && again.line.contains("once"),
            "{}",
            again.line
        );
    }
    let end = recorded.ask(r#"{"end": true}"#).line;
    for line in [
        r#"{"end": true}"#,
        r#"{"experiment": {"start": "a", "steps": 1}}"#,
        "",
    ] {
        let answer = recorded.ask(line);
        assert!(
            answer.line.starts_with(r#"{"error":"closed","#),
            "{}",
            answer.line
        );
    }
    assert_eq!(recorded.episode.score().line(), end);
}

#[test]
fn what_is_seen_is_what_the_tier_shows() {
    let seen = |tier| {
        let mut recorded = Recorded::new(tier, 4);
        let answer = recorded.accepted(&json!({"experiment": {"start": "..ab..", "steps": 3}}));
        assert_eq!(answer["left"], 4096 - 18);
        answer["seen"].as_array().unwrap().clone()
    };
    for tier in [LabTier::A, LabTier::B, LabTier::D] {
        assert!(
            seen(tier)
                .iter()
                .all(|state| state.as_str().unwrap().len() == 6)
        );
    }
    let values = seen(LabTier::C);
    assert_eq!(values.len(), 3);
    assert!(
        values
            .iter()
            .all(|values| values.as_array().unwrap().iter().all(Value::is_u64))
    );
}

#[test]
fn one_cell_in_fifty_is_shown_as_another_symbol() {
    let (mut cells, mut differences) = (0, 0);
    for seed in 0..40 {
        let mut recorded = Recorded::new(LabTier::D, seed);
        let universe = recorded.sealed.universe().clone();
        let alphabet = popper_harness::universe::Universe::alphabet(&universe).clone();
        let mut shown = std::collections::BTreeSet::new();
        for _ in 0..64 {
            let answer =
                recorded.accepted(&json!({"experiment": {"start": "..ab..c.", "steps": 8}}));
            shown.insert(answer["seen"].to_string());
            let mut now = alphabet.parse("..ab..c.").unwrap();
            for state in answer["seen"].as_array().unwrap() {
                now = universe.step(&now);
                let truth = alphabet.text(&now);
                let pairs = truth.chars().zip(state.as_str().unwrap().chars());
                cells += truth.len();
                differences += pairs.filter(|(truth, seen)| truth != seen).count();
            }
        }
        // A repeated experiment has other noise.
        assert!(shown.len() > 30, "{}", shown.len());
    }
    let share = differences as f64 / cells as f64;
    assert!((0.019..0.021).contains(&share), "{differences} of {cells}");
}
