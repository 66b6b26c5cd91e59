//! Faults that a review found, each with the input that showed it.

mod notes;
mod poison;
mod wall_limit;
