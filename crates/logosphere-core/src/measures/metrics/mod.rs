//! The metrics of a run's texts by round: similarity, repetition and novelty.
//!
//! Signatures are removed before anything is measured, and texts without a visible character are left out. A value is
//! `None` if there is too little text, never 0 or 1. Each pass reads the texts once or twice, for windows of any size,
//! because the mean over all pairs of a window is computed from one sum of vectors.
//!
//! Next: [`Metric`] for the metrics, [`measure`] for the values, [`block_interval`] and [`trend`] for the statistics,
//! [`Match`] for comparing rounds and runs of different sizes.

mod compression;
pub(crate) mod corpus;
mod diversity;
pub(crate) mod grams;
mod identity;
mod interval;
mod matching;
mod measure;
mod metric;
pub(crate) mod scope;
mod seed_exit;
mod series;
pub(crate) mod similarity;
mod tfidf;
mod token;
mod trend;
pub(crate) mod vectors;
mod volume;
mod window;

pub(crate) use interval::quantile;
pub use interval::{
    Interval, MIN_VALUES, RESAMPLES, block_interval, block_length, replicate_interval,
};
pub use matching::Match;
pub use measure::measure;
pub(crate) use measure::{input_similarity, measure_in};
pub use metric::Metric;
pub use seed_exit::{SeedExit, seed_exit};
pub use series::{Point, Series};
pub use token::tokens;
pub use trend::{PERMUTATIONS, Trend, trend};
pub use volume::{Volume, volume};
pub(crate) use window::ablated;
pub use window::{Window, WindowError};
