//! Faults that a review found, each with the input that showed it.

mod behaviour;
mod notes;
mod poison;
mod wall_limit;
