//! Faults that a review found, each with the input that showed it.

mod advice;
mod edited_verdict;
mod guide;
mod json;
mod new;
mod one_config;
mod other_universe;
mod poison;
mod recording;
mod retest_name;
mod tables;
