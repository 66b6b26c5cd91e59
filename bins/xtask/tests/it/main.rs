//! The invariants of the project as a whole, and the commands that check them.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod arrows;
#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod campaign;
mod commands;
mod decisions;
mod declaration;
mod definitions;
#[cfg(unix)]
mod demo;
#[cfg(unix)]
mod docs;
#[cfg(unix)]
mod fresh;
#[cfg(unix)]
mod gate;
mod guides;
mod identifiers;
mod js_source;
mod language;
mod layers;
mod lints;
mod modules;
mod names;
mod packages;
#[cfg(unix)]
mod packaging;
#[cfg(unix)]
mod pictures;
mod public_api;
mod readmes;
mod rust_source;
mod single;
#[cfg(unix)]
mod tree;
mod workflows;
