//! Faults that a review found, each with the input that showed it.

mod advice;
mod edited_verdict;
mod poison;
