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
//! The one decision behind it: a verdict says **how** it was reached. A law is first put to an exact test for every ring
//! size ([`proof`]); every admissible start of the small rings is run whatever that says ([`decide`]); what is larger is
//! sampled and searched. Two evaluators share the work: a bit-parallel one that runs 512 starts at once, and a plain one that
//! follows the definitions and has the last word in replays. They are tested against each other and against an oracle that
//! shares no code with either.
//!
//! Nothing here reads a clock, a file or the environment. The same universe, configuration, law and seed give the same
//! verdict, byte for byte, on any machine and for any number of threads.
//!
//! Read next: [`law`] for what may be said, [`decide::Harness`] for how it is decided, [`counterexample`] and [`proof`] for
//! what can be checked afterwards without trusting this crate's search, [`conserved`] for what there is to be found.

#[doc(hidden)]
pub mod bitslice;
pub mod conserved;
pub mod counterexample;
pub mod decide;
pub mod json;
pub mod law;
pub mod proof;
pub mod universe;
