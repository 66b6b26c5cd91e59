//! What a run's texts are like, round by round: how much alike, how much repeated, how much new.
//!
//! Stamps are removed before anything is measured, and texts that show nothing are left out. A value that there is too
//! little for is none, never 0 or 1. Every pass goes over the texts once or twice, however large the window is; the mean
//! over all pairs of a window comes from one sum of vectors.
//!
//! Next: [`Metric`] for what is measured, [`measure`] for the values, [`block_interval`] and [`trend`] for what they
//! prove, [`Match`] for comparing rounds and runs of different sizes.

mod compression;
pub(crate) mod corpus;
mod diversity;
pub(crate) mod grams;
mod identity;
mod interval;
mod matching;
mod measure;
mod metric;
mod scope;
mod seed_exit;
mod series;
mod similarity;
mod tfidf;
mod token;
mod trend;
mod volume;
mod window;

pub(crate) use interval::quantile;
pub use interval::{Interval, RESAMPLES, block_interval, block_length, replicate_interval};
pub use matching::Match;
pub use measure::measure;
pub use metric::Metric;
pub use seed_exit::{SeedExit, seed_exit};
pub use series::{Point, Series};
pub use token::tokens;
pub use trend::{PERMUTATIONS, Trend, trend};
pub use volume::{Volume, volume};
pub use window::{Window, WindowError};
