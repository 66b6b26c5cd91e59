//! The acceptance tests of this crate, one module a topic.

mod jsx_vectors;
