//! The two token numbers of an experiment, which always have the same source.

use super::stage::{Stage, StageFailure};
use crate::judge::score::TokenPair;
use crate::metrics::cost::known_overhead_tokens;
use crate::model::CallTally;
use crate::model::CountRequest;
use crate::plan::{Config, Item};
use crate::prompts::PromptProfile;
use crate::text::js_trim;
use crate::{LocalCounter, ModelClient, StageStatus, TokenCounter, TokenSource, TokenUse};

/// A count, or `None` if the provider gave none and the experiment continues without it.
pub(crate) type CountedTokens = Stage<Option<u64>>;

/// Asks the provider for the tokens of `text` with `model`.
///
/// Only an invalid key, an account without funds or a reached cap is a failure. Without a count the numbers have another source.
pub(crate) async fn count(
    client: &dyn ModelClient,
    config: &Config,
    model: &str,
    text: &str,
) -> CountedTokens {
    let mut tally = CallTally::default();
    if js_trim(text).is_empty() {
        return Stage {
            value: Ok(Some(0)),
            tally,
        };
    }
    if config.label.offline {
        // Offline there is no provider to ask.
        return Stage {
            value: Ok(None),
            tally,
        };
    }
    let request = CountRequest {
        model: model.to_owned(),
        text: text.to_owned(),
    };
    let value = match client.count_tokens(request).await {
        Ok(count) => {
            tally.add_call(&count.call, true);
            Ok(Some(count.tokens))
        }
        Err(error) => {
            tally.add_call(&error.call, false);
            if error.is_optional_count() {
                Ok(None)
            } else {
                Err(StageFailure::from(error))
            }
        }
    };
    Stage { value, tally }
}

/// The sources of the token numbers. In each array the first item is for the text, the second for the encoded text.
pub(crate) struct TokenSources<'a> {
    pub texts: [&'a str; 2],
    /// The number of tokens of the encoder's and the decoder's prompt with a text of one token.
    pub prompts: [Option<u64>; 2],
    /// The provider's counts.
    pub counts: [Option<u64>; 2],
    /// The tokens that the encoder's and the decoder's replies report.
    pub usage: [Option<TokenUse>; 2],
}

/// Whether the numbers come from the usage in replies, so that the prompts must be measured.
pub(crate) fn need_measuring(
    counts: [Option<u64>; 2],
    usage: [Option<TokenUse>; 2],
    item: &Item<'_>,
) -> bool {
    let config = item.config;
    counts.iter().any(Option::is_none)
        && usage.iter().all(Option::is_some)
        && !config.label.offline
        && !config.no_measure_tokens
        // In all pairs of models or in none: cells of one encoder differ by their decoder alone.
        && config.pairs().all(|(encoder, decoder)| encoder == decoder)
        // In other profiles the user's message has more than the text.
        && config.prompt_profile == PromptProfile::Plain
}

/// Returns the two numbers, which are those of the encoder's model, and their source.
pub(crate) fn choose_token_numbers(
    evidence: &TokenSources<'_>,
    encoder: &str,
    counter: &dyn LocalCounter,
) -> (TokenPair, TokenSource) {
    let texts = evidence.texts;
    let (numbers, source) = match evidence.counts {
        [Some(original), Some(encoded)] => ([original, encoded], TokenSource::Api),
        _ => reported(evidence, encoder).map_or_else(
            || {
                let tokens = TokenCounter::of(encoder);
                let numbers = texts.map(|text| tokens.message_tokens(text, counter));
                (numbers, TokenSource::Local)
            },
            |numbers| (numbers, TokenSource::Usage),
        ),
    };
    let [original, encoded] = numbers.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    (TokenPair { original, encoded }, source)
}

/// Returns the tokens of both texts by the usage in replies: the reported prompt tokens, less those of the prompt without the
/// text, plus the overhead of a message, as the provider would count it. The result is `None` if a prompt was not measured, or if
/// no token is left for a text.
fn reported(evidence: &TokenSources<'_>, model: &str) -> Option<[u64; 2]> {
    let message = known_overhead_tokens(model).unwrap_or(0);
    let tokens = |index: usize| {
        // The measured prompt has one token of text.
        let beyond = evidence.prompts[index]?.checked_sub(1)?;
        let text = evidence.usage[index]?.input.checked_sub(beyond)?;
        (text > 0).then_some(text + message)
    };
    Some([tokens(0)?, tokens(1)?])
}

/// Returns the status of a count as a stage. A missing count is an error, although the experiment continues.
pub(crate) fn status(counted: &CountedTokens, config: &Config) -> StageStatus {
    match &counted.value {
        Ok(Some(_)) => StageStatus::Ok,
        Ok(None) if config.label.offline => StageStatus::Ok,
        Ok(None) => StageStatus::ApiError,
        Err(failure) => failure.status,
    }
}
