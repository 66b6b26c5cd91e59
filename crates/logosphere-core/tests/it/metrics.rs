//! Values worked by hand, and the same values by plain loops over all pairs.

mod brute;

use std::collections::BTreeMap;

use logosphere_core::format::Reason;
use logosphere_core::measures::metrics::{
    Match, Metric, Series, Window, block_interval, measure, replicate_interval, tokens, trend,
};
use logosphere_core::{Round, Transcript};

use crate::scripted_run::{ScriptedRun, call, random, random_run};

/// The values of one metric, round by round.
fn values(run: &Transcript, metric: Metric) -> Vec<Option<f64>> {
    let series = measure(run, Window::Active, &[metric], None);
    series[0].points.iter().map(|point| point.value).collect()
}

#[track_caller]
fn assert_near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
}

#[test]
fn tokens_are_letters_and_digits_in_lower_case() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(tokens(text).collect::<Vec<_>>(), expected, "{text:?}");
    };
    check("", &[]);
    check(" -- ", &[]);
    check("Don't STOP_me 3.14", &["don", "t", "stop", "me", "3", "14"]);
    check("ΟΔΟΣ Straße", &["οδος", "straße"]);
    check("ab漢字cd", &["ab", "漢", "字", "cd"]);
    // The ends of the ranges, and their neighbours.
    check("\u{3040}\u{30ff}", &["\u{3040}", "\u{30ff}"]);
    check("\u{3400}\u{9fff}", &["\u{3400}", "\u{9fff}"]);
    check("\u{f900}\u{faff}", &["\u{f900}", "\u{faff}"]);
    check("\u{3131}\u{3132}", &["\u{3131}\u{3132}"]);
    check("한국 어", &["한국", "어"]);
}

#[test]
fn similarity_by_hand() {
    // Three texts; a is in two, b and c in one each: weights a = ln(4/3)+1, others ln(4/2)+1.
    let run = ScriptedRun::new(15, &["A b\n\n~init", "a c"])
        .texts(&["z"])
        .0;
    let (a, other) = ((4.0_f64 / 3.0).ln() + 1.0, 2.0_f64.ln() + 1.0);
    // Only the first pair shares a word.
    let expected = a * a / (a * a + other * other) / 3.0;
    let found = measure(&run, Window::Active, &[Metric::TfidfSimilarity], None);
    assert_near(found[0].points[0].value, expected);
    assert_eq!(found[0].points[0].n, 3);
    assert_eq!(found[0].metric.encoder(), Some("tfidf"));

    let equal = ScriptedRun::new(15, &[])
        .texts(&["one two", "One, two!\n\n~me"])
        .0;
    assert_near(values(&equal, Metric::TfidfSimilarity)[0], 1.0);
    let strangers = ScriptedRun::new(15, &[]).texts(&["one two", "three"]).0;
    assert_eq!(values(&strangers, Metric::TfidfSimilarity), [Some(0.0)]);
}

#[test]
fn one_message_has_no_value() {
    let long = "word ".repeat(600);
    let run = ScriptedRun::new(15, &[]).texts(&[&long]).0;
    for metric in Metric::ALL.iter().copied() {
        let has_one = matches!(
            metric,
            Metric::Messages | Metric::CharsMean | Metric::CharsMedian | Metric::LostShare
        );
        assert_eq!(values(&run, metric)[0].is_some(), has_one, "{metric}");
    }
    // Nor do two of which one shows nothing.
    let run = ScriptedRun::new(15, &[]).texts(&[&long, "\u{200b}\n"]).0;
    assert_eq!(values(&run, Metric::TfidfSimilarity), [None]);
    assert_eq!(values(&run, Metric::PairIdentity), [None]);
    assert_eq!(values(&run, Metric::Turnover), [None]);
}

#[test]
fn distinct_by_hand() {
    // 100 times "a b" and "b a": 400 tokens of 2 kinds, 200 pairs of 2 kinds, no run of three.
    let texts = [["a b"; 100], ["b a"; 100]].concat();
    let run = ScriptedRun::new(300, &[]).texts(&texts).0;
    assert_near(values(&run, Metric::Distinct1)[0], 2.0 / 400.0);
    assert_near(values(&run, Metric::Distinct2)[0], 2.0 / 200.0);
    assert_eq!(values(&run, Metric::Distinct3), [None]);
    // 199 tokens are too few, 200 are not.
    let words: Vec<String> = (0..199).map(|at| format!("w{at}")).collect();
    let (first, rest) = (words[..99].join(" "), words[99..].join(" "));
    let run = ScriptedRun::new(3, &[])
        .texts(&[&first, &rest])
        .texts(&["w0"])
        .0;
    assert_eq!(values(&run, Metric::Distinct1), [None, Some(199.0 / 200.0)]);
    assert_near(values(&run, Metric::Distinct2)[1], 1.0);
    // Nothing behind token 2000 counts.
    let run = ScriptedRun::new(3, &[])
        .texts(&[&"a ".repeat(1999), "b c d e"])
        .0;
    assert_near(values(&run, Metric::Distinct1)[0], 2.0 / 2000.0);
    assert_near(values(&run, Metric::Distinct2)[0], 1.0 / 1998.0);
}

#[test]
fn reuse_by_hand() {
    let run = ScriptedRun::new(15, &["a b c d e f"])
        // Of three runs one is old, of two none; four words say nothing.
        .texts(&["a b c d e x y", "1 2 3 4 5 6", "a b c d"])
        // An equal text is all old; the second run repeats within its own text only.
        .texts(&["A b c d e f\n\n~me", "q q q q q q"])
        .texts(&[])
        .0;
    assert_near(values(&run, Metric::Reuse5gram)[0], 1.0 / 6.0);
    assert_near(values(&run, Metric::Reuse5gram)[1], 0.5);
    assert_eq!(values(&run, Metric::Reuse5gram)[2], None);
}

#[test]
fn identity_and_turnover_by_hand() {
    let run = ScriptedRun::new(4, &["a", "a\n\n~init", "b"])
        .texts(&["c", "a"]) // window: a b c a
        .texts(&["b"]) // window: b c a b
        .texts(&["d", "d", "e", "a"]) // window: d d e a
        .texts(&[])
        .0;
    let identity = values(&run, Metric::PairIdentity);
    for (found, expected) in identity.into_iter().zip([1.0 / 6.0; 4]) {
        assert_near(found, expected);
    }
    let turnover = values(&run, Metric::Turnover);
    for (found, expected) in turnover.into_iter().zip([1.0 / 3.0, 0.0, 2.0 / 3.0, 0.0]) {
        assert_near(found, expected);
    }
}

#[test]
fn compression_needs_two_thousand_bytes() {
    let run = |length: usize| {
        ScriptedRun::new(9, &[])
            .texts(&["x", &"ab".repeat(length)])
            .0
    };
    // With the line feed between them: 1998 and 2000 bytes.
    assert_eq!(values(&run(998), Metric::CompressionRatio), [None]);
    let ratio = values(&run(999), Metric::CompressionRatio)[0].unwrap();
    assert!(ratio > 50.0, "{ratio}");
    // Only the beginning counts: noise behind it changes nothing.
    let mut rng = random(1);
    let noise: String = (0..30_000)
        .map(|_| char::from(b'!' + rng.below(90) as u8))
        .collect();
    let run = ScriptedRun::new(1, &[])
        .texts(&["x", &"ab".repeat(20_000)])
        .texts(&[&noise[..10_000]])
        .0;
    let window = Window::Rounds(9.try_into().unwrap());
    let found = measure(&run, window, &[Metric::CompressionRatio], None);
    assert_eq!(found[0].points[0].value, found[0].points[1].value);
    let noisy = ScriptedRun::new(9, &[]).texts(&["x", &noise]).0;
    assert!(values(&noisy, Metric::CompressionRatio)[0].unwrap() < 1.3);
}

#[test]
fn seeds_leave_the_window() {
    let analysis =
        |run: &Transcript, window| logosphere_core::measures::metrics::seed_exit(run, window);
    let run = ScriptedRun::new(4, &["a", "b", "c\n\n~init", "\u{200b}"])
        .texts(&["x"])
        .texts(&["y"])
        .texts(&["z"])
        .0;
    let exit = analysis(&run, Window::Active);
    let rounds = [exit.first, exit.half_life, exit.all];
    assert_eq!(
        (exit.n, rounds),
        (3, [1, 2, 3].map(|round| Some(Round(round))))
    );
    let last_round = Window::Rounds(1.try_into().unwrap());
    assert_eq!(analysis(&run, last_round).all, Some(Round(1)));
    let always = ScriptedRun::new(9, &["a"]).texts(&["x"]).0;
    assert_eq!(analysis(&always, Window::Active).first, None);
    let crowded = ScriptedRun::new(1, &["a", "b", "c"]).texts(&[]).0;
    assert_eq!(analysis(&crowded, Window::Active).first, Some(Round(0)));
    assert_eq!(analysis(&crowded, Window::Active).half_life, Some(Round(0)));
    assert_eq!(analysis(&crowded, Window::Active).all, None);
}

#[test]
fn echo_by_hand() {
    let run = ScriptedRun::new(3, &["sun moon", "salt"])
        .texts(&["salt", "stone", "moon sun sun moon"])
        .0;
    assert_near(values(&run, Metric::SeedEcho)[0], 2.0 / 3.0);
}

#[test]
fn similarity_to_inputs_by_hand() {
    let run = ScriptedRun::new(9, &["sun", "moon", "!"])
        .round(&[
            (&[0, 1, 2], &["moon", "salt"]),
            (&[], &["sun"]),
            (&[2], &["sun"]),
        ])
        .0;
    // Half of the inputs with a word, none of them; the others read nothing that has a word.
    assert_near(values(&run, Metric::InputSimilarity)[0], 0.25);
}

#[test]
fn volume_counts_calls_and_characters() {
    let mut run = ScriptedRun::new(9, &["seed"])
        .texts(&["äb", "abcde\n\n~me", "\u{200b}"])
        .0;
    run.calls
        .push(call(Round(1), 1, vec![], vec![], Reason::Unterminated));
    run.calls
        .push(call(Round(1), 2, vec![], vec![], Reason::CallFailed));
    assert_eq!(values(&run, Metric::Messages), [Some(3.0)]);
    assert_eq!(values(&run, Metric::CharsMean), [Some(3.5)]);
    assert_eq!(values(&run, Metric::CharsMedian), [Some(3.5)]);
    assert_eq!(values(&run, Metric::LostShare), [Some(0.5)]);
}

#[test]
fn every_metric_is_what_plain_loops_find() {
    let windows = ["active", "rounds:1", "rounds:3"].map(|text| text.parse::<Window>().unwrap());
    let mut measured = BTreeMap::new();
    for seed in 0..5 {
        let run = random_run(seed, 64);
        for window in windows {
            let found = measure(&run, window, Metric::ALL, None);
            // What a round added is the same in every window.
            let again = |series: &&Series| window == windows[0] || series.window != "round";
            for series in found.iter().filter(again) {
                let expected = brute::values(&run, window, series.metric);
                *measured.entry(series.metric).or_insert(0) += series.values().len();
                assert_eq!(series.points.len(), run.rounds.len());
                for (point, expected) in series.points.iter().zip(expected) {
                    let near = match (point.value, expected) {
                        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
                        (found, expected) => found == expected,
                    };
                    assert!(
                        near,
                        "seed {seed}, {window}, {}, {point:?}, expected {expected:?}",
                        series.metric
                    );
                }
            }
        }
    }
    for metric in Metric::ALL {
        assert!(measured[metric] > 50, "{metric}: {}", measured[metric]);
    }
}

#[test]
fn a_window_that_shrinks_forgets_exactly() {
    // Ten thousand equal texts, then two that are strangers.
    let crowd = vec!["all the same words"; 10_000];
    let run = ScriptedRun::new(20_000, &[])
        .texts(&crowd)
        .texts(&["one", "two"])
        .0;
    let window = Window::Rounds(1.try_into().unwrap());
    let found = measure(&run, window, &[Metric::TfidfSimilarity], None);
    assert_near(found[0].points[0].value, 1.0);
    assert_eq!(found[0].points[1].value, Some(0.0));
}

#[test]
fn intervals_hold_the_mean_and_repeat() {
    let mut rng = random(7);
    let values: Vec<f64> = (0..200).map(|_| rng.unit()).collect();
    let mean = values.iter().sum::<f64>() / 200.0;
    let interval = block_interval(&values, 1, "x").unwrap();
    assert!(interval.low < mean && mean < interval.high);
    // 1.96 standard errors of 200 uniform values to each side: 0.04.
    assert!(
        (0.06..0.10).contains(&(interval.high - interval.low)),
        "{interval:?}"
    );
    assert_eq!(block_interval(&values, 1, "x"), Some(interval));
    assert_ne!(block_interval(&values, 2, "x"), Some(interval));
    assert_ne!(block_interval(&values, 1, "y"), Some(interval));

    // Neighbours that are alike make the mean less sure than as many strangers would.
    let steps: Vec<f64> = (0..200).map(|at| f64::from(at / 10 % 2)).collect();
    let (blocks, strangers) = (
        block_interval(&steps, 1, "x").unwrap(),
        replicate_interval(&steps, 1, "x").unwrap(),
    );
    assert!(blocks.high - blocks.low > 1.5 * (strangers.high - strangers.low));
    let flat = block_interval(&[2.0; 9], 1, "x").unwrap();
    assert_eq!((flat.low, flat.high), (2.0, 2.0));
    // Fewer values are too few blocks.
    assert_eq!(block_interval(&values[..7], 1, "x"), None);
    let shortest = block_interval(&values[..8], 1, "x").unwrap();
    assert!(shortest.low < shortest.high);
}

#[test]
fn a_trend_is_found_and_noise_is_none() {
    let rising: Vec<f64> = (0..60).map(|at| f64::from(at).sqrt()).collect();
    let found = trend(&rising, 1, "x").unwrap();
    assert!(
        (found.rho - 1.0).abs() < 1e-12 && found.p < 0.01,
        "{found:?}"
    );
    // By hand: ranks 1 4 2 3 5 against 1..5, rho = 1 - 6 * (0+4+1+1+0) / (5 * 24).
    let found = trend(&[0.1, 0.8, 0.2, 0.3, 0.9], 1, "x").unwrap();
    assert!((found.rho - 0.7).abs() < 1e-12, "{found:?}");
    // Ties share their rank: 1.5 1.5 3.5 3.5 against 1 2 3 4.
    let found = trend(&[1.0, 1.0, 2.0, 2.0], 1, "x").unwrap();
    assert!(
        (found.rho - 4.0 / (5.0_f64 * 4.0).sqrt()).abs() < 1e-12,
        "{found:?}"
    );
    assert_eq!(trend(&[3.0; 20], 1, "x"), None);
    assert_eq!(trend(&[1.0, 2.0, 3.0], 1, "x"), None);

    let mut small = 0;
    for seed in 0..100 {
        let mut rng = random(seed);
        let noise: Vec<f64> = (0..40).map(|_| rng.unit()).collect();
        small += u32::from(trend(&noise, 1, "x").unwrap().p <= 0.1);
    }
    assert!((2..25).contains(&small), "{small} of 100 below 0.1");
}

/// Words at random, but later texts are longer and there are more of them.
fn growing_run(seed: u8) -> Transcript {
    let mut rng = random(seed);
    let mut run = ScriptedRun::new(1000, &[]);
    for round in 0..60 {
        let texts: Vec<String> = (0..3 + round / 4)
            .map(|_| {
                let words = (0..6 + round).map(|_| format!("w{}", rng.below(8)));
                words.collect::<Vec<_>>().join(" ")
            })
            .collect();
        run = run.round(&[(&[], &texts)]);
    }
    run.0
}

#[test]
fn matching_takes_number_and_length_out() {
    let window = Window::Rounds(1.try_into().unwrap());
    let metrics = [Metric::TfidfSimilarity, Metric::WithinRoundSimilarity];
    let rise = |series: &Series| trend(&series.values(), 1, "x").unwrap().rho;
    let mut rises = Vec::new();
    for seed in 0..6 {
        let run = growing_run(seed);
        let sizes = Match::of(&[&run], window).unwrap();
        let plain = measure(&run, window, &metrics, None);
        let matched = measure(&run, window, &metrics, Some(sizes));
        for series in &plain {
            assert!(rise(series) > 0.8 && !series.matched, "{}", rise(series));
        }
        for series in &matched {
            assert!(series.matched);
            rises.push(rise(series));
            let texts = if series.window == "round" {
                sizes.round_texts
            } else {
                sizes.window_texts
            };
            let fits = |n, value: Option<f64>| if n == 0 { value.is_none() } else { n == texts };
            assert!(series.points.iter().all(|point| fits(point.n, point.value)));
        }
    }
    let mean = rises.iter().sum::<f64>() / rises.len() as f64;
    assert!(mean.abs() < 0.15, "{rises:?}");

    let lonely = ScriptedRun::new(3, &[]).texts(&["a"]).0;
    assert_eq!(Match::of(&[&lonely], window), None);
}

#[test]
fn runs_of_different_size_are_matched_to_the_same() {
    let (small, large) = (ScriptedRun::new(20, &[]), growing_run(1));
    let small = small.texts(&["a b c", "a b d", "a b"]).0;
    let window = Window::Active;
    let both = Match::of(&[&small, &large], window).unwrap();
    let alone = Match::of(&[&large], window).unwrap();
    assert!(both.tokens <= alone.tokens && both.window_texts <= alone.window_texts);
    let unmatched = measure(&small, window, &[Metric::Turnover], Some(both));
    assert!(!unmatched[0].matched);
}

#[test]
fn windows_have_names() {
    for name in ["active", "rounds:1", "rounds:12"] {
        assert_eq!(name.parse::<Window>().unwrap().to_string(), name);
    }
    for name in ["", "rounds", "rounds:0", "rounds:-1", "Active"] {
        assert!(name.parse::<Window>().is_err(), "{name}");
    }
    for metric in Metric::ALL.iter().copied() {
        assert_eq!(Metric::named(metric.name()), Some(metric));
    }
}
