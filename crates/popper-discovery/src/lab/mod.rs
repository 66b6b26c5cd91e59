//! A referee of explanations: it meters experiments in a universe that is sealed, takes predictions and laws, and scores them exactly.
//!
//! An [`Episode`] takes a line of JSON and returns a line of JSON. It has no clock, no file and no stdin, so the same sealed
//! universe and the same lines give the same bytes on any machine.
//!
//! ```
//! use popper_discovery::lab::{Baseline, Episode, LabTier, SealedUniverse};
//!
//! let mut episode = Episode::new(SealedUniverse::from_seed(LabTier::A, 7)?);
//! let answer = episode.line(r#"{"experiment": {"start": "..abc...", "steps": 1}}"#);
//! assert!(!answer.is_error);
//! assert_eq!(episode.left(), 4096 - 8);
//! // A shipped baseline plays through the same lines.
//! let contract = episode.contract().clone();
//! Baseline::VersionSpace.play(&contract, 0, &mut |line| Ok::<_, ()>(episode.line(line).line)).unwrap();
//! let score = episode.score();
//! assert!(score.is_ended);
//! assert_eq!(score.predictions[0].right, score.predictions[0].cells);
//! # Ok::<(), popper_discovery::lab::LabError>(())
//! ```
//!
//! The lab synthesises nothing. All that it draws (rule, held-out starts, noise, the observables of tier C) follows from the
//! salt of the sealed file, whose hash the public file has.

mod baseline;
mod contract;
mod draw;
mod enumerated;
mod episode;
mod error;
mod laws;
mod learned;
mod limits;
mod log;
mod predictions;
mod random;
mod request;
mod score;
mod sealed;
mod tier;

pub use baseline::Baseline;
pub use contract::{LabContract, LabLimits, LabQuestions, LabTransform, Visible};
pub use episode::{Episode, LabAnswer};
pub use error::LabError;
pub use laws::law_config;
pub use limits::{BUDGET, LAB_VERSION, LONGEST_LINE, MOST_CELLS, MOST_LAWS};
pub use log::{EpisodeLog, log_entry};
pub use score::{CellCount, FoundCount, LabScore, LawResult, LawScore, TimeScore};
pub use sealed::SealedUniverse;
pub use tier::LabTier;
