//! Proofs of laws for every ring size, and the check of such proofs.
//!
//! A ring of N cells is a closed walk of N edges in the graph whose edges are the windows of some width and whose nodes are
//! the strings one shorter. This holds for rings smaller than the window, too, since their windows wrap. A sum over the cells
//! of a function of their windows is the weight of that walk. Hence it is never positive exactly if no cycle is positive,
//! which node potentials show edge by edge (Hattori and Takesue 1991 for equalities).
//!
//! [`prove`] turns the negation of a claim into conjunctions of linear inequalities between such sums. For each conjunction
//! it searches a combination that contradicts itself. [`verify_proof`] derives the inequalities again from the law and the
//! universe in the proof and checks the combination and the potentials on every window, without any search.
//!
//! Such a proof covers all states, admissible or not, unless it argues from the start; preconditions are not used. Where none is
//! found, proofs by regular sets of rings are tried, which use them. A law with an expression that could have no value
//! on some ring is never proved. `docs/proof-format.md` says all that a checker must know.

mod bound;
mod certificate;
mod checker;
mod fuel;
mod graph;
mod linear;
mod obligation;
mod prover;
mod regular;
mod sample;
mod subject;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use certificate::SCHEMA_VERSION;
pub use certificate::{
    Certificate, Conserved, Count, Lemma, Method, Proof, Refutation, RefutationReason, Refutations,
    Regular, RegularCase, RegularReason,
};
pub use checker::{ProofError, verify_proof};
pub(crate) use obligation::{comparison, disjunction};
pub use prover::prove;
pub(crate) use prover::{RuleFacts, holds_always, prove_normal};
