//! The share of true laws that are proved for every ring size, and the time of proofs, on laws that the enumerative proposer made.
//!
//! `cargo bench -p orrery-popper-harness --bench proofs` prints one JSON object. The laws are `fixtures/popper/generated_laws.tsv`,
//! frozen before regular proofs: 20 random universes, ten iterations each. Times are milliseconds on one core. The words `open` and
//! `proofs` also print the laws without a proof, and the proofs.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock and its arguments, and prints what it measured"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::collections::BTreeMap;

use popper_harness::law::{Extensions, Law, Program};
use popper_harness::proof::{Method, prove, verify_proof};
use popper_harness::universe::{Tabulated, random_universe};
use serde_json::{Value, json};

#[path = "../tests/it/generated.rs"]
mod generated;

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = std::time::Instant::now();
    let result = work();
    (result, begin.elapsed().as_secs_f64() * 1e3)
}

/// The median, the 99th percentile and the largest of some times.
fn spread(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    json!({"median": rounded(at(0.5)), "p99": rounded(at(0.99)), "worst": rounded(at(1.0))})
}

/// Whether an argument asks for something: `open` for the laws without a proof, `proofs` for the proofs.
fn wants(what: &str) -> bool {
    std::env::args().any(|argument| argument == what)
}

fn main() {
    let universes: BTreeMap<u64, Tabulated> =
        (1..=20).map(|seed| (seed, random_universe(seed))).collect();
    let mut by_template: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let (mut search, mut check, mut refuted, mut unsound) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for generated::GeneratedLaw { seed, passed, law } in generated::laws() {
        let universe = &universes[&seed];
        let template = law["template"].as_str().unwrap().to_owned();
        let law = Law::from_json(&law.to_string(), Extensions::default()).unwrap();
        let program = Program::compile(&law, universe).unwrap();
        let (proof, time) = timed(|| prove(&law, &program, universe));
        if !passed {
            refuted.push(time);
            unsound += usize::from(proof.is_some());
            continue;
        }
        search.push(time);
        let counts = by_template.entry(template).or_default();
        counts[0] += 1;
        if let Some(proof) = &proof {
            counts[if proof.method == Method::Regular {
                2
            } else {
                1
            }] += 1;
            let (holds, time) = timed(|| verify_proof(proof));
            holds.unwrap();
            check.push(time);
            if wants("proofs") {
                println!("{}", serde_json::to_string(proof).unwrap());
            }
        } else if wants("open") {
            println!("{seed}\t{time:.1}\t{}", law.claim());
        }
    }
    let sum = |place: usize| {
        by_template
            .values()
            .map(|counts| counts[place])
            .sum::<usize>()
    };
    let (all, before, regular) = (sum(0), sum(1), sum(2));
    let result = json!({
        "laws": all,
        "proved without regular proofs": before,
        "proved": before + regular,
        "share": ((before + regular) as f64 / all as f64 * 1e3).round() / 1e3,
        "by template: all, proved without, proved by regular": by_template,
        "search, true laws": spread(search),
        "search, refuted laws": spread(refuted),
        "verify_proof": spread(check),
        "proofs of refuted laws": unsound,
    });
    println!("{}", serde_json::to_string_pretty(&result).unwrap());
}
