//! The two token numbers of an experiment: always of one source.

use super::stage::{Failure, Stage, Tally};
use crate::plan::Config;
use crate::prompts::PromptProfile;
use crate::{
    CountRequest, LocalCounter, ModelPort, StageStatus, TokenPair, TokenSource, TokenUse,
    estimated_message_tokens, estimated_text_tokens, fallback_tokens_chars4, js_trim,
};

/// A count, or none if the provider gave none and the experiment goes on without.
pub(crate) type Counted = Stage<Option<u64>>;

/// Asks the provider for the tokens of `text`.
///
/// Only a key, an account or a cap that is at its end is a failure: without a count the numbers come from elsewhere.
pub(crate) async fn count(port: &dyn ModelPort, config: &Config, text: &str) -> Counted {
    let mut tally = Tally::default();
    if js_trim(text).is_empty() {
        return Stage {
            value: Ok(Some(0)),
            tally,
        };
    }
    if config.port.offline {
        // Counted here, by rules too: there is nobody to ask.
        return Stage {
            value: Ok(None),
            tally,
        };
    }
    let request = CountRequest {
        model: config.models.encoder.clone(),
        text: text.to_owned(),
    };
    let value = match port.count_tokens(request).await {
        Ok(count) => {
            tally.add_call(&count.call, true);
            Ok(Some(count.tokens))
        }
        Err(error) => {
            tally.add_call(&error.call, false);
            if error.goes_on_without() {
                Ok(None)
            } else {
                Err(Failure::from(error))
            }
        }
    };
    Stage { value, tally }
}

/// What the numbers can be taken from; of the text first, then of its encoding.
pub(crate) struct Evidence<'a> {
    pub texts: [&'a str; 2],
    /// The system prompts of encoder and decoder.
    pub systems: [&'a str; 2],
    /// What the provider counted.
    pub counts: [Option<u64>; 2],
    /// What the encoder's and the decoder's reply report.
    pub usage: [Option<TokenUse>; 2],
}

/// The two numbers and where they come from.
pub(crate) fn settle(
    evidence: &Evidence<'_>,
    config: &Config,
    counter: &dyn LocalCounter,
) -> (TokenPair, TokenSource) {
    let texts = evidence.texts;
    let (numbers, source) = match (evidence.counts, evidence.usage) {
        ([Some(original), Some(encoded)], _) => ([original, encoded], TokenSource::Api),
        (counts, _) if config.compat_token_fallback => {
            let fall_back = |index: usize| {
                counts[index].unwrap_or_else(|| fallback_tokens_chars4(texts[index]))
            };
            ([fall_back(0), fall_back(1)], TokenSource::Chars4)
        }
        // In the other profiles the user's turn holds more than the text.
        (_, [Some(encoder), Some(decoder)])
            if config.models.encoder == config.models.decoder
                && config.prompt_profile == PromptProfile::Seed =>
        {
            let beyond = |usage: TokenUse, system: &str| {
                let system = estimated_text_tokens(system, counter);
                usage.input.saturating_sub(system).max(1)
            };
            let [encoder_system, decoder_system] = evidence.systems;
            let numbers = [
                beyond(encoder, encoder_system),
                beyond(decoder, decoder_system),
            ];
            (numbers, TokenSource::Usage)
        }
        _ => (
            texts.map(|text| estimated_message_tokens(text, counter)),
            TokenSource::Local,
        ),
    };
    let [original, encoded] = numbers.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    (TokenPair { original, encoded }, source)
}

/// How a count stands in the list of stages: without a number it was an error, though the experiment goes on.
pub(crate) fn status(counted: &Counted, config: &Config) -> StageStatus {
    match &counted.value {
        Ok(Some(_)) => StageStatus::Ok,
        Ok(None) if config.port.offline => StageStatus::Ok,
        Ok(None) => StageStatus::ApiError,
        Err(failure) => failure.status,
    }
}
