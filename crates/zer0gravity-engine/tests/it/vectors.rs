//! The recorded numbers of the reference, group by group.

use serde_json::Value;

#[path = "../../examples/zer0gravity_vectors/check.rs"]
pub mod check;

pub fn vectors(file: &str) -> Value {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/zer0gravity/vectors/"
    );
    serde_json::from_str(&std::fs::read_to_string(format!("{root}{file}")).unwrap()).unwrap()
}

#[test]
fn every_group_is_as_recorded() {
    let (groups, _) = check::groups(&vectors("vectors.json")).unwrap();
    let failures: Vec<_> = groups.iter().flat_map(|group| &group.failures).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let totals: Vec<_> = groups
        .iter()
        .map(|group| (group.name.as_str(), group.passed()))
        .collect();
    assert_eq!(
        totals,
        [
            ("tokenEfficiency", 26),
            ("learnability", 30),
            ("judgeSemantic", 54),
            ("judgeImplementability", 52),
            ("scoreAll", 8),
            ("countTokensFallback", 10),
            ("encodeBlocks", 3),
            ("decodeBlocks", 3),
        ]
    );
}

#[test]
fn a_changed_number_is_noticed() {
    let file = vectors("vectors.json");
    for (group, key, value) in [
        ("tokenEfficiency", "score", 41.into()),
        ("tokenEfficiency", "compressionPercent", Value::Null),
        ("learnability", "learnability", "NaN".into()),
        ("judgeSemantic", "reasoning", "other".into()),
        ("judgeImplementability", "score", 4.into()),
        ("scoreAll", "asJson", 80.0.into()),
        ("countTokensFallback", "apiCalled", true.into()),
        ("encodeBlocks", "encodedText", "padded".into()),
        ("decodeBlocks", "decodedText", "  padded  ".into()),
    ] {
        let mut file = file.clone();
        file[group][0][key] = value;
        let (groups, _) = check::groups(&file).unwrap();
        let group = groups.iter().find(|found| found.name == group).unwrap();
        assert_eq!(group.failures.len(), 1, "{}: {key}", group.name);
    }
    let mut short = file;
    short["counts"]["scoreAll"] = 7.into();
    assert!(check::groups(&short).is_err());
}

#[test]
fn z22_an_unknown_group_is_named_and_the_others_are_checked() {
    let mut file = vectors("vectors.json");
    file["split"] = "held out".into();
    file["other"] = Value::Array(Vec::new());
    let (groups, skipped) = check::groups(&file).unwrap();
    assert_eq!((groups.len(), skipped), (8, vec!["other".to_owned()]));
}
