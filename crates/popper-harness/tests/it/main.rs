//! Integration tests of the harness, one binary so that they link once.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod built;
mod fingerprints;
mod fixtures;
mod foreign;
mod fuzz;
mod generated;
mod hunt;
mod layers;
mod minimal;
mod necklaces;
mod normal_form;
mod oracle;
mod oracle_checks;
mod power;
mod random_law;
mod random_law_checks;
mod regular;
mod review;
mod rewrite;
mod second_checker;
mod universe_file;
mod verdicts;
