//! Laws that other processes decide, on this machine or others: the kind of jobs, and the evaluator that hands them out.

mod evaluator;
mod work;

pub use evaluator::{QueueEvaluator, QueueEvaluatorOptions};
pub use work::EvaluationWork;
