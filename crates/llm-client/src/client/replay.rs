//! A call that a cassette answers instead of a server.

use std::sync::Arc;

use llm_types::{Attempt, ReplySource, Request, Target};
use tracing::Span;

use super::answer::OpenAnswer;
use super::core::ClientCore;
use super::finisher::{ReplyFinisher, ReportedUsage};
use super::prepare::CallTerms;
use super::trace;
use crate::layers::retry::{self, Decision};
use crate::provider::{Answer, HttpRequest, ProviderCall, Route};
use crate::recording::cassette::{Line, RecordedKind};
use crate::recording::replay::ReplayTransport;
use crate::{Error, ErrorKind};

/// The terms of `request` for the target that the attempt `line` was made at.
pub(crate) fn terms_for(
    line: &Line,
    inner: &ClientCore,
    request: &Request,
    first: CallTerms,
) -> Result<CallTerms, Error> {
    let served = Target::new(&line.provider, &line.model);
    if served == first.target {
        return Ok(first);
    }
    if served.provider == first.target.provider {
        // An earlier version recorded chains of models.
        return inner.prepare(request, served).map(|other| other.terms);
    }
    Err(Error::cassette(
        None,
        format!(
            "the recorded reply is from {}; replay it with a client of that provider",
            served.provider
        ),
    ))
}

/// Answers from a recorded attempt, decoded by the codec that reads the server's bytes.
pub(crate) async fn replay(
    inner: Arc<ClientCore>,
    wanted: Route,
    terms: CallTerms,
    wire: HttpRequest,
    line: Arc<Line>,
    span: Span,
) -> Result<Answer, Error> {
    terms.warnings.iter().for_each(trace::warning);
    let terms = Arc::new(terms);
    let out_of_time = line
        .error
        .as_ref()
        .is_some_and(|error| error.kind == RecordedKind::Deadline);
    let mut attempt = Attempt::new(line.attempt, terms.target.clone());
    attempt.status = line.response.as_ref().map(|response| response.status);
    let timeouts = inner.settings.timeouts;
    let route = terms.route(wanted, timeouts.total);
    let transport = Arc::new(ReplayTransport { line, timeouts });
    let call = ProviderCall::new(wire, route, terms.target.clone(), transport);
    let mut reported = ReportedUsage::default();
    match OpenAnswer::of(&inner, call, wanted, None, &mut reported).await {
        Ok(open) => {
            let end = ReplyFinisher {
                inner,
                terms,
                span,
                attempts: vec![attempt],
                reservation: None,
                recorder: None,
                source: Some(ReplySource::Replay),
                reported,
            };
            open.arrive(end, None, None)
        }
        Err(mut error) => {
            inner.explain(&mut error);
            let policy = &inner.settings.retry;
            let mut error = match retry::decide(&error, policy, inner.clock.now()) {
                Decision::TooLong(asked) => retry::too_long(asked, error),
                _ => error,
            };
            if out_of_time && !matches!(error.kind(), ErrorKind::Deadline) {
                // The time was over before the wait that this failure asked for.
                error = Error::deadline(Some(error));
            }
            attempt.class = Some(error.class());
            error.context_mut().attempts = vec![attempt];
            Err(error)
        }
    }
}
