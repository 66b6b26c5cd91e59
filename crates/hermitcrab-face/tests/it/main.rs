//! The acceptance tests of this crate, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod face;
mod jsx_hostile;
mod jsx_needs;
mod jsx_table;
mod jsx_vectors;
mod page;
mod repair;
#[cfg(unix)]
mod runtime_npm;
mod server;

/// A source file of the kernel, by its path under `src`.
fn kernel_file(path: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../hermitcrab-kernel/src/");
    std::fs::read_to_string(format!("{folder}{path}")).unwrap()
}
