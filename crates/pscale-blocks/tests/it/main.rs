//! The acceptance list of the specification, one module a topic.

mod layers;
mod random;
mod conformance;
