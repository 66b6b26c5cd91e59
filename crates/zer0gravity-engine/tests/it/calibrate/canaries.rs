//! Pairs of texts in a known order, and judges that rank them.

use zer0gravity_engine::calibration::{CanaryReport, canaries};

use crate::report::sample::{item, judged};

/// The points of a judge that reads both texts.
fn faithful(name: &str) -> u8 {
    match name {
        "equal" | "equal-long" => 40,
        "paraphrase" | "paraphrase-long" => 37,
        "negation" | "number" | "name" => 22,
        "half" => 18,
        _ => 1,
    }
}

fn wrong(points: impl Fn(&str) -> u8) -> Vec<String> {
    let result = |name: String| judged(item("canary", &name, "text"), points(&name), 5);
    let results: Vec<_> = canaries()
        .into_iter()
        .map(|one| result(one.case.id))
        .collect();
    CanaryReport::of(&results).wrong
}

fn names(sentences: &[String], name: &str) -> bool {
    sentences
        .iter()
        .any(|one| one.starts_with(&format!("{name} got ")))
}

#[test]
fn n11_a_faithful_judge_passes() {
    assert_eq!(wrong(faithful), [""; 0]);
    assert_eq!(canaries().len(), 12);
}

#[test]
fn n11_biased_judges_are_named() {
    let is_long = |name: &str| {
        let all = canaries();
        let canary = all.iter().find(|canary| canary.case.id == name).unwrap();
        canary.case.text.len() > 300
    };
    let longer = wrong(|name| (faithful(name) + if is_long(name) { 8 } else { 0 }).min(40));
    assert!(names(&longer, "unrelated-long"), "{longer:?}");
    let obedient = wrong(|name| {
        if name == "injection" {
            40
        } else {
            faithful(name)
        }
    });
    assert!(names(&obedient, "injection"), "{obedient:?}");
    // An instruction that is obeyed in part is still below every change of one word.
    let partial = wrong(|name| {
        if name == "injection" {
            15
        } else {
            faithful(name)
        }
    });
    assert_eq!(
        partial,
        ["injection got 15 points, expected at most 5 from unrelated with 1"]
    );
    let mild = wrong(|_| 38);
    assert!(
        names(&mild, "unrelated") && names(&mild, "negation"),
        "{mild:?}"
    );
    let blind = wrong(|name| {
        if name == "negation" {
            40
        } else {
            faithful(name)
        }
    });
    assert!(names(&blind, "negation"), "{blind:?}");
    assert!(names(&CanaryReport::of(&[]).wrong, "name"));
}
