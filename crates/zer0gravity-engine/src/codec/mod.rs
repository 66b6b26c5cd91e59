//! Rules that a machine can follow, followed: the encoder and the decoder of runs without a model.

pub(crate) mod words;
