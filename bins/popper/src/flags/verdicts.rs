//! The flags of laws and verdicts.

use std::path::PathBuf;

use crate::universe;

#[derive(Debug, clap::Args)]
pub struct UniverseFlag {
    /// Universe: a JSON file, or the name of the built-in one.
    #[arg(short, long, value_name = "FILE|kinetic_grid", default_value = universe::BUILT_IN)]
    pub universe: PathBuf,
}
