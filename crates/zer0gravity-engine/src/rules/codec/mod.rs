//! The encoder and the decoder of offline runs: a program that follows rules in the written syntax.

mod decoder;
mod encoder;
mod lexical_judge;
mod lexicon;
mod rule_codec;
pub(crate) mod syntax;
mod table;

pub use lexical_judge::{LexicalVerdict, lexical_semantic, rule_implementability};
pub use lexicon::Lexicon;
pub use rule_codec::{Decoded, RuleCodec};
pub(crate) use rule_codec::{clipped, not_understood};
