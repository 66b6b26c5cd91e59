//! The acceptance tests of this crate, one module a topic.

mod jsx_hostile;
mod jsx_table;
mod jsx_vectors;
