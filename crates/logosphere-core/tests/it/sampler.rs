use super::parse_vectors::{check, hold, vectors};

#[test]
fn every_vector_holds() {
    let sizes = hold(&vectors("sampler_vectors.json"));
    assert_eq!(sizes, [("u64".to_owned(), 4), ("draws".to_owned(), 12)]);
}

#[test]
fn a_changed_vector_is_noticed() {
    for (group, pointer) in [(0, "/u64/values/3"), (1, "/draws/3/offsets/0")] {
        let mut file = vectors("sampler_vectors.json");
        *file.pointer_mut(pointer).unwrap() = 17.into();
        assert_eq!(check::groups(&file).unwrap()[group].failures.len(), 1);
    }
}
