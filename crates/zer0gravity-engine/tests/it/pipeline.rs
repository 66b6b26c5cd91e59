//! Experiments from the first call to the result.

mod judges;
mod order;
mod outcomes;
mod stops;
