//! Proofs by regular sets of rings: of true laws alone, checked again, and the same on any number of threads.

use popper_harness::law::{Law, Program};
use popper_harness::proof::{Method, Proof, ProofError, prove, verify_proof};
use popper_harness::universe::{KineticGrid, Tabulated, Universe, random_universe};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::generated::{self, GeneratedLaw};
use crate::second_checker::sealed;

pub fn proof(law: &Value, universe: &Tabulated) -> Option<Proof> {
    let law = Law::from_json(&law.to_string(), popper_harness::law::Extensions::default()).unwrap();
    let program = Program::compile(&law, universe).unwrap();
    prove(&law, &program, universe)
}

/// Every tenth of the laws that passed, or of those that were refuted.
fn tenth(passed: bool) -> impl Iterator<Item = GeneratedLaw> {
    generated::laws()
        .into_iter()
        .filter(move |law| law.passed == passed)
        .step_by(10)
}

/// An `eventually` over the symbols of a universe.
fn eventually(claim: &str, preconditions: &Value, window: u64) -> Value {
    let observables = [
        ("a", "count('a')"),
        ("b", "count('b')"),
        ("c", "count('c')"),
        ("d", "count('d')"),
        ("n", "grid_length"),
        ("ab", "count_pattern('ab')"),
        ("left", "leftmost('a')"),
        ("even", "count_even('a')"),
    ];
    let observables: Vec<Value> = observables
        .iter()
        .map(|(name, expr)| json!({"name": name, "expr": expr}))
        .collect();
    json!({
        "schema_version": "1.0.0", "law_id": "test", "template": "eventually",
        "quantifiers": {"T": 9, "H": window}, "preconditions": preconditions,
        "observables": observables, "claim": claim, "forbidden": "the contrary",
    })
}

/// A universe whose cells count down to a, and stay there.
fn countdown(symbols: &str) -> Tabulated {
    let before = |cell: char| char::from(cell as u8 - u8::from(cell > 'a'));
    Tabulated::from_fn("countdown", symbols, 1, |window| before(window[1])).unwrap()
}

/// A universe in which a spreads to the right over the other symbols.
fn spreading() -> Tabulated {
    let next = |window: &[char]| if window[0] == 'a' { 'a' } else { window[1] };
    Tabulated::from_fn("spreading", "abcd", 1, next).unwrap()
}

/// A universe whose cells go round: d, c, b, a, d.
fn wheel() -> Tabulated {
    let next = |window: &[char]| match window[1] {
        'a' => 'd',
        cell => char::from(cell as u8 - 1),
    };
    Tabulated::from_fn("wheel", "abcd", 1, next).unwrap()
}

#[test]
fn refuted_laws_have_no_proof() {
    let mut seen = 0;
    for law in tenth(false) {
        let found = proof(&law.law, &random_universe(law.seed));
        assert!(found.is_none(), "{}", law.law);
        seen += 1;
    }
    assert!(seen > 250, "{seen}");
}

#[test]
fn true_laws_are_proved_and_each_proof_holds_when_it_is_read_back() {
    let (mut seen, mut proved, mut regular) = (0, 0, 0);
    for law in tenth(true) {
        seen += 1;
        let Some(proof) = proof(&law.law, &random_universe(law.seed)) else {
            continue;
        };
        let text = serde_json::to_string(&proof).unwrap();
        let back: Proof = serde_json::from_str(&text).unwrap();
        assert_eq!(verify_proof(&back), Ok(()), "{text}");
        proved += 1;
        regular += usize::from(proof.method == Method::Regular);
    }
    assert!(proved * 10 >= seen * 9, "{proved} of {seen}");
    assert!(regular >= 15, "{regular} of {proved}");
}

#[test]
fn proofs_do_not_depend_on_threads() {
    let laws: Vec<GeneratedLaw> = tenth(true).collect();
    let texts = |threads: usize| -> Vec<String> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let text = |law: &GeneratedLaw| {
            serde_json::to_string(&proof(&law.law, &random_universe(law.seed))).unwrap()
        };
        pool.install(|| laws.par_iter().map(text).collect())
    };
    let one = texts(1);
    assert_eq!(one, texts(2));
    assert_eq!(one, texts(8));
}

#[test]
fn what_follows_within_some_steps_is_proved_by_rank() {
    let none = json!([]);
    let few = json!([{"lhs": "count('d')", "op": "<=", "rhs": "1"}]);
    let no_d = json!([{"lhs": "count('d')", "op": "==", "rhs": "0"}]);
    let (four, seven, wheel) = (countdown("abcd"), countdown("abcdefg"), wheel());
    let mut ranks = 0;
    for (universe, claim, preconditions, least) in [
        (&four, "d(t) >= 1 -> d(t) == 0", &none, 1),
        (&four, "d(t) >= 1 -> a(t) == n(t)", &none, 3),
        (&four, "d(t) == 1 -> a(t) == n(t)", &few, 3),
        (&four, "c(t) >= 1 -> c(t) == 0 and d(t) == 0", &none, 2),
        (&four, "c(t) >= 1 -> a(t) == n(t)", &no_d, 2),
        (
            &four,
            "b(t) >= 1 -> b(t) == 0 and c(t) == 0 and d(t) == 0",
            &none,
            3,
        ),
        (&four, "ab(t) >= 1 -> ab(t) == 0", &none, 3),
        (&four, "left(t) >= 1 -> left(t) == 0", &none, 3),
        (&four, "left(t) < 0 -> left(t) == 0", &none, 3),
        (&four, "b(t) >= 1 -> a(t) >= 1", &none, 1),
        (&four, "a(t) == 0 -> a(t) >= 1", &none, 3),
        (&four, "d(t) + c(t) >= 2 -> d(t) + c(t) == 0", &none, 2),
        (&four, "d(t) % 2 == 1 -> d(t) % 2 == 0", &none, 1),
        (&four, "even(t) <= 0 -> even(t) >= 1", &none, 3),
        (&seven, "d(t) >= 1 -> a(t) == n(t)", &none, 6),
        (&seven, "a(t) == 0 -> a(t) >= 1", &none, 6),
        (&seven, "a(t) < n(t) -> a(t) == n(t)", &none, 6),
        (&seven, "d(t) >= 1 -> d(t) == 0", &none, 4),
        (&seven, "left(t) < 0 -> left(t) == 0", &none, 6),
        (&wheel, "d(t) >= 1 -> a(t) >= 1", &none, 3),
    ] {
        let found = |window| proof(&eventually(claim, preconditions, window), universe);
        let proof = found(least).unwrap_or_else(|| panic!("{claim}"));
        assert_eq!(verify_proof(&proof), Ok(()));
        ranks += usize::from(proof.method == Method::Regular);
        // With more steps than it needs it is true, too; with one less it is not.
        assert!(found(least + 3).is_some(), "{claim} within {}", least + 3);
        assert!(
            least == 1 || found(least - 1).is_none(),
            "{claim} within {}",
            least - 1
        );
    }
    assert!(ranks >= 12, "{ranks}");
}

#[test]
fn a_livelock_is_no_proof() {
    let none = json!([]);
    let wheel = wheel();
    for claim in ["d(t) >= 1 -> a(t) == n(t)", "ab(t) >= 1 -> ab(t) == 0"] {
        let law = eventually(claim, &none, 64);
        assert!(proof(&law, &wheel).is_none(), "{claim}");
    }
    // What spreads arrives everywhere, but the larger the ring, the later.
    let some_a = json!([{"lhs": "count('a')", "op": ">=", "rhs": "1"}]);
    let law = eventually("b(t) >= 1 -> b(t) == 0", &some_a, 64);
    assert!(proof(&law, &spreading()).is_none());
}

#[test]
fn the_fixture_that_needs_longer_on_larger_rings_stays_open() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/popper/laws/true.json"
    );
    let laws: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let law = laws
        .iter()
        .find(|law| law["law_id"] == "odd_ring_pair_meets")
        .unwrap();
    let grid = Tabulated::of(&KineticGrid).unwrap();
    assert!(proof(law, &grid).is_none());
    assert_eq!(grid.id(), "kinetic_grid_v1");
}

/// Empty sets at the end of a rank prove no less, but a file could have any number of them.
#[test]
fn a_rank_of_millions_of_sets_is_refused_before_they_are_read() {
    let law = eventually("d(t) >= 1 -> a(t) == n(t)", &json!([]), 1_000_000_000);
    let mut proof = json!(proof(&law, &countdown("abcd")).unwrap());
    let place = "/certificate/regular/cases/0/refutation/rank/sets";
    let mut verified = |more: usize| {
        let sets = proof.pointer_mut(place).unwrap().as_array_mut().unwrap();
        sets.extend(vec![json!([]); more]);
        let proof: Proof = serde_json::from_value(sealed(proof.clone())).unwrap();
        verify_proof(&proof)
    };
    assert_eq!(verified(10), Ok(()));
    let refused = verified(1_000_000).unwrap_err();
    assert!(refused.to_string().contains("too large"), "{refused}");
}

/// Certificates that a second author made up: whatever they prove by, their laws are false.
#[test]
fn forged_proofs_are_refused() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/popper/forged_proofs.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let proof: Proof = serde_json::from_str(line).unwrap();
        let refused = verify_proof(&proof).unwrap_err();
        assert!(
            !matches!(refused, ProofError::Digest),
            "line {number}: {refused}"
        );
    }
    assert_eq!(text.lines().count(), 4);
}

#[test]
fn a_proof_is_one_for_every_horizon_and_every_greater_window() {
    let (mut windows, mut methods) = (0, std::collections::BTreeSet::new());
    for generated in tenth(true) {
        let universe = random_universe(generated.seed);
        let Some(proof) = proof(&generated.law, &universe) else {
            continue;
        };
        let mut varied = generated.law.clone();
        varied["quantifiers"]["T"] = json!(3);
        if let Some(h) = generated.law["quantifiers"]["H"].as_u64() {
            windows += 1;
            varied["quantifiers"]["H"] = json!(h + 2);
        }
        let read = |law: &Value| {
            Law::from_json(&law.to_string(), popper_harness::law::Extensions::default()).unwrap()
        };
        let later = read(&varied);
        let own = proof.for_law(&later).unwrap();
        assert_eq!(own.law_fingerprint, later.fingerprint());
        verify_proof(&own).unwrap();
        assert_eq!(
            own.for_law(&read(&generated.law)).is_some(),
            varied["quantifiers"].get("H").is_none()
        );
        methods.insert(format!("{:?}", proof.method));
        varied["claim"] = json!("t >= 0");
        assert!(proof.for_law(&read(&varied)).is_none());
    }
    assert!(windows > 0 && methods.len() >= 3, "{windows} {methods:?}");
}
