//! Null models: what they keep, what they take away, and where a run lies among them.

use std::collections::{BTreeMap, BTreeSet};

use logosphere_core::measures::nulls::{
    MIN_RUNS, Null, NullBand, NullModel, Simulation, novelty_rate, null_band, null_bands, simulate,
};
use logosphere_core::pool::MessageId;
use logosphere_core::{MindId, Round, Transcript};

fn settings() -> Simulation {
    Simulation {
        minds: 4,
        samples: 3,
        active: 12,
        snapshot: false,
        rounds: 20,
        seeds: ["one", "two", "three"]
            .map(|seed| format!("{seed}\n\n~init"))
            .to_vec(),
        mu: 0.1,
        seed: 42,
    }
}

/// A run in which calls send none, one or two messages.
fn uneven() -> Transcript {
    let mut run = simulate(&settings());
    let mut messages = run.messages[..run.seeds].to_vec();
    for (at, call) in run.calls.iter_mut().enumerate() {
        let text = run.messages[call.added[0].index()].text.clone();
        call.added.clear();
        for _ in 0..at % 3 {
            call.added.push(MessageId::at(messages.len()));
            let again = logosphere_core::verify::Message::new(text.as_str(), call.round, Some(at));
            messages.push(again);
        }
        call.sampled.retain(|id| id.index() < messages.len());
        "raw".clone_into(&mut call.raw);
    }
    for round in &mut run.rounds {
        round.pool_size = messages.iter().filter(|m| m.round <= round.round).count();
    }
    run.messages = messages;
    run
}

/// The facts that a null model must keep: the calls, and the number of messages of each.
fn shape(run: &Transcript) -> Vec<String> {
    let place = |id: &MessageId| {
        let message = &run.messages[id.index()];
        (message.round, message.call)
    };
    let calls = run.calls.iter();
    calls
        .map(|call| {
            let places: Vec<_> = call.added.iter().map(place).collect();
            format!("{} {} {:?} {places:?}", call.round, call.mind, call.added)
        })
        .collect()
}

fn texts(run: &Transcript) -> Vec<&str> {
    (run.messages.iter().map(|message| message.text.as_str())).collect()
}

#[test]
fn a_simulation_reads_what_can_be_read_and_copies_it() {
    for snapshot in [false, true] {
        let settings = Simulation {
            snapshot,
            ..settings()
        };
        let run = simulate(&settings);
        assert_eq!(run, simulate(&settings));
        assert_eq!(run.calls.len(), 80);
        assert_eq!(run.messages.len(), 83);
        let mut at_start = run.seeds;
        let mut own_round = 0;
        for (at, call) in run.calls.iter().enumerate() {
            let mut end = run.seeds + at;
            if snapshot {
                if call.mind == MindId(0) {
                    at_start = end;
                }
                end = at_start;
            }
            let readable = end.saturating_sub(12)..end;
            assert_eq!(call.sampled.len(), 3);
            assert!(call.sampled.iter().all(|id| readable.contains(&id.index())));
            assert_eq!(call.sampled.iter().collect::<BTreeSet<_>>().len(), 3);
            own_round += (call.sampled.iter())
                .filter(|id| run.messages[id.index()].round == call.round)
                .count();
        }
        assert_eq!(own_round > 0, !snapshot);
        // A copy of a seed has no stamp.
        assert!(texts(&run)[3..].iter().all(|text| !text.contains("~init")));
        assert!(
            texts(&run)[3..]
                .iter()
                .any(|text| ["one", "two", "three"].contains(text))
        );
    }
}

#[test]
fn the_innovation_of_a_simulation_is_found_again() {
    let mut settings = settings();
    settings.rounds = 500;
    // Four standard errors of 2000 messages.
    let found = novelty_rate(&simulate(&settings)).unwrap();
    assert!((found - 0.1).abs() < 0.027, "{found}");
    settings.mu = 0.0;
    assert_eq!(novelty_rate(&simulate(&settings)), Some(0.0));
    settings.rounds = 0;
    assert_eq!(novelty_rate(&simulate(&settings)), None);
}

#[test]
fn every_null_model_keeps_calls_and_numbers_of_messages() {
    let run = uneven();
    for null in Null::ALL.iter().copied() {
        let model = NullModel::new(&run, null, 7);
        let made = model.run(0);
        assert_eq!(shape(&made), shape(&run), "{null}");
        assert_eq!(made.rounds, run.rounds);
        assert_eq!(made.messages[..3], run.messages[..3]);
        assert!(made.calls.iter().all(|call| call.raw.is_empty()));
        assert_eq!(made, model.run(0));
        assert_ne!(made, model.run(1));
        assert_ne!(made, NullModel::new(&run, null, 8).run(0));
    }
}

#[test]
fn random_copies_have_the_innovation_of_the_run() {
    let run = simulate(&Simulation {
        rounds: 200,
        ..settings()
    });
    let share = novelty_rate(&run).unwrap();
    let model = NullModel::new(&run, Null::RandomCopy { mu: None }, 1);
    assert_eq!(model.null(), Null::RandomCopy { mu: Some(share) });
    let found = novelty_rate(&model.run(3)).unwrap();
    assert!((found - share).abs() < 0.045, "{found} {share}");
    let model = NullModel::new(&run, Null::RandomCopy { mu: Some(1.0) }, 1);
    let all = model.run(0);
    let all: BTreeSet<_> = texts(&all)[3..].iter().copied().collect();
    assert_eq!(all.len(), 800);
    // What the run has of new texts comes first, in another order; the rest is made up.
    let own: BTreeSet<_> = texts(&run)[3..].iter().copied().collect();
    let seeds = ["one", "two", "three"].map(|seed| usize::from(own.contains(seed)));
    let known = own.intersection(&all).count();
    assert_eq!(known, own.len() - seeds.iter().sum::<usize>());
}

#[test]
fn with_seeds_alone_nobody_hears_the_others() {
    let run = uneven();
    let made = NullModel::new(&run, Null::SeedsOnly { mu: Some(0.0) }, 1).run(0);
    for call in &made.calls {
        assert_eq!(call.sampled.iter().collect::<BTreeSet<_>>().len(), 3);
        assert!(call.sampled.iter().all(|id| id.0 < 3));
    }
    let sent: BTreeSet<_> = texts(&made)[3..].iter().copied().collect();
    assert_eq!(sent, BTreeSet::from(["one", "two", "three"]));
}

#[test]
fn a_shuffle_reads_texts_of_another_round_and_of_like_length() {
    let mut run = simulate(&Simulation {
        rounds: 60,
        ..settings()
    });
    // Lengths from 1 to 50, in no order.
    for (at, message) in run.messages.iter_mut().enumerate() {
        message.text = "x".repeat(1 + at * 37 % 50);
    }
    let model = NullModel::new(&run, Null::Shuffle, 1);
    let made = model.run(0);
    assert_eq!(texts(&made), texts(&run));
    let (mut off, mut changed) = (0, 0);
    for (before, after) in run.calls.iter().zip(&made.calls) {
        assert_eq!(before.sampled.len(), after.sampled.len());
        for (old, new) in before.sampled.iter().zip(&after.sampled) {
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
fn a_permutation_moves_texts_of_minds_only() {
    let run = uneven();
    let made = NullModel::new(&run, Null::Permutation, 1).run(0);
    let count = |run: &Transcript| {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for text in &texts(run)[3..] {
            *counts.entry((*text).to_owned()).or_default() += 1;
        }
        counts
    };
    assert_eq!(count(&made), count(&run));
    assert_ne!(texts(&made), texts(&run));
    let sampled = |run: &Transcript| -> Vec<_> {
        run.calls.iter().map(|call| call.sampled.clone()).collect()
    };
    assert_eq!(sampled(&made), sampled(&run));
}

#[test]
fn every_order_of_a_permutation_is_as_likely() {
    let mut run = simulate(&Simulation {
        minds: 3,
        rounds: 1,
        ..settings()
    });
    for (message, text) in run.messages[3..].iter_mut().zip(["a", "b", "c"]) {
        text.clone_into(&mut message.text);
    }
    let model = NullModel::new(&run, Null::Permutation, 1);
    let mut orders = BTreeMap::new();
    for index in 0..1200 {
        *orders
            .entry(texts(&model.run(index))[3..].concat())
            .or_insert(0) += 1;
    }
    assert_eq!(orders.len(), 6);
    // 200 +- four standard errors.
    assert!(
        orders.values().all(|n| (148..=252).contains(n)),
        "{orders:?}"
    );
}

#[test]
fn a_band_has_median_quantiles_and_p() {
    let null: Vec<f64> = (0..=200).rev().map(f64::from).collect();
    let band = NullBand::new(190.0, null.clone()).unwrap();
    assert_eq!(
        band,
        NullBand {
            observed: 190.0,
            median: 100.0,
            low: 5.0,
            high: 195.0,
            runs: 201,
            // 0..=10 and 190..=200 are as far from 100.
            p: 23.0 / 202.0,
        }
    );
    assert!((NullBand::new(500.0, null.clone()).unwrap().p - 1.0 / 202.0).abs() < 1e-15);
    assert!((NullBand::new(100.0, null).unwrap().p - 1.0).abs() < 1e-15);
    assert_eq!(NullBand::new(1.0, vec![]), None);
    let band = NullBand::new(0.5, vec![0.0, 1.0]).unwrap();
    assert!((band.median - 0.5).abs() < 1e-15 && (band.low - 0.025).abs() < 1e-15);
}

#[test]
fn runs_without_a_number_are_left_out() {
    let run = uneven();
    let metric = |made: &Transcript| {
        let first = made.messages[3].text == "one";
        vec![Some(1.0), first.then_some(2.0), None]
    };
    let null = Null::SeedsOnly { mu: Some(0.0) };
    assert!(metric(&run)[1].is_none() || run.messages[3].text == "one");
    let bands = null_bands(&run, null, 1, 5, metric);
    assert_eq!(bands.len(), 3);
    assert_eq!(bands[0].unwrap().runs, MIN_RUNS);
    assert!((bands[0].unwrap().p - 1.0).abs() < 1e-15);
    assert_eq!(bands[2], None);
    let band = null_band(&run, null, 300, 5, |made| {
        let seed = made.messages[3].text == "one";
        (seed || made.messages == run.messages).then_some(2.0)
    });
    // A third of the runs.
    assert!((70..=130).contains(&band.unwrap().runs), "{band:?}");
}

#[test]
fn selection_lies_outside_the_band_of_drift() {
    let distinct = |run: &Transcript| {
        let last = &texts(run)[run.messages.len() - 100..];
        Some(last.iter().collect::<BTreeSet<_>>().len() as f64)
    };
    let neutral = simulate(&Simulation {
        rounds: 60,
        ..settings()
    });
    let null = Null::RandomCopy { mu: None };
    let band = null_band(&neutral, null, 200, 3, distinct).unwrap();
    assert!(band.p > 0.05, "{band:?}");
    // Everybody says one thing, whether they read it or not.
    let mut selected = neutral;
    for message in &mut selected.messages[120..] {
        "chosen".clone_into(&mut message.text);
    }
    let band = null_band(&selected, null.with_mu(Some(0.1)), 200, 3, distinct).unwrap();
    assert!(band.observed < band.low && band.p < 0.05, "{band:?}");
}

#[test]
fn a_null_model_is_asked_for_by_name() {
    for null in Null::ALL.iter().copied() {
        assert_eq!(null.name().parse::<Null>().unwrap(), null);
    }
    assert_eq!(
        "drift".parse::<Null>().unwrap_err().to_string(),
        "there is no null model `drift`; there are: random-copy, seeds-only, shuffle, permutation"
    );
}
