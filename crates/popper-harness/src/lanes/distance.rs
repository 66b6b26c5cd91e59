//! How far a batch is from violating a law.
use super::compile::Compiler;
use super::plan::Question;
#[derive(Debug, Clone)]
pub(super) struct Distance;
impl Distance {
    pub(super) fn new(_: &mut Compiler<'_>, _: &Question) -> Option<Self> {
        Some(Self)
    }
}
