//! An answer that has begun, and its way to the caller.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use llm_types::{Count, Event, Reply};

use super::core::ClientCore;
use super::finisher::{ReplyFinisher, ReportedUsage};
use super::open_stream::OpenStream;
use crate::codec::reply_as_events;
use crate::embed::EmbedReply;
use crate::layers::limiter::Permit;
use crate::layers::timeout::{Alarm, IdleTimer, with_progress_limit};
use crate::provider::{Answer, ProviderCall, Route};
use crate::{Error, EventStream};

/// An answer that has begun.
pub(crate) enum OpenAnswer {
    Whole(Box<Reply>),
    Stream(Box<Event>, EventStream),
    Count(Count),
    Vectors(Box<EmbedReply>),
}

impl OpenAnswer {
    /// Asks the provider and converts the answer to the form `wanted`; `reported` collects the usage of a stream that is
    /// read here.
    pub async fn of(
        inner: &ClientCore,
        call: ProviderCall,
        wanted: Route,
        progress: Option<(&Alarm, Duration)>,
        reported: &mut ReportedUsage,
    ) -> Result<Self, Error> {
        let answer = match (inner.settings.provider.answer(call).await?, progress) {
            (Answer::Stream(events), Some((alarm, limit))) => {
                Answer::Stream(with_progress_limit(events, alarm, limit))
            }
            (answer, _) => answer,
        };
        match (wanted, answer) {
            (Route::Count, Answer::Count(count)) => Ok(Self::Count(count)),
            (Route::Embed, Answer::Vectors(reply)) => Ok(Self::Vectors(reply)),
            (Route::Whole, Answer::Reply(reply)) => Ok(Self::Whole(reply)),
            (Route::Whole, Answer::Stream(events)) => {
                let reply = events
                    .collect_telling(|event| reported.event(event))
                    .await?;
                Ok(Self::Whole(Box::new(reply)))
            }
            (Route::Stream, answer) => {
                let mut events = match answer {
                    Answer::Stream(events) => events,
                    Answer::Reply(reply) => reply_as_events(*reply),
                    _ => return Err(other_form()),
                };
                match events.next().await {
                    Some(first) => Ok(Self::Stream(Box::new(first?), events)),
                    None => Err(Error::protocol("the stream of events is empty")),
                }
            }
            _ => Err(other_form()),
        }
    }

    /// Ends a whole reply or a count. A stream takes `end`, its deadline and its permit along.
    pub fn arrive(
        self,
        mut end: ReplyFinisher,
        deadline: Option<IdleTimer>,
        permit: Option<Permit>,
    ) -> Result<Answer, Error> {
        match self {
            Self::Whole(reply) => end.finish(reply).map(Answer::Reply),
            Self::Vectors(reply) => end.finish_vectors(reply).map(Answer::Vectors),
            Self::Count(count) => end.record().map(|()| Answer::Count(count)),
            Self::Stream(first, events) => Ok(Answer::Stream(
                OpenStream {
                    first: Some(*first),
                    events,
                    end,
                    deadline,
                    permit,
                    if_dropped: Arc::default(),
                }
                .into_events(),
            )),
        }
    }
}

/// The error of a provider whose answer does not fit the route.
pub(crate) fn other_form() -> Error {
    Error::protocol("a provider answered in another form than asked")
}
