//! The directory of an experiment: its files, its lock and the estimate of its run.

mod directory;
mod error;
mod estimate;
pub(crate) mod file;
mod lock;
mod name;

pub use directory::{ConfigFile, Experiment, INIT_TEMPLATE, Template};
pub use error::ExperimentError;
pub use estimate::{AnswerProfile, Consumption, Estimate, TokenPrices};
pub use lock::ExperimentLock;
