//! A1: the cases of `vectors.json`. Those on the keystone need the kernel's default block, so the kernel's tests run them.

use serde_json::{Value, json};

#[path = "../../examples/pscale_vectors/check.rs"]
mod check;

fn vectors() -> Value {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/hermitcrab/vectors/vectors.json"
    );
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn every_group_is_as_the_file_says() {
    let groups = check::groups(&vectors()).unwrap();
    let failures: Vec<_> = groups.iter().flat_map(|group| &group.failures).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let counts: Vec<_> = groups
        .iter()
        .map(|group| (group.name.as_str(), group.passed(), group.skipped))
        .collect();
    assert_eq!(
        counts,
        [
            ("path_parse", 18, 0),
            ("strict_parse", 17, 0),
            ("path_read", 34, 10),
            ("path_write", 10, 0),
            ("pscale0_and_depth1", 6, 0),
            ("compact_coord", 13, 0),
            ("bsp", 20, 0),
            ("grow_append", 13, 0),
            ("trim", 0, 7),
            ("jsx", 0, 32),
        ]
    );
}

#[test]
fn a_changed_expectation_is_noticed() {
    let file = vectors();
    for (group, key, value) in [
        ("path_parse", "depth", json!(2)),
        ("strict_parse", "ok", json!(true)),
        ("path_read", "pscale", json!(1)),
        ("path_write", "path", json!("0.2")),
        ("pscale0_and_depth1", "head", json!("1")),
        ("compact_coord", "compact", json!("00")),
        ("bsp", "view", json!("node")),
        ("grow_append", "block_after", json!({})),
    ] {
        let mut file = file.clone();
        file[group][0]["expected"][key] = value;
        let groups = check::groups(&file).unwrap();
        let group = groups.iter().find(|found| found.name == group).unwrap();
        assert_eq!(group.failures.len(), 1, "{}: {key}", group.name);
    }
    let told = |group: &check::Group| group.skipped == 0 || !group.why_skipped.is_empty();
    assert!(check::groups(&file).unwrap().iter().all(told));
    let mut unknown = file;
    unknown["more"] = json!([]);
    assert!(check::groups(&unknown).is_err());
}
