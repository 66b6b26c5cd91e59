//! Rules that a machine can follow, followed: the encoder and the decoder of runs without a model.

pub(crate) mod clause;
mod decoder;
mod encoder;
mod lexical_judge;
mod lexicon;
mod mapping;
pub(crate) mod phrase;
mod rule_codec;
mod table;

pub use lexical_judge::{LexicalVerdict, lexical_semantic, rule_implementability};
pub use lexicon::Lexicon;
pub use rule_codec::{Decoded, RuleCodec};
pub(crate) use rule_codec::{clipped, not_understood};
