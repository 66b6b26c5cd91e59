//! A request as a part of a batch: its hash, its form as it is sent, and its maximum cost.

use llm_types::{Charge, Request};

use super::Client;
use super::prepare::PreparedRequest;
use crate::Error;
use crate::dialect::BatchForm;
use crate::layers::budget::CostBound;
use crate::models::{Factor, Model};
use crate::provider::{HttpRequest, Route};
use crate::recording::root::root_of;

/// A request of a batch as it is sent, its maximum cost, and the factor on its prices.
pub(crate) struct BatchItem {
    pub wire: HttpRequest,
    pub most: Charge,
    pub discount: Factor,
}

impl Client {
    /// Checks that a request to `model` can be a part of a batch, at a known price.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused): the client records or replays, the provider has no batches, or the
    /// models table has no factor of batches for the model.
    pub fn check_batch(&self, model: &str) -> Result<(), Error> {
        let inner = &self.inner;
        if inner.player.is_some() {
            let why = "a recording answers calls and no batches; leave one of the two out";
            return Err(Error::refused("replay", why));
        }
        self.check_unrecorded()?;
        let provider = inner.settings.provider.name();
        if self.batch_form(model) == BatchForm::None {
            let why = format!("the program knows no batches of {provider}; leave them out");
            return Err(Error::refused("provider", why));
        }
        let row = inner.settings.models.find(provider, model);
        factor(row, model).map(drop)
    }

    fn check_unrecorded(&self) -> Result<(), Error> {
        if self.inner.recorder.is_none() {
            return Ok(());
        }
        let why = "a batch is not recorded: its spool has the replies; leave one of the two out";
        Err(Error::refused("record", why))
    }

    /// The form in which requests to `model` are sent: no batches for a provider without them, and none where a cassette
    /// answers.
    pub(crate) fn batch_form(&self, model: &str) -> BatchForm {
        match self.inner.player {
            Some(_) => BatchForm::None,
            None => self.capabilities(model).batch,
        }
    }

    /// The request as HTTP, in the form of a whole reply whatever its length is, and its hash.
    pub(crate) fn batch_root(&self, request: &Request) -> Result<(HttpRequest, String), Error> {
        let inner = &self.inner;
        let prepared = inner.prepare(request, inner.target(request))?;
        let wire = self.batch_wire(&prepared)?;
        let provider = &prepared.terms.target.provider;
        let root = root_of(provider, &wire, request.replay_key.as_deref())?;
        Ok((wire, root))
    }

    pub(super) fn batch_wire(&self, prepared: &PreparedRequest<'_>) -> Result<HttpRequest, Error> {
        if !prepared.request.headers.is_empty() {
            let why = "the requests of a batch have no headers; leave them out, or ask by a call";
            return Err(Error::refused("headers", why));
        }
        let provider = &self.inner.settings.provider;
        provider.encode(&prepared.request, &prepared.terms.target, Route::Whole)
    }

    /// The request as a part of a batch.
    pub(crate) async fn batch_item(&self, request: &Request) -> Result<BatchItem, Error> {
        self.check_unrecorded()?;
        let inner = &self.inner;
        let mut prepared = inner.prepare(request, inner.target(request))?;
        inner.limit_reply(&mut prepared);
        let row = prepared.terms.row.as_deref();
        prepared.terms.discount = factor(row, &prepared.terms.target.model)?;
        Ok(BatchItem {
            most: upper(inner.most(&prepared, request).await?),
            wire: self.batch_wire(&prepared)?,
            discount: prepared.terms.discount,
        })
    }

    /// The request as it was sent in a batch, at `discount` times its price. It counts as sent even if the settings of today
    /// would not let it.
    pub(super) fn sent_part<'a>(
        &self,
        request: &'a Request,
        discount: Factor,
    ) -> PreparedRequest<'a> {
        let inner = &self.inner;
        let prepared = inner.prepare(request, inner.target(request));
        let mut prepared =
            prepared.unwrap_or_else(|_| inner.unchecked(request, inner.target(request)));
        inner.limit_reply(&mut prepared);
        prepared.terms.discount = discount;
        prepared
    }

    /// The maximum cost of a request in a batch of an earlier time.
    pub(crate) fn batch_most(&self, request: &Request, discount: Factor) -> Charge {
        upper(self.inner.most_of_sent(&self.sent_part(request, discount)))
    }
}

/// The factor on the prices of a model in a batch.
fn factor(row: Option<&Model>, model: &str) -> Result<Factor, Error> {
    let factor = row.and_then(Model::batch_factor);
    factor.ok_or_else(|| {
        let why = format!(
            "the models table has no \"batch\" for {model}, so its price in a batch is not known: add it"
        );
        Error::refused("multipliers", why)
    })
}

/// The charge of an attempt whose usage is not known.
pub(super) fn upper(most: CostBound) -> Charge {
    Charge::new(most.usd, most.tokens, false)
}
