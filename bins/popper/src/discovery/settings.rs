//! The settings of a run: from its row, a configuration file, and flags.

use bin_support::Failure;
use popper_discovery::{LoopConfig, RunConfig};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::{KineticGrid, Tabulated};

use crate::flags::RunOptions;
use crate::{config, universe};

/// Harness and loop of a run.
pub struct Settings {
    pub harness: Harness,
    pub discovery: LoopConfig,
}

impl Settings {
    /// Merges the settings. A file replaces the run's own configuration as a whole; a flag wins over both. Whether a run
    /// may continue with them is not decided here.
    pub fn new(work: &RunOptions, stored: Option<&RunConfig>) -> Result<Self, Failure> {
        let (mut harness, mut discovery) = match (&work.config, stored) {
            (Some(path), _) => config::read(path).map_err(Failure::usage)?,
            (None, Some(stored)) => (stored.harness.clone(), stored.discovery.clone()),
            (None, None) => (Config::default(), LoopConfig::default()),
        };
        harness.seed = work.seed.unwrap_or(harness.seed);
        harness.exhaustive_n = work.exhaustive_n.unwrap_or(harness.exhaustive_n);
        for name in &work.extension {
            if !harness.extensions.contains(name) {
                harness.extensions.push(name.clone());
            }
        }
        discovery.propose = work.batch.unwrap_or(discovery.propose);
        discovery.test = work.max_tests.unwrap_or(discovery.test);
        discovery.check().map_err(Failure::usage)?;
        let universe: Tabulated = match (&work.universe, stored) {
            (Some(path), _) => universe::load(path).map_err(Failure::usage)?,
            (None, Some(stored)) => Tabulated::from_value(&stored.universe)?,
            (None, None) => Tabulated::clone(&KineticGrid),
        };
        Ok(Self {
            harness: Harness::new(universe, harness).map_err(Failure::usage)?,
            discovery,
        })
    }

    /// Returns the settings in the row of a run.
    pub fn of(stored: &RunConfig) -> Result<Self, Failure> {
        Ok(Self {
            harness: Harness::new(
                Tabulated::from_value(&stored.universe)?,
                stored.harness.clone(),
            )?,
            discovery: stored.discovery.clone(),
        })
    }
}
