//! Finds what an English text commits to, without a model, and what another text lost, invented or changed of it.
//!
//! An [`Atom`] is one commitment: an identifier, a date, a number with its unit, a name, or an operator, which is a word or a
//! phrase that changes what a clause says, such as *not*, *must*, *unless*, *before*, *all* and *at least*.
//!
//! ```
//! use atoms::{Change, Kind, atoms, compare};
//!
//! // A lexicon knows common words, so that the first word of a sentence is not taken for a name.
//! let lexicon = |word: &str| ["open", "wash", "visitors"].contains(&word);
//! let original = atoms("Do not open valve V-12 at 08:30. Wash it before you close it. Visitors must wait.", &lexicon);
//! let decoded = atoms("Open valve V-12 at 8.30 am. Wash it after you close it. Visitors may wait.", &lexicon);
//!
//! let comparison = compare(&original, &decoded);
//! let found: Vec<_> = comparison
//!     .findings()
//!     .iter()
//!     .map(|finding| (finding.kind, finding.change))
//!     .collect();
//! let expected = [
//!     (Kind::Negation, Change::Lost),
//!     (Kind::Order, Change::Changed),
//!     (Kind::Modality, Change::Changed),
//! ];
//! assert_eq!(found, expected);
//! // The identifier and the time are kept.
//! assert_eq!(comparison.recall(Kind::Identifier).unwrap().kept, 1);
//! assert_eq!(comparison.recall(Kind::Date).unwrap().total, 1);
//! ```
//!
//! The lists are English: see [`Language`]. A kept atom does not prove a kept meaning; a critical [`Finding`] is a reason to look.
//!
//! `DESIGN.md` of the package has the design decisions with their reasons.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod atom;
mod compare;
mod extract;
mod lists;
mod text;

pub use atom::{Atom, Atoms, Kind, Language, Lexicon};
pub use compare::{Change, Comparison, Coverage, Fact, Finding, Share, compare, cover};
pub use extract::atoms;
pub use lists::LISTS;
