use serde::{Deserialize, Serialize};

use super::{Config, EncodingSystem, Item};

/// A model that encodes and one that decodes what it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelPair {
    /// The model that encodes.
    pub encoder: String,
    /// The model that decodes.
    pub decoder: String,
}

impl ModelPair {
    /// The pair of these models.
    pub fn new(encoder: impl Into<String>, decoder: impl Into<String>) -> Self {
        Self {
            encoder: encoder.into(),
            decoder: decoder.into(),
        }
    }
}

impl Config {
    /// Runs every experiment with each of these pairs, without repeats. [`Self::models`] gets the models of the first one; nothing
    /// changes without pairs.
    #[must_use]
    pub fn with_pairs(mut self, pairs: impl IntoIterator<Item = ModelPair>) -> Self {
        let mut distinct: Vec<ModelPair> = Vec::new();
        for pair in pairs {
            if !distinct.contains(&pair) {
                distinct.push(pair);
            }
        }
        if let Some(first) = distinct.first() {
            self.models.encoder.clone_from(&first.encoder);
            self.models.decoder.clone_from(&first.decoder);
        }
        // The plan of one pair is that of earlier versions.
        self.model_pairs = if distinct.len() > 1 {
            distinct
        } else {
            Vec::new()
        };
        self
    }

    /// The encoder and decoder models of the experiments, in plan order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        let models = &self.models;
        let only = (models.encoder.as_str(), models.decoder.as_str());
        let only = self.model_pairs.is_empty().then_some(only);
        let pairs = self.model_pairs.iter();
        let pairs = pairs.map(|pair| (pair.encoder.as_str(), pair.decoder.as_str()));
        only.into_iter().chain(pairs)
    }

    /// The different encoder models, in plan order.
    pub fn encoders(&self) -> Vec<&str> {
        let mut encoders: Vec<&str> = Vec::new();
        for (encoder, _) in self.pairs() {
            if !encoders.contains(&encoder) {
                encoders.push(encoder);
            }
        }
        encoders
    }

    /// The id of `encoding` in results: with its models if there are several pairs of them, so that each pair is a system.
    pub(crate) fn system_id(
        &self,
        encoding: &EncodingSystem,
        (encoder, decoder): (&str, &str),
    ) -> String {
        let id = &encoding.id;
        if self.model_pairs.is_empty() {
            id.clone()
        } else {
            format!("{id} ({encoder} -> {decoder})")
        }
    }
}

impl Item<'_> {
    /// The id of the encoding system in results. With several pairs of models it has those of the experiment: `rules (a -> b)`.
    pub fn encoding_id(&self) -> String {
        let pair = (self.encoder, self.decoder);
        self.config.system_id(self.encoding, pair)
    }
}
