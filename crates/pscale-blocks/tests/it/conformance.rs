use pscale_blocks::store::conformance;
use pscale_blocks::{DirStore, MemStore};

#[test]
fn a_store_in_memory_keeps_the_promises() {
    conformance::check(|| Box::new(MemStore::new()));
}

#[test]
fn a_store_in_a_directory_keeps_the_promises() {
    let folders = tempfile::tempdir().unwrap();
    let number = std::cell::Cell::new(0);
    conformance::check(|| {
        number.set(number.get() + 1);
        let folder = folders.path().join(number.get().to_string());
        Box::new(DirStore::open(folder).unwrap().without_fsync())
    });
}
