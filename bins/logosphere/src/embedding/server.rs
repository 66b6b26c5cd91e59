//! A model of a server as an encoder: the vectors that were kept, and those that are missing.

use std::collections::HashSet;
use std::path::Path;
use std::process;

use bin_support::model::{
    ModelDefaults, ModelFlags, ModelSource, ModelWords, OpenOptions, ProviderName, price_table_of,
};
use bin_support::{Exit, Failure, Session, block_on, escape};
use llm_client::{Client, ErrorClass, ModelTable, Usage, Usd};
use logosphere_core::experiment::{VectorCache, VectorLock};
use logosphere_core::measures::embedding::{Embeddings, PROBES, TextHash};

use super::EmbedFlags;
use super::requests::VectorRequests;
use crate::error::Error;
use crate::setup::failure;

/// The maximum number of characters of a text that are sent.
const CHARS: usize = 8_000;

/// The assumed number of bytes in a token, for the estimate.
const BYTES_PER_TOKEN: u64 = 4;

/// The name of the program gives that of its key, `LOGOSPHERE_EMBED_API_KEY`. The provider and the model are always given.
const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "logosphere-embed",
    provider: ProviderName::Openai,
    model: "",
};

/// A model of a server as an encoder.
pub struct ServerEncoder<'a> {
    pub name: String,
    pub provider: ProviderName,
    pub model: &'a str,
    pub flags: &'a EmbedFlags,
    pub folder: &'a Path,
    pub session: &'a Session,
}

/// A text, as much of it as is sent, and the hash of the whole.
pub struct SentText<'a> {
    pub hash: TextHash,
    pub sent: &'a str,
    is_cut: bool,
}

impl<'a> SentText<'a> {
    /// Returns the text to send; `None` if it has no visible character.
    fn new(text: &'a str) -> Option<Self> {
        let end = text.char_indices().nth(CHARS).map(|(end, _)| end);
        let sent = &text[..end.unwrap_or(text.len())];
        (!sent.trim().is_empty()).then(|| Self {
            hash: Embeddings::hash(text),
            sent,
            is_cut: end.is_some(),
        })
    }
}

impl ServerEncoder<'_> {
    /// Returns the vectors that are kept, after those that are missing were requested.
    pub fn obtain(&self, texts: &[&str]) -> Result<Option<Embeddings>, Failure> {
        let mut seen = HashSet::new();
        let texts: Vec<_> = (texts.iter().copied())
            .filter_map(SentText::new)
            .filter(|text| seen.insert(text.hash))
            .collect();
        let kept = self.kept()?;
        let missing = missing(&texts, kept.as_ref());
        if missing.is_empty() {
            return Ok(kept.map(VectorCache::into_embeddings));
        }
        if self.flags.embed_cached {
            return Err(Failure::usage(Error::NotCached {
                name: self.name.clone(),
                missing: missing.len(),
                texts: texts.len(),
            }));
        }
        let prices = price_table_of("--embed-prices", self.flags.embed_prices.as_deref())?;
        let client = self.client(&prices)?;
        let lock = VectorLock::take(self.folder, process::id()).map_err(failure)?;
        // Another process may have added vectors before the lock was taken.
        let mut kept = if self.flags.embed_fresh {
            VectorCache::find_fresh(&lock, &self.name).map_err(failure)?
        } else {
            self.kept()?
        };
        if let (Some(kept), false) = (&mut kept, self.flags.embed_fresh) {
            kept.replace_kept(&lock).map_err(failure)?;
        }
        let missing = self::missing(&texts, kept.as_ref());
        if missing.is_empty() && !self.flags.embed_fresh {
            return Ok(kept.map(VectorCache::into_embeddings));
        }
        self.announce(&missing, &prices);
        // An unfinished replacement may be that of another encoder: then all texts are sent.
        let asked = if self.flags.embed_fresh {
            texts.iter().collect()
        } else {
            missing
        };
        let mut requests = VectorRequests::new(self, client, lock, asked.len())?;
        let outcome = block_on(requests.all(kept, &asked))?;
        requests.report(outcome.is_ok());
        outcome.map(|cache| Some(cache.into_embeddings()))
    }

    /// Returns the vectors in the folder of the run; `None` if they are to be replaced.
    fn kept(&self) -> Result<Option<VectorCache>, Failure> {
        if self.flags.embed_fresh {
            return Ok(None);
        }
        VectorCache::find(self.folder, &self.name).map_err(failure)
    }

    /// Returns the client of the server. Nothing is sent.
    fn client(&self, prices: &ModelTable) -> Result<Client, Failure> {
        let flags = self.flags;
        let provider = self.provider;
        if provider == ProviderName::Generic && flags.embed_url.is_none() {
            let name = self.name.clone();
            return Err(Failure::usage(Error::NoEmbedUrl { name }));
        }
        let model = ModelFlags {
            provider: Some(provider),
            base_url: flags.embed_url.clone(),
            model: Some(self.model.to_owned()),
            max_usd: flags.embed_max_usd,
            ..ModelFlags::default()
        };
        if flags.embed_max_usd.is_some() && provider.is_billable() && self.cost(1, prices).is_none()
        {
            let model = self.model.to_owned();
            return Err(Failure::usage(Error::EmbedUnpriced { model }));
        }
        let words = ModelWords {
            base_url: "--embed-url",
            without_key: Some("give --embed chargram".to_owned()),
        };
        let options = OpenOptions::new(&DEFAULTS, 0, model.clock()?)
            .words(words)
            .settings(|client| client.models(prices.clone()));
        let session = self.session;
        let warn = |line: &str| session.warn(line);
        match model.open(options, &session.environment, warn)? {
            ModelSource::Client { client, .. } => Ok(client),
            ModelSource::Offline => {
                let name = self.name.clone();
                Err(Failure::usage(Error::NoEmbedUrl { name }))
            }
        }
    }

    /// Returns the cost of this number of tokens; `None` without a known price.
    fn cost(&self, tokens: u64, prices: &ModelTable) -> Option<Usd> {
        let mut usage = Usage::default();
        usage.input = tokens;
        prices
            .find(self.provider.as_str(), self.model)?
            .cost(&usage)
    }

    /// Prints the texts that will be sent, and the estimate of their cost.
    fn announce(&self, missing: &[&SentText<'_>], prices: &ModelTable) {
        let sent = PROBES
            .iter()
            .copied()
            .chain(missing.iter().map(|text| text.sent));
        let bytes: u64 = sent.map(|text| text.len() as u64).sum();
        let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
        let cost = match self.cost(tokens, prices) {
            Some(usd) => format!(", about {usd}"),
            None if self.provider.is_billable() => ", at a price that is not known".to_owned(),
            None => String::new(),
        };
        self.session.status(&format!(
            "sending {} to {}: about {tokens} tokens{cost}",
            counted(missing.len()),
            escape(&self.name)
        ));
        let cut = missing.iter().filter(|text| text.is_cut).count();
        if cut > 0 {
            self.session.warn(&format!(
                "{} of more than {CHARS} characters: only their first {CHARS} are sent",
                counted(cut)
            ));
        }
    }

    /// Returns the failure of a request. A cap that is reached is an interruption.
    pub fn failed(&self, source: llm_client::Error) -> Failure {
        let exit = match source.class() {
            ErrorClass::Budget => Exit::Interrupted,
            _ => Exit::Failed,
        };
        let name = self.name.clone();
        Failure::new(exit, Error::NoVectors { name, source })
    }
}

/// Returns a number of texts in words.
pub fn counted(texts: usize) -> String {
    match texts {
        1 => "1 text".to_owned(),
        texts => format!("{texts} texts"),
    }
}

/// Returns the texts that have no vector.
fn missing<'a, 'b>(texts: &'a [SentText<'b>], kept: Option<&VectorCache>) -> Vec<&'a SentText<'b>> {
    let has = |text: &SentText<'_>| {
        kept.is_some_and(|cache| cache.embeddings().get(&text.hash).is_some())
    };
    texts.iter().filter(|text| !has(text)).collect()
}
