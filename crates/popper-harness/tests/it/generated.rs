//! The laws of `fixtures/popper/generated_laws.tsv`, which the enumerative proposer made, with the verdicts of that time.

use serde_json::{Value, json};

/// One of the laws.
pub struct GeneratedLaw {
    /// The seed of its random universe.
    pub seed: u64,
    /// Whether the verdict was PASS rather than FAIL.
    pub passed: bool,
    /// The law as JSON.
    pub law: Value,
}

/// Reads the laws: a line has seed, verdict, template, quantifiers, preconditions, observables, claim and the rest of the law.
pub fn laws() -> Vec<GeneratedLaw> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/popper/generated_laws.tsv"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let law = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [
            seed,
            verdict,
            template,
            quantifiers,
            preconditions,
            observables,
            claim,
            rest,
        ] = fields[..]
        else {
            panic!("line {}: {} fields", number + 1, fields.len());
        };
        let mut law = json!({
            "schema_version": "1.0.0", "law_id": format!("law_{}", number + 1), "template": template,
            "quantifiers": parsed(quantifiers), "preconditions": parsed(preconditions),
            "observables": parsed(observables), "claim": claim, "forbidden": "the contrary",
        });
        for (key, value) in parsed(rest).as_object().unwrap() {
            law[key] = value.clone();
        }
        GeneratedLaw {
            seed: seed.parse().unwrap(),
            passed: verdict == "PASS",
            law,
        }
    };
    text.lines().enumerate().map(law).collect()
}
