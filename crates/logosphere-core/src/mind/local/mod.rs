//! Scripted minds, which need no network. The same prompt in the same call has the same answer.
//!
//! A scripted mind reads the prompt, as a model would, and also the random numbers of its call
//! ([`CallContext::nonce`]). It splits the prompt into the sampled texts and passes one on by its rule, without the
//! signature.

mod answer;
mod spec;
mod words;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use llm_types::ErrorClass;

use super::Mind;
use super::call::{CallContext, MindError, MindInput};
use crate::format::{SEPARATOR, SystemPrompt, is_blank, without_signature};
use crate::journal::{AttemptFacts, MindReply, TokenUse};
use crate::pool::SampleRng;

use spec::MindRule;
pub use spec::{LocalMindKind, LocalMindParameter, MindSpecError};

/// Returns the scripted mind for `spec`. Its prompts begin with `system`.
///
/// | kind | parameters | answers |
/// |---|---|---|
/// | `copier` | `mu=0.05` | a sampled text; with probability `mu` a new word |
/// | `mutator` | `p=0.1` | a sampled text; each word replaced, dropped or doubled with probability `p` |
/// | `markov` | `n=2` | a new text in which each word follows the `n` before it in a sampled text |
/// | `biased` | `s=0.2,type=REGEX` | a sampled text; those that match are `1 + s` times as likely |
/// | `disobedient` | | a sampled text in one of ten ways, most of them against the format |
/// | `silent` | | no message, in the requested format |
/// | `flaky` | `rate=0.2` | a sampled text; with probability `rate` the call fails |
/// | `slow` | `ms=100` | a sampled text, after `ms` milliseconds |
///
/// `type` is the rest of the text, including commas. A mind with nothing to read invents a word.
///
/// ```
/// use logosphere_core::Mind;
/// use logosphere_core::local_mind;
/// use logosphere_core::format::{PromptRole, SystemPrompt};
///
/// let system = SystemPrompt::new(SystemPrompt::DEFAULT, PromptRole::User);
/// assert_eq!(local_mind("copier", &system)?.label(), "copier:mu=0.05");
/// let error = local_mind("copier:nu=1", &system).unwrap_err();
/// assert_eq!(error.to_string(), "mind `copier` has no parameter `nu`; it has: mu");
/// # Ok::<(), logosphere_core::MindSpecError>(())
/// ```
///
/// # Errors
/// See [`MindSpecError`].
pub fn local_mind(spec: &str, system: &SystemPrompt) -> Result<LocalMind, MindSpecError> {
    let kind = MindRule::parse(spec)?;
    Ok(LocalMind {
        label: kind.to_string(),
        kind,
        system: system.clone(),
        parents: None,
    })
}

/// A scripted mind; see [`local_mind`].
#[derive(Debug)]
pub struct LocalMind {
    label: String,
    kind: MindRule,
    system: SystemPrompt,
    parents: Option<Mutex<BTreeMap<String, Option<usize>>>>,
}

impl LocalMind {
    /// The default scripted mind.
    pub const DEFAULT: &str = "mutator:p=0.1";

    /// Records which text each call passed on, for [`LocalMind::parents`].
    #[must_use]
    pub fn remember_parents(mut self) -> Self {
        self.parents = Some(Mutex::default());
        self
    }

    /// Returns the index in the prompt, from 0, of the text that each call passed on, by its [`CallContext::call_key`].
    ///
    /// The index is `None` if the call sent a new text. Without [`LocalMind::remember_parents`] the result is empty.
    pub fn parents(&self) -> BTreeMap<String, Option<usize>> {
        let lock = |table: &Mutex<BTreeMap<_, _>>| {
            table.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        self.parents.as_ref().map(lock).unwrap_or_default()
    }

    /// Returns the text to pass on and its index among `texts`.
    fn choose(&self, texts: &[&str], rng: &mut SampleRng) -> (String, Option<usize>) {
        if texts.is_empty() {
            return (words::invented(rng), None);
        }
        let any = |rng: &mut SampleRng| rng.below(texts.len() as u64) as usize;
        match &self.kind {
            MindRule::Copier { mu } if rng.unit() < *mu => (words::invented(rng), None),
            MindRule::Mutator { p } => {
                let parent = any(rng);
                (words::mutated(texts, parent, *p, rng), Some(parent))
            }
            MindRule::Markov { n } => (words::chained(texts, *n, rng), None),
            MindRule::Biased { s, kind } => {
                let weight = |text: &&str| if kind.is_match(text) { 1.0 + s } else { 1.0 };
                let parent = weighted(texts.iter().map(weight), rng);
                (texts[parent].to_owned(), Some(parent))
            }
            _ => {
                let parent = any(rng);
                (texts[parent].to_owned(), Some(parent))
            }
        }
    }

    fn answer(&self, prompt: &str, context: &CallContext) -> Result<String, MindError> {
        let mut rng = SampleRng::keyed(*context.nonce());
        match self.kind {
            MindRule::Silent => return Ok(answer::silence()),
            MindRule::Flaky { rate } if rng.unit() < rate => return Err(overloaded()),
            _ => {}
        }
        let texts: Vec<_> = (sampled(prompt, &self.system)?.into_iter())
            .map(unsigned)
            .collect();
        let (text, parent) = self.choose(&texts, &mut rng);
        if let Some(parents) = &self.parents {
            let mut parents = parents.lock().unwrap_or_else(PoisonError::into_inner);
            parents.insert(context.call_key().to_owned(), parent);
        }
        Ok(match self.kind {
            MindRule::Disobedient => {
                answer::disobedient(&text, first_u64(context) % answer::MANNERS)
            }
            _ => answer::message(&text),
        })
    }
}

#[async_trait]
impl Mind for LocalMind {
    fn label(&self) -> &str {
        &self.label
    }

    async fn respond(
        &self,
        input: &MindInput,
        context: &CallContext,
    ) -> Result<MindReply, MindError> {
        if let MindRule::Slow { ms } = self.kind {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        let prompt = input.prompt().text();
        let text = self.answer(prompt, context)?;
        let mut used = TokenUse::new(tokens(prompt), tokens(&text));
        used.estimated = true;
        Ok(MindReply {
            finish_reason: Some("end_turn".to_owned()),
            tokens: used,
            ..MindReply::new(text, &self.label)
        })
    }
}

/// Returns the approximate number of tokens of a text.
fn tokens(text: &str) -> u64 {
    text.len().div_ceil(3) as u64
}

/// Returns the first eight bytes of a nonce, the low one first.
fn first_u64(context: &CallContext) -> u64 {
    let bytes = context.nonce().iter().take(8).rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Draws an index with the probability of its weight. At least one weight is above 0.
fn weighted(weights: impl Iterator<Item = f64> + Clone, rng: &mut SampleRng) -> usize {
    let mut rest = rng.unit() * weights.clone().sum::<f64>();
    let mut last = 0;
    for (place, weight) in weights.enumerate() {
        last = place;
        if rest < weight {
            break;
        }
        rest -= weight;
    }
    last
}

fn overloaded() -> MindError {
    let class = ErrorClass::Overloaded;
    MindError {
        attempts: vec![AttemptFacts {
            class: Some(class),
            ..AttemptFacts::new(1)
        }],
        ..MindError::new(class, "this mind fails now and then, as it was told")
    }
}

/// Returns the sampled texts of a prompt, byte for byte, in its order.
fn sampled<'a>(prompt: &'a str, system: &SystemPrompt) -> Result<Vec<&'a str>, MindError> {
    let rest = (prompt.strip_prefix(system.text())).ok_or_else(|| {
        let message =
            "the prompt does not begin with the system prompt that this mind was made for";
        MindError::new(ErrorClass::BadRequest, message).fatal()
    })?;
    // No text of a pool is blank or has a line `---`, so separators cannot overlap.
    Ok(rest.split(SEPARATOR).skip(1).collect())
}

/// Returns a text as another mind would pass it on: without its signature. A text that is only a signature stays
/// unchanged.
fn unsigned(text: &str) -> &str {
    match without_signature(text) {
        rest if is_blank(rest) => text,
        rest => rest,
    }
}
