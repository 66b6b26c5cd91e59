//! Decide a law about a one-dimensional universe: prove it for every ring size, or exhaust small rings, or
//! sample larger ones, and shrink what refutes it to the smallest counterexample there is.
//!
//! ```
//! use popper_harness::decide::{Config, Harness, Status, Strength};
//! use popper_harness::law::Law;
//! use popper_harness::universe::KineticGrid;
//!
//! let harness = Harness::new(KineticGrid, Config::default())?;
//!
//! // Right-movers are conserved, on every ring and for ever.
//! let movers = Law::invariant("count('>') + count('X')").horizon(60).build()?;
//! let verdict = harness.evaluate(&movers);
//! assert_eq!(verdict.status, Status::Pass);
//! assert_eq!(verdict.evidence.strength, Some(Strength::Proved));
//!
//! // Collisions are not: the smallest ring on which their number changes has three cells.
//! let collisions = Law::invariant("count('X')").horizon(60).build()?;
//! let counterexample = harness.evaluate(&collisions).counterexample.ok_or("expected a refutation")?;
//! assert_eq!(counterexample.initial_state, ".<>");
//! popper_harness::counterexample::rederive(&counterexample)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The main design decision: a verdict says **how** it was reached. An exact test for every ring size comes first
//! ([`proof`]). Every admissible start of the small rings is run in any case ([`decide`]). Larger rings are sampled and
//! searched. Two evaluators share the work: a bit-parallel one that runs 512 starts at once, and a plain one that follows
//! the definitions and decides when a counterexample is derived again. They are tested against each other and against an
//! oracle that shares no code with either.
//!
//! The crate reads no clock, file or environment variable. The same universe, configuration, law and seed give the same
//! verdict, byte for byte, on any machine and for any number of threads.
//!
//! Read next: [`law`] for the language of laws and [`decide::Harness`] for the decision. [`counterexample`] and [`proof`]
//! hold evidence that can be checked without trusting this crate's search. [`conserved`] computes all additive conserved
//! quantities of a universe.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

#[doc(hidden)]
pub mod bitslice;
pub mod conserved;
pub mod counterexample;
pub mod decide;
pub mod json;
pub mod law;
pub mod proof;
pub mod universe;
