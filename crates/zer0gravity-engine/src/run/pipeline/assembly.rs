//! Puts a result together from the parts of an experiment.

use super::experiment::{EVERY, Ended, ExperimentRun, GIVEN};
use super::own::OwnTexts;
use super::score::JudgeSamples;
use crate::judge::flags::{Flag, FlagInput, detect};
use crate::judge::score::{TokenPair, compression_percent, compression_ratio, score_all};
use crate::metrics::compare_atoms;
use crate::metrics::cost::Cost;
use crate::plan::rubric::Rubric;
use crate::plan::{Config, Costs};
use crate::prompts::{Nonce, PromptProfile, RoleInput, render};
use crate::result::{
    Details, Metadata, Metrics, Models, OwnScore, PartialTotal, PromptHashes, Randomness,
    ResultScores, SCHEMA_VERSION, timestamp,
};
use crate::rules::codec::LEXICAL_JUDGE_VERSION;
use crate::store::off_thread::off_thread;
use crate::text::Lexicon;
use crate::{ExperimentResult, Outcome, TokenCounter, TokenSource};

impl ExperimentRun<'_> {
    pub(super) async fn result(mut self, ended: Option<Ended>) -> ExperimentResult {
        for stage in EVERY.into_iter().skip(self.stages.len()) {
            self.skip(stage);
        }
        let item = self.item;
        let (case, config) = (&item.case.case, item.config);
        let outcome = ended.map_or(Outcome::OK, |Ended { stage, failure }| Outcome {
            status: failure.status,
            stage: Some(stage),
            kind: failure.kind,
            detail: Some(failure.detail),
        });
        let pair = self.tokens.map(|(pair, _)| pair);
        let rules = self.implementability.as_ref().map(|rules| rules.points);
        let scored = match (pair, &self.semantic) {
            (Some(pair), Some(semantic)) if outcome.is_ok() => {
                Some(score_all(pair, semantic.points, rules.unwrap_or(0)))
            }
            _ => None,
        };
        let (metrics, flags) = self.examined().await;
        let own_scores = self.own_scores(metrics.as_ref());
        let cost = self.cost(pair);
        ExperimentResult {
            test_case_id: case.id.clone(),
            error: outcome.sentence(),
            original_text: case.text.clone(),
            metrics,
            own_scores,
            encoding_system: item.encoding.rules.as_str().into(),
            original_tokens: self.kept(0, pair.map(|pair| pair.original)),
            encoded_tokens: self.kept(1, pair.map(|pair| pair.encoded)),
            compression_ratio: pair.map(compression_ratio),
            scores: scored.map(|card| ResultScores {
                implementability: rules,
                ..card.scores.into()
            }),
            total: scored.filter(|_| rules.is_some()).map(|card| card.total),
            partial_total: scored
                .filter(|_| rules.is_none())
                .map(|card| PartialTotal::without_rules(card.total)),
            details: self.details(pair),
            metadata: self.metadata(),
            offline: config.label.offline,
            outcome,
            stages: self.stages,
            flags,
            procedural: self.procedural,
            cost: cost.map(Box::new),
            level: item.case.level,
            trial: item.trial,
            decode: item.decode,
            encoding_id: item.encoding_id(),
            previous_scores: None,
            schema_version: SCHEMA_VERSION,
            encoded_text: self.encoded,
            decoded_text: self.decoded,
        }
    }

    /// The scores by the user's rubric, if there is a decoded text.
    fn own_scores(&mut self, metrics: Option<&Metrics>) -> Vec<OwnScore> {
        let (Some(rubric), Some(metrics)) = (&self.item.config.rubric, metrics) else {
            return Vec::new();
        };
        let answered = std::mem::take(&mut self.own_answered);
        let texts = OwnTexts {
            encoded: self.encoded.as_deref().unwrap_or_default(),
            decoded: self.decoded.as_deref().unwrap_or_default(),
        };
        texts.scored(self.item, rubric, metrics, answered)
    }

    /// A number of tokens; what was counted before an experiment ended early is not lost.
    fn kept(&self, index: usize, settled: Option<i64>) -> Option<i64> {
        let counted = || i64::try_from(self.counts[index]?).ok();
        settled.or_else(counted)
    }

    fn cost(&self, pair: Option<TokenPair>) -> Option<Cost> {
        let pricing = self
            .ctx
            .pricing
            .filter(|_| self.item.config.cost != Costs::None)?;
        let item = self.item;
        pricing.cost(&item.encoding.sha256, item.encoder, pair?, &self.total)
    }

    /// Measures the texts and looks for flags, off the thread of the calls: that takes seconds for texts of some MiB.
    async fn examined(&self) -> (Option<Metrics>, Vec<Flag>) {
        let Some(decoded) = self.decoded.clone() else {
            return (None, Vec::new());
        };
        let (encoded, tokens) = (self.encoded.clone(), self.tokens);
        let semantic = self.semantic.as_ref().map(|judgement| judgement.points);
        let (case, rules) = (&self.item.case.case, self.item.encoding.rules.clone());
        let (original, expected) = (case.text.clone(), case.expected_output.clone());
        let profile = self.item.config.prompt_profile;
        off_thread(move || {
            let atoms = compare_atoms(&original, &decoded);
            let metrics = Metrics::with(&original, &decoded, &atoms);
            let (Some(encoded), Some((tokens, _))) = (encoded, tokens) else {
                return (Some(metrics), Vec::new());
            };
            let input = RoleInput::Encode {
                rules: &rules,
                text: "",
            };
            let prompt = render(profile, input, Nonce::default());
            let flags = detect(&FlagInput {
                rules: &rules,
                encoder_prompt: &prompt.system,
                original: &original,
                encoding: &encoded,
                decoded: &decoded,
                expected_output: expected.as_deref(),
                original_tokens: tokens.original,
                encoded_tokens: tokens.encoded,
                semantic,
                chrf_pp: metrics.chrf_pp,
                atoms: Some(&atoms),
            });
            (Some(metrics), flags)
        })
        .await
    }

    fn details(&self, pair: Option<TokenPair>) -> Details {
        let reasoning = |judgement: &Option<JudgeSamples>| {
            judgement
                .as_ref()
                .map(|judgement| judgement.reasoning.clone().into())
        };
        let given = (self.item.given).is_some_and(|sample| sample.semantic_score.is_some());
        Details {
            compression_percent: pair.map(compression_percent),
            semantic_reasoning: reasoning(&self.semantic),
            implementability_reasoning: reasoning(&self.implementability),
            semantic_judge: self.semantic_record.clone(),
            implementability_judge: self.implementability_record.clone(),
            lexical_judge_version: (self.item.config.label.offline
                && !given
                && self.semantic.is_some())
            .then_some(LEXICAL_JUDGE_VERSION),
            learnability_measured: None,
        }
    }

    fn metadata(&self) -> Metadata {
        let config = self.item.config;
        let offline = config.label.offline;
        let given = (self.item.given).is_some_and(|sample| sample.semantic_score.is_some());
        let counted = self.counts.iter().any(Option::is_some);
        let counted = counted.then_some(TokenSource::Api);
        Metadata {
            model: self.item.encoder.into(),
            timestamp: timestamp(self.total.started_at.unwrap_or(self.begun)),
            duration_ms: self.waited_ms,
            total_api_calls: if offline { 0 } else { self.total.calls },
            total_tokens_used: self.total.usage.unwrap_or_default(),
            retries: if offline { 0 } else { self.total.retries },
            provider: if given {
                GIVEN.into()
            } else {
                config.label.provider.as_str().into()
            },
            models: Models {
                encoder: self.item.encoder.to_owned(),
                decoder: self.item.decoder.to_owned(),
                judges: config.models.judges.clone(),
            }
            .into(),
            temperature: config.temperature.filter(|_| self.item.given.is_none()),
            judge_temperature: config.judge_temperature.filter(|_| self.item.asks_judges()),
            token_source: self.tokens.map(|(_, source)| source).or(counted),
            token_counter: Some(TokenCounter::of(self.item.encoder)),
            prompt_profile: match config.judge_prompt {
                Some(_) if !given => PromptProfile::Own,
                _ => config.prompt_profile,
            },
            prompt_sha256: hashes(config, &self.item.encoding.rules).into(),
            rules_sha256: self.item.encoding.sha256.as_str().into(),
            rubric_sha256: config.rubric.as_ref().map(Rubric::sha256),
            lexicon_sha256: offline.then(|| Lexicon::english().sha256().to_owned()),
            engine_version: env!("CARGO_PKG_VERSION").into(),
            randomness: Randomness::chacha20(config.seed),
        }
    }
}

fn hashes(config: &Config, rules: &str) -> PromptHashes {
    let (profile, judges) = (config.prompt_profile, config.judge_profile());
    let semantic = RoleInput::Semantic {
        original: "",
        decoded: "",
        prompt: config.judge_prompt.as_deref(),
    };
    let sha256 = |profile, input| render(profile, input, Nonce::default()).sha256;
    PromptHashes {
        encoder: sha256(profile, RoleInput::Encode { rules, text: "" }),
        decoder: sha256(profile, RoleInput::Decode { rules, encoded: "" }),
        semantic_judge: sha256(judges, semantic),
        implementability_judge: sha256(judges, RoleInput::Implementability { rules }),
    }
}
