//! The sentences of a verdict, exactly, and the verdicts of neutral runs.
#![expect(
    clippy::disallowed_macros,
    reason = "the numbers that were measured are shown"
)]

use logosphere_core::measures::nulls::{Feature, FeatureKind};
use logosphere_core::measures::verdict::{
    SimilarityTest, TestedRun, Verdict, VerdictCase, VerdictFindings, p_value,
};

use crate::null_level::compared;
use crate::population;

fn found() -> TestedRun {
    TestedRun {
        choice_p: 0.41,
        first: Some(feature(FeatureKind::Word, [1.81, 1.42, 2.31])),
        similarity: Some(SimilarityTest {
            observed: 0.44,
            median: 0.52,
            low: 0.31,
            high: 0.58,
            p: 0.46,
        }),
        would_find_double: true,
    }
}

fn feature(feature: FeatureKind, [weight, low, high]: [f64; 3]) -> Feature {
    Feature {
        feature,
        value: (feature == FeatureKind::Word).then(|| "moon".to_owned()),
        z: 4.0,
        weight,
        low,
        high,
    }
}

#[track_caller]
fn assert_says(found: TestedRun, case: VerdictCase, sentence: &str) {
    let verdict = Verdict::of(&VerdictFindings::Tested(found));
    assert_eq!((verdict.case, verdict.sentence.as_str()), (case, sentence));
}

#[test]
fn n5_selection_names_the_feature() {
    let say = |first: Feature, sentence: &str| {
        let found = TestedRun {
            choice_p: 0.004,
            first: Some(first),
            ..found()
        };
        assert_says(found, VerdictCase::Selection, sentence);
    };
    say(
        feature(FeatureKind::Word, [1.81, 1.42, 2.31]),
        "Selection: texts with \"moon\" are passed on 1.81 times as often as other texts that were read with them (95 % 1.42 to 2.31; p = 0.004, corrected for 2 tests and all words).",
    );
    say(
        feature(FeatureKind::Length, [0.5, 0.4, 0.8]),
        "Selection: shorter texts are passed on 2.00 times as often per unit of ln(1 + words) as other texts that were read with them (95 % 1.25 to 2.50; p = 0.004, corrected for 2 tests and all words).",
    );
    say(
        feature(FeatureKind::Age, [2.0, 1.5, 2.5]),
        "Selection: newer texts are passed on 2.00 times as often per standard deviation of age as other texts that were read with them (95 % 1.50 to 2.50; p = 0.004, corrected for 2 tests and all words).",
    );
    say(
        feature(FeatureKind::Centrality, [0.25, 0.2, 0.5]),
        "Selection: texts unlike the others are passed on 4.00 times as often per unit of similarity as other texts that were read with them (95 % 2.00 to 5.00; p = 0.004, corrected for 2 tests and all words).",
    );
    let sentences = [
        (FeatureKind::Length, 2.0, "longer texts"),
        (FeatureKind::Age, 0.5, "older texts"),
        (FeatureKind::Centrality, 2.0, "texts like the others"),
    ];
    for (kind, weight, texts) in sentences {
        let found = TestedRun {
            choice_p: 0.05,
            first: Some(feature(kind, [weight; 3])),
            ..found()
        };
        let verdict = Verdict::of(&VerdictFindings::Tested(found));
        assert!(
            verdict
                .sentence
                .starts_with(&format!("Selection: {texts} are passed on"))
        );
    }
}

#[test]
fn n5_similarity_alone_names_other_causes() {
    let similarity = |observed| {
        Some(SimilarityTest {
            observed,
            median: 0.44,
            low: 0.31,
            high: 0.58,
            p: 0.01,
        })
    };
    for (observed, how, shown) in [(0.61, "more", "0.61"), (0.2, "less", "0.20")] {
        let found = TestedRun {
            similarity: similarity(observed),
            ..found()
        };
        let sentence = format!(
            "The texts are {how} alike than neutral descent gives: {shown} against 0.44 (95 % 0.31 to 0.58; p = 0.01). No word is favoured: this may be texts made of several others, changes that go one way, or a choice that words do not show."
        );
        assert_says(found, VerdictCase::Similarity, &sentence);
    }
}

#[test]
fn n5_drift_is_enough_tells_its_power() {
    assert_says(
        found(),
        VerdictCase::Drift,
        "Drift is enough: copying at random, with the changes measured in this run, gives the same (choice p = 0.41, similarity 0.44 against 0.52, p = 0.46). A word that doubles a text's chance would have been found with 80 % power: yes.",
    );
    let blind = TestedRun {
        would_find_double: false,
        similarity: None,
        ..found()
    };
    assert_says(
        blind,
        VerdictCase::Drift,
        "Drift is enough: copying at random, with the changes measured in this run, gives the same (choice p = 0.41). A word that doubles a text's chance would have been found with 80 % power: no.",
    );
}

#[test]
fn n5_what_is_not_tested_says_why() {
    let not_tested = |pairs, messages, contests| {
        Verdict::of(&VerdictFindings::NotTested {
            pairs,
            messages,
            contests,
        })
    };
    let few = not_tested(12, 90, 40);
    assert_eq!(few.case, VerdictCase::NotTested);
    assert_eq!(
        few.sentence,
        "Not tested: only 12 of 90 messages come recognisably from a text that was read."
    );
    assert_eq!(
        not_tested(40, 400, 40).sentence,
        "Not tested: only 40 of 400 messages come recognisably from a text that was read."
    );
    assert_eq!(
        not_tested(25, 25, 12).sentence,
        "Not tested: only 12 calls read two different texts and passed one on; 30 are needed."
    );
}

#[test]
fn p_has_two_digits() {
    let shown = [
        (1.0, "p = 1"),
        (0.456, "p = 0.46"),
        (0.1, "p = 0.1"),
        (0.0104, "p = 0.01"),
        (0.0123, "p = 0.012"),
        (0.004, "p = 0.004"),
        (0.001, "p = 0.001"),
        (0.000_99, "p < 0.001"),
    ];
    for (p, text) in shown {
        assert_eq!(p_value(p), text);
    }
}

/// The default run of the program: three minds that read three of fifteen messages, in ten rounds and in thirty.
#[test]
fn n4_default_runs_are_seldom_selection() {
    for rounds in [10, 30] {
        let mut cases = std::collections::BTreeMap::new();
        for seed in 0..20 {
            let settings = population::settings("mutator:p=0.1", 3, 15, rounds, seed);
            let run = population::run(&settings, &population::built_in());
            let verdict = compared(&run, 199).verdict.unwrap();
            *cases.entry(format!("{:?}", verdict.case)).or_insert(0) += 1;
        }
        println!("{rounds} rounds: {cases:?}");
        let count = |case: &str| cases.get(case).copied().unwrap_or(0);
        assert!(count("Selection") <= 3, "{cases:?}");
        if rounds == 30 {
            assert!(count("Drift") >= 15, "{cases:?}");
        }
    }
}
