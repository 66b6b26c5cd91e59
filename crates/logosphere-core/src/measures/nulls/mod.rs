//! Null models: runs in which chance alone decides.
//!
//! A measure of one run proves little: in a small pool copying alone makes texts similar, without any selection.
//! [`null_band`] generates at least 200 runs without the effect in question ([`Null`]) and returns the position of the run
//! among them. [`simulate`] generates such runs from settings, and [`closed_form`] has the theoretical results.
//!
//! ```
//! use logosphere_core::measures::nulls::{Null, Simulation, null_band, simulate};
//!
//! let run = simulate(&Simulation {
//!     minds: 3,
//!     samples: 3,
//!     active: 15,
//!     snapshot: false,
//!     rounds: 10,
//!     seeds: vec!["one".to_owned(), "two".to_owned()],
//!     mu: 0.2,
//!     seed: 42,
//! });
//! let distinct = |run: &logosphere_core::Transcript| {
//!     let texts: std::collections::BTreeSet<_> = run.messages.iter().map(|m| &m.text).collect();
//!     Some(texts.len() as f64)
//! };
//! // A run of copiers is inside the band of the null model of copiers.
//! let band = null_band(&run, Null::RandomCopy { mu: None }, 200, 1, distinct).unwrap();
//! assert!(band.low <= band.observed && band.observed <= band.high);
//! ```

mod band;
pub mod closed_form;
mod drift;
mod model;
mod simulation;

pub use band::{MIN_RUNS, NullBand, null_band, null_bands};
pub(crate) use band::{NullRuns, bands};
pub use drift::{Drift, DriftRules, Kind, Source, duplicate_rate};
pub use model::{Null, NullModel, UnknownNull, novelty_rate};
pub use simulation::{Simulation, simulate};
