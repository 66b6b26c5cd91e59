use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use super::{Models, PromptHashes};
use crate::ExperimentResult;

/// The parts that many results have in common: rules, models and hashes, and the texts of several trials. Without it, most of the
/// memory of 10,000 results was copies of them.
#[derive(Default)]
pub(crate) struct SharedParts {
    texts: HashSet<Arc<str>>,
    models: HashSet<Arc<Models>>,
    prompts: HashSet<Arc<PromptHashes>>,
}

impl SharedParts {
    /// Lets a result hold the same parts as earlier ones.
    pub fn share(&mut self, result: &mut ExperimentResult) {
        let (details, metadata) = (&mut result.details, &mut result.metadata);
        let records = [
            &mut details.semantic_judge,
            &mut details.implementability_judge,
        ];
        let samples = records.into_iter().flatten().flat_map(|r| &mut r.samples);
        let own = result.own_scores.iter_mut();
        let samples = samples.chain(own.flat_map(|score| &mut score.samples));
        let texts = [
            &mut result.original_text,
            &mut result.encoding_system,
            &mut metadata.model,
            &mut metadata.provider,
            &mut metadata.rules_sha256,
        ];
        for text in texts.into_iter().chain(samples.map(|one| &mut one.model)) {
            one_of(&mut self.texts, text);
        }
        one_of(&mut self.models, &mut metadata.models);
        one_of(&mut self.prompts, &mut metadata.prompt_sha256);
    }
}

fn one_of<T: Eq + Hash + ?Sized>(known: &mut HashSet<Arc<T>>, value: &mut Arc<T>) {
    if let Some(known) = known.get(value) {
        *value = known.clone();
    } else {
        known.insert(value.clone());
    }
}
