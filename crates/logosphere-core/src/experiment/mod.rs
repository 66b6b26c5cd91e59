//! The directory of an experiment: where its files are, and who may write them when.

mod directory;
mod error;
mod file;
mod forecast;
mod lock;
mod name;

pub use directory::{ConfigFile, Experiment, INIT_TEMPLATE, Template};
pub use error::ExperimentError;
pub use forecast::{Amounts, Answers, Forecast, TokenPrices, forecast};
pub use lock::ExperimentLock;
