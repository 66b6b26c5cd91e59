//! Null models: what they keep, what they take away, and the tests that are made of them.

use std::collections::BTreeSet;

use logosphere_core::Round;
use logosphere_core::measures::nulls::{
    Choice, DescentModel, Family, MIN_RUNS, Null, NullBand, ShuffleModel, holm, two_sided_p,
    upper_p,
};
use logosphere_core::pool::MessageId;

use crate::null_level::compared;
use crate::population;
use crate::scripted_run::{ScriptedRun, random_run};

#[test]
fn a_null_run_keeps_seeds_and_copies_what_it_reads() {
    let settings = population::settings("copier:mu=0.1", 4, 12, 30, 1);
    let run = population::run(&settings, &population::sentences(12, 0));
    let model = DescentModel::new(&run, 7);
    assert!((0.05..0.2).contains(&model.novelty_rate()));
    assert_eq!(model.messages(), 120);
    let own = DescentModel::new(&run, 7);
    for index in 0..20 {
        let texts = model.null_texts(index);
        assert_eq!(texts.len(), run.messages.len());
        let mut new = 0;
        for call in &run.calls {
            for child in &call.added {
                let mut read = call.sampled.iter().map(|id| &texts[id.index()]);
                new += u32::from(!read.any(|text| *text == texts[child.index()]));
            }
        }
        // About as many as in the run, and nothing is made up.
        assert!((2..=26).contains(&new), "{new}");
        let known = |text: &String| own.null_texts(0).contains(text) || text.len() == 20;
        assert!(texts.iter().all(known));
    }
}

#[test]
fn texts_that_were_not_selected_are_passed_on_alike() {
    // Of two texts that are read together each is passed on in half of all null runs.
    let mut run = ScriptedRun::new(9, &["aa bb cc dd", "ee ff gg hh"]);
    for _ in 0..40 {
        run = run.round(&[(&[0, 1], &["aa bb cc dd"])]);
    }
    let run = run.0;
    let model = DescentModel::new(&run, 0);
    assert_eq!((model.pairs(), model.novelty_rate()), (40, 0.0));
    let first = |index| {
        model.null_texts(index)[2..]
            .iter()
            .filter(|text| text.starts_with("aa"))
            .count()
    };
    let mean = (0..200).map(|index| first(index) as f64).sum::<f64>() / 200.0;
    // Four standard errors: sqrt(10 / 200).
    assert!((mean - 20.0).abs() < 0.9, "{mean}");
    let choice = model.choice();
    assert_eq!(choice.contests, 40);
    // U = 40 (1 - 1/2), V = 40 / 4: z is the largest that there is.
    let word = choice.words["aa"];
    assert_eq!((word.u, word.v), (20.0, 10.0));
    assert!((choice.largest_z() - 20.0 / 10_f64.sqrt()).abs() < 1e-6);
    let [weight, low, high] = word.weight();
    assert!((weight - 2_f64.exp()).abs() < 1e-12 && low < weight && weight < high);
    // Both texts have four words and are unlike each other; the first is older.
    assert_eq!((choice.length.v, choice.centrality.v), (0.0, 0.0));
    assert_eq!((choice.age.u, choice.age.v), (-20.0 * 2.0, 10.0 * 4.0));
    let found = compared(&run, 199);
    assert!(found.test("choice").unwrap().p.unwrap() <= 0.01);
}

#[test]
fn scores_of_repeats_are_added_by_word() {
    let runs = [1, 2].map(|seed| {
        let settings = population::settings("mutator:p=0.1", 4, 15, 20, seed);
        population::run(&settings, &population::built_in())
    });
    let [a, b] = [&runs[0], &runs[1]].map(|run| DescentModel::new(run, 0).choice());
    let mut both = Choice::default();
    both.add(&a);
    both.add(&b);
    assert_eq!(both.contests, a.contests + b.contests);
    let words: BTreeSet<&String> = a.words.keys().chain(b.words.keys()).collect();
    assert!(both.words.keys().eq(words));
    for (word, score) in &both.words {
        let of = |choice: &Choice| choice.words.get(word).copied().unwrap_or_default();
        assert_eq!(
            (score.u, score.v),
            (of(&a).u + of(&b).u, of(&a).v + of(&b).v)
        );
    }
}

#[test]
fn given_parents_replace_the_rule() {
    let run = ScriptedRun::new(9, &["aa bb", "cc dd"])
        .round(&[(&[0, 1], &["aa bb"]), (&[0], &["cc dd"])])
        .0;
    assert_eq!(DescentModel::new(&run, 0).pairs(), 1);
    let parents = [None, None, Some(MessageId(1)), Some(MessageId(1))];
    // The second call did not read message 1.
    let model = DescentModel::with_parents(&run, &parents, 0);
    assert_eq!((model.pairs(), model.messages()), (1, 2));
    assert!(model.choice().words["cc"].u > 0.0);
}

#[test]
fn runs_of_any_form_have_a_comparison() {
    for seed in 0..20 {
        let mut run = random_run(seed, 40);
        let mut rng = crate::scripted_run::random(seed);
        let all = run.messages.len() as u64;
        for call in &mut run.calls {
            // Also ids that cannot have been read: later ones, and ones that no message has.
            call.sampled = (0..6).map(|_| MessageId(rng.below(all + 3))).collect();
        }
        let model = DescentModel::new(&run, 0);
        assert_eq!(model.null_texts(0).len(), run.messages.len());
        let found = compared(&run, 199);
        assert!(found.verdict.is_some());
    }
    let nothing = compared(&logosphere_core::Transcript::default(), 199);
    assert_eq!((nothing.null.runs, nothing.tests.len()), (0, 0));
}

#[test]
fn a_run_that_is_long_gets_fewer_null_runs() {
    let seeds: Vec<String> = (0..20).map(|seed| format!("{seed} ").repeat(500)).collect();
    let settings = population::settings("copier:mu=0", 10, 20, 40, 1);
    let run = population::run(&settings, &seeds);
    // 420 messages of 500 words and 999 runs are 2.1e8.
    let found = compared(&run, 999);
    assert_eq!(
        (found.null.runs, found.null.asked_runs),
        (MIN_RUNS, Some(999))
    );
    let found = compared(&run, 199);
    assert_eq!((found.null.runs, found.null.asked_runs), (199, None));
}

#[test]
fn a_shuffle_reads_texts_of_another_round_and_of_like_length() {
    let settings = population::settings("copier:mu=0.1", 4, 12, 60, 1);
    let mut run = population::run(&settings, &population::sentences(3, 0));
    // Lengths from 1 to 50, in no order.
    for (at, message) in run.messages.iter_mut().enumerate() {
        message.text = "x".repeat(1 + at * 37 % 50);
    }
    let model = ShuffleModel::new(&run, 1);
    let samples = model.samples(0);
    assert_eq!(samples, model.samples(0));
    assert_ne!(samples, model.samples(1));
    let (mut off, mut changed) = (0, 0);
    for (before, after) in run.calls.iter().zip(&samples) {
        assert_eq!(before.sampled.len(), after.len());
        for (old, new) in before.sampled.iter().zip(after) {
            let [old_text, new_text] = [old, new].map(|id| &run.messages[id.index()]);
            if before.round == Round(1) && old_text.round == Round(0) {
                // There is no other round yet.
                assert_eq!(old, new);
                continue;
            }
            assert_ne!(old_text.round, new_text.round);
            assert_ne!(new_text.round, before.round);
            assert!(*new < before.added[0]);
            changed += 1;
            // From the middle of the run on there are enough.
            if before.round > Round(30) {
                off = off.max(old_text.text.len().abs_diff(new_text.text.len()));
            }
        }
    }
    assert!(changed > 600, "{changed}");
    assert!(off <= 2, "{off}");
}

#[test]
fn bands_and_p_values_by_hand() {
    let null: Vec<f64> = (0..=200).rev().map(f64::from).collect();
    let band = NullBand::new(null.clone()).unwrap();
    assert_eq!((band.median, band.low, band.high), (100.0, 5.0, 195.0));
    assert_eq!(NullBand::new(vec![]), None);
    // 190..=200 are at least 190.
    assert!((upper_p(190.0, &null) - 12.0 / 202.0).abs() < 1e-15);
    assert!((two_sided_p(190.0, &null) - 24.0 / 202.0).abs() < 1e-15);
    assert!((two_sided_p(10.0, &null) - 24.0 / 202.0).abs() < 1e-15);
    assert!((two_sided_p(500.0, &null) - 2.0 / 202.0).abs() < 1e-15);
    assert!((two_sided_p(100.0, &null) - 1.0).abs() < 1e-15);
    // A constant is no evidence.
    assert!((two_sided_p(1.0, &[1.0; 199]) - 1.0).abs() < 1e-15);
}

#[test]
fn holm_corrects_by_rank() {
    assert_eq!(holm(&[]), Vec::<f64>::new());
    assert_eq!(holm(&[0.04]), [0.04]);
    assert_eq!(holm(&[0.04, 0.01]), [0.04, 0.02]);
    assert_eq!(holm(&[0.03, 0.02]), [0.04, 0.04]);
    assert_eq!(holm(&[0.5, 0.01, 0.6]), [1.0, 0.03, 1.0]);
}

#[test]
fn families_have_their_measures_and_corrections() {
    let settings = population::settings("mutator:p=0.1", 4, 15, 40, 3);
    let found = compared(
        &population::run(&settings, &population::sentences(15, 0)),
        199,
    );
    let names = |family: Family| -> Vec<&str> {
        let tests = found.tests.iter().filter(|test| test.family == family);
        tests.map(|test| test.name).collect()
    };
    assert_eq!(names(Family::Primary), ["choice", "tfidf_similarity"]);
    assert_eq!(
        names(Family::Secondary),
        [
            "within_round_similarity",
            "near_similarity",
            "input_similarity",
            "distinct_1",
            "seed_echo",
            "chars_mean"
        ]
    );
    assert_eq!(
        names(Family::Band),
        ["distinct_2", "pair_identity", "turnover"]
    );
    for test in &found.tests {
        assert_eq!(test.p.is_none(), test.family == Family::Band);
        assert!(test.p_holm >= test.p && test.low <= test.median && test.median <= test.high);
    }
    let p: Vec<f64> = found.tests[..2]
        .iter()
        .map(|test| test.p.unwrap())
        .collect();
    let corrected: Vec<f64> = found.tests[..2]
        .iter()
        .map(|test| test.p_holm.unwrap())
        .collect();
    assert_eq!(corrected, holm(&p));
}

#[test]
fn a_null_model_is_asked_for_by_name() {
    for null in Null::ALL.iter().copied() {
        assert_eq!(null.name().parse::<Null>().unwrap(), null);
    }
    let error = |name: &str| name.parse::<Null>().unwrap_err().to_string();
    for old in ["random-copy", "seeds-only", "permutation"] {
        assert_eq!(error(old), format!("{old} was replaced by descent"));
    }
    assert_eq!(
        error("drift"),
        "there is no null model `drift`; there are: descent, shuffle"
    );
}
