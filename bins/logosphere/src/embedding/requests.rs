//! Requests for vectors: each is kept before the next is sent.

use std::pin::pin;
use std::time::{Duration, Instant};

use bin_support::{Exit, Failure, Interrupt, shortened};
use llm_client::Client;
use llm_client::embed::{EmbedReply, EmbedRequest};
use logosphere_core::experiment::{VectorCache, VectorLock};
use logosphere_core::measures::embedding::{Encoder, PROBES};

use super::server::{SentText, ServerEncoder, counted};
use crate::error::Error;
use crate::setup::failure;

/// The maximum number of texts, and of their bytes, in a request.
const TEXTS: usize = 64;
const BYTES: usize = 200_000;

/// The time that a request may take after Ctrl-C.
const GRACE: Duration = Duration::from_secs(10);

/// The time between two lines on a stderr that is not a terminal.
const EVERY: Duration = Duration::from_millis(900);

/// The number of digits of an encoder's hash that a message shows.
const DIGITS: usize = 16;

/// The requests of a command to one server.
pub struct VectorRequests<'a> {
    encoder: &'a ServerEncoder<'a>,
    client: Client,
    interrupt: Interrupt,
    lock: VectorLock,
    /// The model that answered, and the length of its vectors.
    answered: Option<(String, usize)>,
    /// The number of texts whose vectors were requested and kept.
    stored: usize,
    total: usize,
}

impl<'a> VectorRequests<'a> {
    /// Returns no requests yet, for this number of texts. From now on a signal stops them.
    pub fn new(
        encoder: &'a ServerEncoder<'a>,
        client: Client,
        lock: VectorLock,
        total: usize,
    ) -> Result<Self, Failure> {
        Ok(Self {
            encoder,
            client,
            interrupt: Interrupt::on_signals()?,
            lock,
            answered: None,
            stored: 0,
            total,
        })
    }

    /// Checks the encoder, then requests the missing vectors and keeps those of each request before the next. With `--embed-fresh`
    /// the vectors of earlier commands are replaced when all are there.
    pub async fn all(
        &mut self,
        kept: Option<VectorCache>,
        missing: &[&SentText<'_>],
    ) -> Result<VectorCache, Failure> {
        let probes = self.request(&PROBES).await?;
        let mut cache = self.checked(kept, probes)?;
        // A text may be one of the probes.
        let missing: Vec<_> = (missing.iter().copied())
            .filter(|text| cache.embeddings().get(&text.hash).is_none())
            .collect();
        self.stored = self.total - missing.len();
        let session = self.encoder.session;
        let bar = session.progress.bar("texts", self.total);
        let mut shown = Instant::now();
        for part in parts(&missing) {
            bar.set_position(self.stored as u64);
            if bar.is_hidden() && shown.elapsed() >= EVERY {
                shown = Instant::now();
                session.status(&format!("vectors {}/{}", self.stored, self.total));
            }
            let texts: Vec<_> = part.iter().map(|text| text.sent).collect();
            let vectors = self.request(&texts).await?;
            let hashes = part.iter().map(|text| text.hash);
            let added: Vec<_> = hashes.zip(vectors).collect();
            cache.add(&self.lock, &added).map_err(failure)?;
            self.stored += part.len();
        }
        if self.encoder.flags.embed_fresh {
            cache.replace_kept(&self.lock).map_err(failure)?;
        }
        if self.interrupt.is_raised() {
            return Err(self.interrupted());
        }
        Ok(cache)
    }

    /// Returns the kept vectors if the probes are theirs, or a new file with the probes. `kept` is the unfinished replacement
    /// with `--embed-fresh`.
    fn checked(
        &self,
        kept: Option<VectorCache>,
        vectors: Vec<Vec<f32>>,
    ) -> Result<VectorCache, Failure> {
        let encoder = self.encoder;
        let (model, _) = self.answered.clone().unwrap_or_default();
        let probes: [Vec<f32>; PROBES.len()] = vectors.try_into().map_err(|_| {
            encoder.failed(llm_client::Error::bad_response(
                "expected a vector for each probe",
            ))
        })?;
        let now = Encoder::new(&encoder.name, model, &probes);
        let kept = match kept {
            Some(kept) if kept.is_of_encoder(&probes) => return Ok(kept),
            _ if encoder.flags.embed_fresh => {
                return VectorCache::create_fresh(&self.lock, &now, &probes).map_err(failure);
            }
            Some(kept) => kept,
            None => return VectorCache::create(&self.lock, &now, &probes).map_err(failure),
        };
        let digits = |sha256: &str| sha256.get(..DIGITS).unwrap_or(sha256).to_owned();
        Err(Failure::usage(Error::OtherEncoder {
            name: encoder.name.clone(),
            kept: digits(&kept.embeddings().encoder().sha256),
            now: digits(&now.sha256),
        }))
    }

    /// Returns a vector with a direction for each text.
    async fn request(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        if self.interrupt.is_raised() {
            return Err(self.interrupted());
        }
        let reply = self.reply(texts).await?;
        if let Some(index) =
            (reply.vectors.iter()).position(|vector| vector.iter().all(|number| *number == 0.0))
        {
            let text = shortened(texts.get(index).copied().unwrap_or_default(), 60);
            return Err(self.encoder.failed(llm_client::Error::bad_response(format!(
                "the vector of text {index} is zero ({text})"
            ))));
        }
        let now = (reply.model, reply.dims);
        let first = self.answered.get_or_insert_with(|| now.clone());
        if *first != now {
            let (model, dims) = (shortened(&first.0, 60), first.1);
            let (other, length) = (shortened(&now.0, 60), now.1);
            return Err(self.encoder.failed(llm_client::Error::bad_response(format!(
                "expected {dims} numbers of {model} as for the probes, got {length} of {other}"
            ))));
        }
        Ok(reply.vectors)
    }

    /// Sends a request. After a signal it has 10 s to end.
    async fn reply(&self, texts: &[&str]) -> Result<EmbedReply, Failure> {
        let request = EmbedRequest::new(self.encoder.model, texts.iter().copied());
        let mut call = pin!(self.client.embed(&request));
        let reply = tokio::select! {
            reply = &mut call => reply,
            () = self.interrupt.raised() => {
                self.encoder.session.warn(
                    "stopping when the request under way has ended, in 10 s at most; a second signal ends at once",
                );
                match tokio::time::timeout(GRACE, call).await {
                    Ok(reply) => reply,
                    Err(_) => return Err(self.interrupted()),
                }
            }
        };
        reply.map_err(|error| self.encoder.failed(error))
    }

    fn interrupted(&self) -> Failure {
        let (stored, total) = (self.stored, self.total);
        Failure::new(Exit::Interrupted, Error::EmbedInterrupted { stored, total })
    }

    /// Prints the tokens and the cost, and after an error the way to continue.
    pub fn report(&self, is_done: bool) {
        let (session, spent) = (self.encoder.session, self.client.spent());
        let cost = match (spent.unknown, self.encoder.provider.is_billable()) {
            (0, true) => format!(", {}", spent.usd),
            (_, true) => ", at a price that is not known".to_owned(),
            (_, false) => String::new(),
        };
        let (stored, tokens) = (self.stored, spent.tokens);
        if is_done {
            session.status(&format!(
                "vectors of {} kept: {tokens} tokens{cost}",
                counted(stored)
            ));
        } else if spent.calls > 0 {
            let total = self.total;
            let old = if self.encoder.flags.embed_fresh {
                ", and the earlier ones until all are there"
            } else {
                ""
            };
            session.warn(&format!(
                "vectors of {stored} of {total} texts are kept{old}, {tokens} tokens{cost}; the same command sends only the others"
            ));
        }
    }
}

/// Returns the texts of each request.
fn parts<'a, 'b>(texts: &'a [&'b SentText<'b>]) -> Vec<&'a [&'b SentText<'b>]> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        if index - start == TEXTS || index > start && bytes + text.sent.len() > BYTES {
            parts.push(&texts[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += text.sent.len();
    }
    parts.extend((start < texts.len()).then(|| &texts[start..]));
    parts
}
