//! The encoder and the decoder of offline runs: a program that follows rules in the written syntax.

mod decoder;
mod encoder;
mod lexical_judge;
mod rule_codec;
pub(crate) mod syntax;
mod table;

pub(crate) use lexical_judge::LEXICAL_JUDGE_VERSION;
pub use lexical_judge::{LexicalVerdict, lexical_semantic, rule_implementability};
pub use rule_codec::{Decoded, RuleCodec};
pub(crate) use rule_codec::{clipped, not_understood};
