//! The stored results of the reference, recomputed from the tokens and the judges' points.

use crate::vectors::{check, vectors};

#[test]
fn every_row_comes_out_again() {
    let (groups, _) = check::groups(&vectors("published_rows.json")).unwrap();
    let failures: Vec<_> = groups.iter().flat_map(|group| &group.failures).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let totals: Vec<_> = groups
        .iter()
        .map(|group| (group.name.as_str(), group.passed()))
        .collect();
    assert_eq!(totals, [("rows", 17), ("earlier", 1)]);
}

#[test]
fn a_changed_number_is_noticed() {
    for (pointer, value) in [
        ("/rows/3/total", 81.into()),
        ("/rows/3/scores/learnability", 15.into()),
        ("/rows/3/compressionRatio", 0.23.into()),
        ("/rows/3/compressionPercent", 23.into()),
        ("/earlier/0/originalTokens", serde_json::Value::Null),
    ] {
        let mut file = vectors("published_rows.json");
        *file.pointer_mut(pointer).unwrap() = value;
        let (groups, _) = check::groups(&file).unwrap();
        let failures: usize = groups.iter().map(|group| group.failures.len()).sum();
        assert_eq!(failures, 1, "{pointer}");
    }
}
