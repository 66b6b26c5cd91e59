//! The one end of whole, streamed and replayed replies: cost, usage, source, charge and record.

use std::sync::Arc;

use llm_types::{Attempt, Charge, Cost, CostSource, Event, Reply, ReplySource, Usage};
use tracing::Span;

use super::core::ClientCore;
use super::prepare::CallTerms;
use super::trace;
use crate::embed::EmbedReply;
use crate::layers::budget::Reservation;
use crate::models::tokens;
use crate::recording::recorder::AttemptRecorder;
use crate::{Error, ErrorKind};

/// The parts of a call that its end needs. A drop before the end writes the record and settles the budget; its fields do
/// that.
pub(crate) struct ReplyFinisher {
    pub inner: Arc<ClientCore>,
    pub terms: Arc<CallTerms>,
    pub span: Span,
    pub attempts: Vec<Attempt>,
    pub reservation: Option<Reservation>,
    pub recorder: Option<AttemptRecorder>,
    /// The source of the reply, if it differs from the provider's.
    pub source: Option<ReplySource>,
    pub reported: ReportedUsage,
}

impl ReplyFinisher {
    /// Ends the call with its reply.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn finish(&mut self, mut reply: Box<Reply>) -> Result<Box<Reply>, Error> {
        self.complete_reply(&mut reply);
        if let Some(reservation) = self.reservation.take() {
            // The reply is paid for, whether it can be written down or not.
            let charge = self.inner.charge(&reply, &self.terms);
            self.charged(reservation.settle(charge));
        }
        self.record()?;
        reply.attempts = std::mem::take(&mut self.attempts);
        trace::answered(&self.span, &reply);
        Ok(reply)
    }

    /// Ends the call with its vectors.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn finish_vectors(&mut self, mut reply: Box<EmbedReply>) -> Result<Box<EmbedReply>, Error> {
        let (inner, terms) = (self.inner.clone(), self.terms.clone());
        if !reply.usage.known {
            reply.usage.input = terms.prompt.estimate;
        }
        if let Some(source) = self.source.take() {
            reply.source = source;
        }
        reply.cost = if reply.source == ReplySource::Live {
            inner.price_of(&reply.usage, &reply.model, &terms)
        } else {
            Cost::FREE
        };
        if let Some(reservation) = self.reservation.take() {
            let charge = inner.charge_usage(&reply.usage, &reply.model, None, &terms);
            self.charged(reservation.settle(charge));
        }
        self.record()?;
        reply.attempts = std::mem::take(&mut self.attempts);
        trace::embedded(&self.span, &reply);
        Ok(reply)
    }

    /// Writes the record of an attempt that succeeded.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn record(&mut self) -> Result<(), Error> {
        let Some(mut recorder) = self.recorder.take() else {
            return Ok(());
        };
        recorder.finish(None, true).map_err(|mut error| {
            error.context_mut().attempts = std::mem::take(&mut self.attempts);
            error
        })
    }

    /// Ends the call with the error of its open stream.
    pub fn fail(&mut self, mut error: Error) -> Error {
        self.inner.explain(&mut error);
        if let Some(mut reservation) = self.reservation.take() {
            if let Some(charge) = self.reported.charge_of(&error, &self.inner, &self.terms) {
                reservation.learn(Some(charge));
            }
            self.charged(reservation.fail());
        }
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.class = Some(error.class());
            attempt.status = error.status().or(attempt.status);
        }
        if let Some(mut recorder) = self.recorder.take()
            && let Err(unwritten) = recorder.finish(Some(&error), true)
        {
            error = unwritten;
        }
        error.context_mut().attempts = std::mem::take(&mut self.attempts);
        trace::failed(&self.span, &error);
        error
    }

    /// Updates the reported usage; it is invalid again if the model continues. Returns whether the charge of a drop changed.
    pub fn hear(&mut self, event: &Event) -> bool {
        self.reported.event(event);
        match &mut self.reservation {
            Some(reservation) if !matches!(event, Event::Ping | Event::Unknown { .. }) => {
                reservation.learn(self.reported.charge(&self.inner, &self.terms))
            }
            _ => false,
        }
    }

    /// The charge of the call if it is dropped now.
    pub fn if_dropped(&self) -> Charge {
        let Some(reservation) = &self.reservation else {
            return Charge::NONE;
        };
        let attempts = self.attempts.iter().map(|attempt| attempt.charge);
        attempts.fold(reservation.if_dropped(), Charge::plus)
    }

    /// Notes the final charge of the attempt.
    fn charged(&mut self, charge: Charge) {
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.charge = charge;
        }
    }

    /// Adds what a provider does not report: cost, missing usage, source.
    fn complete_reply(&mut self, reply: &mut Reply) {
        let terms = &self.terms;
        if !reply.usage.known {
            if reply.usage.prompt() == 0 {
                reply.usage.input = terms.prompt.estimate;
            }
            if reply.usage.output == 0 {
                reply.usage.output = tokens::estimate_content(&reply.content);
            }
        }
        reply.warnings.extend_from_slice(&terms.warnings);
        if let Some(source) = self.source.take() {
            reply.source = source;
        }
        if reply.source != ReplySource::Live {
            reply.cost = Cost::FREE;
        } else if reply.cost.from == CostSource::Unknown {
            reply.cost = self.inner.price_of(&reply.usage, &reply.model, terms);
        }
    }
}

/// The last usage that the provider reported for an attempt, valid once the model has stopped.
#[derive(Default)]
pub(crate) struct ReportedUsage {
    model: String,
    usage: Option<Usage>,
}

impl ReportedUsage {
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Start { model, .. } => self.model.clone_from(model),
            Event::Usage(usage) => self.usage = (!usage.partial).then(|| usage.clone()),
            Event::Ping | Event::Unknown { .. } | Event::BlockStop { .. } | Event::Done(_) => {}
            // The model goes on: what was said was not the last word.
            _ => self.usage = None,
        }
    }

    /// The charge for that usage, if it is final.
    fn charge(&self, inner: &ClientCore, terms: &CallTerms) -> Option<Charge> {
        inner.charge_usage(self.usage.as_ref()?, &self.model, None, terms)
    }

    /// The charge for an attempt that failed.
    pub fn charge_of(
        &self,
        error: &Error,
        inner: &ClientCore,
        terms: &CallTerms,
    ) -> Option<Charge> {
        match error.kind() {
            ErrorKind::StreamTruncated { partial } => inner.charge(partial, terms),
            _ => self.charge(inner, terms),
        }
    }
}
