//! The steps of a proof in words.

use popper_harness::law::{NormalClaim, NormalLaw, Notation};
use popper_harness::proof::{
    Certificate, Count, Proof, Refutation, RefutationReason, Refutations, Regular, RegularCase,
    RegularReason,
};

use crate::expect::word;

/// Returns the name of the proof, then its claim and its steps, a paragraph each.
pub fn paragraphs(proof: &Proof) -> Vec<String> {
    let mut all = vec![format!("law {}: proved", proof.law_fingerprint)];
    if let Ok(law) = NormalLaw::from_value(proof.law.clone(), "law") {
        all.extend(claim(&law));
    }
    all.push(format!("proof by {}: {}", word(&proof.method), proof.scope));
    match &proof.certificate {
        Certificate::RuleCommutes { neighbourhoods } => all.push(format!(
            "The transform commutes with the rule on each of its {neighbourhoods} neighbourhoods, so it commutes with every step."
        )),
        Certificate::Homogeneity {} => all.push(
            "The rule is the same at every cell, so every shift commutes with every step."
                .to_owned(),
        ),
        Certificate::RuleTable { windows, triggered } => all.push(format!(
            "The rule satisfies the claim on each of its {windows} windows; {triggered} of them have the trigger."
        )),
        Certificate::Refutations(refutations) => all.extend(cases(refutations)),
        Certificate::Regular(regular) => all.extend(regions(regular)),
    }
    all
}

/// The claim of a law whose own text is not at hand, with the expressions that its names stand for.
pub fn claim(law: &NormalLaw) -> Option<String> {
    let claim = match &law.claim {
        NormalClaim::Formula(expr) => expr.text(Notation::Grammar, &str::to_owned),
        NormalClaim::Commutes(name) => format!("commutes({name})"),
        _ => return None,
    };
    Some(format!("claim: {claim}"))
}

fn cases(refutations: &Refutations) -> Vec<String> {
    let mut all = Vec::new();
    all.push(match refutations.cases.len() {
        1 => "The claim fails only if a quantity is positive, and it never is:".to_owned(),
        count => {
            format!("The claim fails only in {count} ways, if a quantity is positive. It never is:")
        }
    });
    if let Some(delay) = refutations.delays.iter().max().filter(|delay| **delay > 0) {
        let steps = if *delay == 1 { "step" } else { "steps" };
        all.push(format!(
            "- What is claimed is there {delay} {steps} later at most."
        ));
    }
    let conserved = refutations.conserved.iter();
    all.extend(conserved.map(|conserved| {
        let form = sum(&conserved.form);
        format!("- {form} has the same value at all steps.")
    }));
    let cases = refutations.cases.iter().enumerate();
    all.extend(cases.map(|(index, case)| format!("{}. {}", index + 1, reason(case))));
    all
}

fn reason(case: &Refutation) -> String {
    match &case.reason {
        RefutationReason::EveryState(_) => {
            "Region: all states. No walk through the windows of a ring makes it positive."
                .to_owned()
        }
        RefutationReason::Bounded { invariant, .. } => {
            let form = sum(invariant);
            format!(
                "Region: all states, in which I = {form} bounds it. Invariant: no step makes I larger. Base: at t = 0 the bound is at most 0."
            )
        }
        _ => "A reason that this program has no words for.".to_owned(),
    }
}

fn regions(regular: &Regular) -> Vec<String> {
    let mut all = vec![match regular.cases.len() {
        1 => "The claim fails only in one way, and in no state of a run:".to_owned(),
        count => format!("The claim fails only in {count} ways, and in no state of a run:"),
    }];
    let cases = regular.cases.iter().enumerate();
    all.extend(cases.map(|(index, case)| format!("{}. {}", index + 1, region(case))));
    all
}

fn region(case: &RegularCase) -> String {
    /// The most words that are named.
    const NAMED: usize = 8;
    let words = match case.words.len() {
        0 => return "No ring has a start as this way needs it.".to_owned(),
        count if count > NAMED => format!("{count} words of {} cells", case.m),
        _ => format!("the words {}", case.words.join(" ")),
    };
    let from = match case.s {
        0 => "the start".to_owned(),
        step => format!("t = {step}"),
    };
    let reason = match &case.refutation {
        RegularReason::Empty {} => "No ring of these fails in this way.".to_owned(),
        RegularReason::Heaviest { .. } => {
            "On a ring of these that fails, a quantity would be positive that never is.".to_owned()
        }
        RegularReason::Bounded { invariant, .. } => format!(
            "Invariant: no step makes I = {} larger, and I separates such a ring from every start.",
            sum(invariant)
        ),
        RegularReason::Modulo { k, form } => {
            format!("Invariant: no step changes ({}) % {k}.", sum(form))
        }
        RegularReason::Rank { sets } => format!(
            "The words of states in which the claim is still open become fewer, until none are left after step {}.",
            sets.len() - 1
        ),
        _ => "A reason that this program has no words for.".to_owned(),
    };
    format!("Region: from {from} on every state has {words} only. {reason}")
}

/// Returns a form as a sum of observables.
fn sum(form: &[Count]) -> String {
    let mut text = String::new();
    for count in form {
        let sign = match (count.coefficient < 0, text.is_empty()) {
            (true, true) => "-",
            (true, false) => " - ",
            (false, true) => "",
            (false, false) => " + ",
        };
        let factor = match count.coefficient.unsigned_abs() {
            1 => String::new(),
            factor => format!("{factor} * "),
        };
        let pattern = &count.pattern;
        let observable = match pattern.chars().count() {
            0 => "grid_length".to_owned(),
            1 => format!("count('{pattern}')"),
            _ => format!("count_pattern('{pattern}')"),
        };
        let delay = match count.delay {
            0 => String::new(),
            delay => format!(" {delay} steps on"),
        };
        text.extend([sign, &factor, &observable, &delay]);
    }
    if text.is_empty() {
        "0".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_reason_of_a_region_has_words() {
        let form = json!([{"pattern": "a", "delay": 0, "coefficient": 1}]);
        let words = |refutation| {
            let case = json!({
                "m": 1, "s": 1, "start_words": ["..."], "words": [".", "a"], "refutation": refutation,
            });
            region(&serde_json::from_value(case).unwrap())
        };
        let weighed = json!({"unit": 1, "multipliers": [1]});
        let bounded = json!({"unit": 1, "multipliers": [1], "invariant": form});
        for (refutation, end) in [
            (json!({"empty": {}}), "No ring of these fails in this way."),
            (
                json!({"heaviest": weighed}),
                "would be positive that never is.",
            ),
            (
                json!({"bounded": bounded}),
                "no step makes I = count('a') larger, and I separates such a ring from every start.",
            ),
            (
                json!({"modulo": {"k": 2, "form": form}}),
                "no step changes (count('a')) % 2.",
            ),
            (
                json!({"rank": {"sets": [["a"], []]}}),
                "until none are left after step 1.",
            ),
        ] {
            let words = words(refutation);
            let begin = "Region: from t = 1 on every state has the words . a only.";
            assert!(words.starts_with(begin) && words.ends_with(end), "{words}");
        }
    }
}
