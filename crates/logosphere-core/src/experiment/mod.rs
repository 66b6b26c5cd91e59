//! The directory of an experiment: its files, its lock, the vectors of its texts and the estimate of its run.

mod directory;
mod error;
mod estimate;
pub(crate) mod file;
mod lock;
mod name;
mod vector_cache;
mod vector_file;

pub use directory::{ConfigFile, Experiment, INIT_TEMPLATE, Template};
pub use error::ExperimentError;
pub use estimate::{AnswerProfile, Consumption, Estimate, TokenPrices};
pub use file::{check_change, check_place};
pub use lock::ExperimentLock;
pub use vector_cache::{VectorCache, VectorLock};
