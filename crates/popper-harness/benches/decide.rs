//! The speed of decisions: the fixture laws, exhaustion, certificates, and a rare violation.
//!
//! `cargo bench -p orrery-popper-harness --bench decide` prints one JSON object. Times are milliseconds on all cores; the best of several
//! runs, so that other load on the machine counts as little as it can. Names of its keys after `--` measure these parts alone.

#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark prints what it measured"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use popper_harness::decide::{Config, Harness, Status, Strength};
use popper_harness::law::{Extensions, Law, Program};
use popper_harness::proof::{prove, verify_proof};
use popper_harness::universe::KineticGrid;
use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn millis(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..runs)
        .map(|_| {
            let begin = std::time::Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[0]
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn fixture_laws() -> Vec<Law> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/popper/laws");
    ["true", "false", "unknown"]
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(format!("{root}/{file}.json")).unwrap();
            Law::read_all(&text, Extensions::default())
                .unwrap()
                .into_iter()
                .map(Result::unwrap)
        })
        .collect()
}

fn law(value: &Value) -> Law {
    Law::from_json(&value.to_string(), Extensions::default()).unwrap()
}

/// The longest time from the first `true` of a stop function to the end of the evaluation, over many instants of each law.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn stopping(harness: &Harness, laws: &[Law]) -> f64 {
    let instants = [1_u64, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200];
    let mut worst: f64 = 0.0;
    for law in laws {
        for instant in instants {
            let asked = AtomicU64::new(0);
            let stopped = OnceLock::new();
            let stop = || {
                let stop = asked.fetch_add(1, Ordering::Relaxed) + 1 >= instant;
                if stop {
                    stopped.get_or_init(std::time::Instant::now);
                }
                stop
            };
            drop(black_box(harness.evaluate_with_stop(law, &stop)));
            let late = stopped
                .get()
                .map_or(0.0, |begin| begin.elapsed().as_secs_f64() * 1e3);
            worst = worst.max(late);
        }
    }
    worst
}

/// A law of each template that no ring up to 20 cells refutes and nothing proves.
fn hard_laws() -> Vec<(&'static str, Law)> {
    let base = |template: &str, claim: &str| {
        law(&json!({
            "law_id": template, "template": template, "quantifiers": {"T": 40, "H": 40},
            "observables": [
                {"name": "x", "expr": "count('X')"},
                // 0 below 13 collisions, which rings of up to 25 cells do not have.
                {"name": "d", "expr": "count('X') - count('X') % 13"},
            ],
            "claim": claim, "forbidden": "the opposite",
        }))
    };
    vec![
        ("invariant", base("invariant", "d(t) == d(0)")),
        ("monotone", base("monotone", "d(t+1) <= d(t)")),
        ("bound", base("bound", "x(t) <= 12")),
        (
            "implication_step",
            base("implication_step", "x(t) > 9 -> x(t+1) <= 12"),
        ),
        (
            "implication_state",
            base("implication_state", "x(t) > 9 -> x(t) <= 12"),
        ),
        ("eventually", base("eventually", "x(t) > 9 -> x(t) <= 10")),
    ]
}

/// Laws that only rings of hundreds of cells refute, so that the counterexample has to be made small.
fn wide_laws() -> Vec<(&'static str, Law)> {
    let base = |template: &str, claim: &str, op: &str, cells: u64, tests: &Value| {
        law(&json!({
            "law_id": template, "template": template, "quantifiers": {"T": 300}, "proposed_tests": tests,
            "observables": [{"name": "x", "expr": "count('X')"}], "claim": claim, "forbidden": "the opposite",
            "preconditions": [{"lhs": "grid_length", "op": op, "rhs": cells}],
        }))
    };
    let wide =
        json!([{"family": "extreme_states", "params": {"grid_lengths": [1000], "cases": 64}}]);
    vec![
        (
            "bound_200",
            base("bound", "x(t) <= 20", ">=", 200, &json!([])),
        ),
        (
            "bound_1000",
            base("bound", "x(t) <= 200", ">=", 1000, &wide),
        ),
        (
            "invariant_1000",
            base("invariant", "x(t) == x(0)", "==", 1000, &json!([])),
        ),
        (
            "invariant_2000",
            base("invariant", "x(t) == x(0)", "==", 2000, &json!([])),
        ),
    ]
}

/// Milliseconds of processor time that this process has used, in steps of 10 (Linux only).
fn processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some(10.0 * (ticks()? + ticks()?))
}

/// Milliseconds to exhaust every ring up to N, for each template: by the clock, and of processor time.
fn exhaustion() -> Value {
    let mut exhaustive = serde_json::Map::new();
    for n in [16, 18, 20] {
        // Only the exhaustive stage: nothing is sampled and nothing is searched.
        let config = Config::default()
            .exhaustive_n(n)
            .ladder(vec![1])
            .adversarial(false);
        let harness = Harness::new(KineticGrid, config).unwrap();
        let runs = if n == 20 { 2 } else { 5 };
        for (template, law) in hard_laws() {
            let before = processor();
            let spent = millis(runs, || drop(black_box(harness.evaluate(&law))));
            exhaustive.insert(format!("{template}_n{n}_ms"), json!(rounded(spent)));
            if let (Some(before), Some(after)) = (before, processor()) {
                let each = (after - before) / runs as f64;
                exhaustive.insert(
                    format!("{template}_n{n}_processor_ms"),
                    json!(rounded(each)),
                );
            }
        }
    }
    exhaustive.into()
}

/// Simple laws that have a proof: sums of conserved counts, and bounds between counts, each different.
fn simple_laws(count: usize) -> Vec<Law> {
    let sums = (0..).map(|index| (1 + index % 100, 1 + index / 100));
    sums.take(count)
        .map(|(a, b)| {
            let moving = |kind: char| format!("(count('{kind}') + count('X'))");
            let expr = format!("{a}*{} + {b}*{}", moving('>'), moving('<'));
            law(&json!({
                "law_id": format!("sum_{a}_{b}"), "template": "invariant", "quantifiers": {"T": 60},
                "observables": [{"name": "s", "expr": expr}], "claim": "s(t) == s(0)", "forbidden": "another sum",
            }))
        })
        .collect()
}

/// The time and the size of the verdicts on simple laws with a proof, for a few and for many.
fn many(harness: &Harness) -> Value {
    let laws = simple_laws(10_000);
    let row = |count: usize| {
        let mut bytes = 0;
        let spent = millis(if count > 1000 { 1 } else { 5 }, || {
            bytes = 0;
            for law in &laws[..count] {
                let verdict = harness.evaluate(law);
                assert_eq!(verdict.evidence.strength, Some(Strength::Proved));
                bytes += serde_json::to_string(&verdict).unwrap().len();
            }
        });
        json!({"laws": count, "ms_a_law": rounded(spent / count as f64), "bytes_a_verdict": bytes / count})
    };
    json!([row(100), row(10_000)])
}

fn fixtures(harness: &Harness) -> Value {
    let laws = fixture_laws();
    let each = |law: &Law| {
        let spent = millis(9, || drop(black_box(harness.evaluate(law))));
        json!([law.law_id(), rounded(spent)])
    };
    let all = millis(20, || {
        for law in &laws {
            drop(black_box(harness.evaluate(law)));
        }
    });
    json!({"laws": laws.len(), "all_ms": rounded(all), "each_ms": laws.iter().map(each).collect::<Vec<_>>()})
}

fn shrinking(harness: &Harness) -> Value {
    let mut times = serde_json::Map::new();
    for (name, law) in wide_laws() {
        assert_eq!(harness.evaluate(&law).status, Status::Fail);
        let spent = millis(3, || drop(black_box(harness.evaluate(&law))));
        times.insert(format!("{name}_ms"), json!(rounded(spent)));
    }
    json!(times)
}

fn certificates(harness: &Harness) -> Value {
    let mut times = serde_json::Map::new();
    for law in &fixture_laws() {
        if harness.evaluate(law).evidence.proof.is_none() {
            continue;
        }
        let program = Program::compile(law, &KineticGrid).unwrap();
        let proof = prove(law, &program, &KineticGrid).unwrap();
        let made = millis(200, || drop(black_box(prove(law, &program, &KineticGrid))));
        let checked = millis(200, || verify_proof(black_box(&proof)).unwrap());
        times.insert(
            law.law_id().to_owned(),
            json!({"prove_us": rounded(made * 1e3), "verify_us": rounded(checked * 1e3)}),
        );
    }
    json!(times)
}

fn rare_violation() -> Value {
    // Eight collisions on sixteen cells: 276 of the 3^16 starts get there, 6.4e-6 of what a uniform generator draws.
    let rare = law(&json!({
        "law_id": "rare", "template": "bound", "quantifiers": {"T": 16},
        "preconditions": [{"lhs": "grid_length", "op": "==", "rhs": 16}],
        "observables": [{"name": "x", "expr": "count('X')"}],
        "claim": "x(t) <= 7", "forbidden": "a t with more than 7", "bound_value": 7, "bound_op": "<=",
    }));
    let mut times: Vec<f64> = Vec::new();
    let mut refuted = 0;
    for seed in 0..100 {
        // Nothing is exhausted here: the generators and the search have to find it.
        let config = Config::default().seed(seed).exhaustive_n(0).minimal_n(0);
        let harness = Harness::new(KineticGrid, config).unwrap();
        times.push(millis(1, || {
            refuted += u32::from(harness.evaluate(&rare).status == Status::Fail);
        }));
    }
    times.sort_by(f64::total_cmp);
    json!({"refuted_of_100": refuted, "median_ms": rounded(times[50]), "worst_ms": rounded(times[99])})
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads its arguments")]
fn main() {
    let harness = Harness::new(KineticGrid, Config::default()).unwrap();
    let parts: [(&str, &dyn Fn() -> Value); 7] = [
        ("fixtures", &|| fixtures(&harness)),
        ("simple_laws", &|| many(&harness)),
        ("stop_worst_ms", &|| {
            json!(rounded(stopping(&harness, &fixture_laws())))
        }),
        ("exhaustive", &exhaustion),
        ("shrinking", &|| shrinking(&harness)),
        ("certificates", &|| certificates(&harness)),
        ("rare_violation", &rare_violation),
    ];
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let mut figures = json!({"threads": rayon::current_num_threads()});
    for (name, measure) in parts {
        if asked.is_empty() || asked.iter().any(|part| part == name) {
            figures[name] = measure();
        }
    }
    println!("{figures:#}");
}
