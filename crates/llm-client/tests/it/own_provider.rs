//! A provider made of a function, for tests of the layers above all providers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending, ready};
use llm_client::provider::{
    Answer, Capabilities, HttpRequest, HttpResponse, Method, Provider, ProviderCall, Route,
    Transport,
};
use llm_client::{
    Block, Client, Clock, ConfigError, Cost, CostSource, Count, CountSource, Error, Reply, Request,
    RetryPolicy, StopReason, Target, Timer, Usd,
};

type AnswerOf = dyn Fn(usize, &Request) -> Result<Reply, Error> + Send + Sync;

/// Answers the n-th request (from 0) by a function and keeps all requests.
pub struct Own {
    answer: Box<AnswerOf>,
    caps: Capabilities,
    seen: Mutex<Vec<Request>>,
}

impl Own {
    pub fn new(
        answer: impl Fn(usize, &Request) -> Result<Reply, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            answer: Box::new(answer),
            caps: Capabilities::ALL,
            seen: Mutex::default(),
        }
    }

    /// Answers with these replies, one after another.
    pub fn replies(replies: impl Into<Vec<Reply>>) -> Self {
        let replies = replies.into();
        Self::new(move |n, _| {
            let reply = replies.get(n).cloned();
            reply.ok_or_else(|| Error::protocol("the test has no further reply"))
        })
    }

    pub fn with_caps(mut self, caps: Capabilities) -> Self {
        self.caps = caps;
        self
    }

    /// A client that asks it, and the provider itself to look into.
    pub fn client(self) -> Result<(Client, Arc<Self>), ConfigError> {
        self.client_at(StillClock { ends: None })
    }

    pub fn client_at(self, clock: StillClock) -> Result<(Client, Arc<Self>), ConfigError> {
        let own = Arc::new(self);
        let client = Client::builder(own.clone(), Arc::new(clock))
            .transport(Arc::new(NoNetwork))
            // The clock stands still, so a wait would not end.
            .retry(RetryPolicy::default().retries(0))
            .build()?;
        Ok((client, own))
    }

    pub fn requests(&self) -> Vec<Request> {
        let seen = self.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn next(&self, request: &Request) -> Result<Reply, Error> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request.clone());
        (self.answer)(seen.len() - 1, request)
    }
}

impl Provider for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn capabilities(&self, _: &str) -> Capabilities {
        self.caps
    }

    fn encode(&self, request: &Request, target: &Target, _: Route) -> Result<HttpRequest, Error> {
        let body = serde_json::to_vec(request);
        let body = body.map_err(|error| Error::refused("request", error.to_string()))?;
        let model = &target.model;
        let url = format!("http://localhost/{model}");
        let url = url
            .parse()
            .map_err(|_| Error::refused("model", "is no part of a URL"))?;
        let mut wire = HttpRequest::new(Method::Post, url, format!("/{model}"));
        wire.body = body.into();
        Ok(wire)
    }

    fn answer(&self, call: ProviderCall) -> BoxFuture<'static, Result<Answer, Error>> {
        let request: Request = serde_json::from_slice(&call.wire.body).unwrap();
        let source = CountSource::Exact;
        ready(match call.route {
            Route::Whole | Route::Stream => self
                .next(&request)
                .map(|reply| Answer::Reply(Box::new(reply))),
            Route::Count => Ok(Answer::Count(Count::new(1, source))),
            route => Err(route.refused_by(self.name())),
        })
        .boxed()
    }
}

struct NoNetwork;

impl Transport for NoNetwork {
    fn execute(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        ready(Err(Error::protocol("this test has no network"))).boxed()
    }
}

/// Time does not move, but sleeps of one length end at once.
pub struct StillClock {
    pub ends: Option<Duration>,
}

impl Clock for StillClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

impl Timer for StillClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if self.ends == Some(duration) {
            ready(()).boxed()
        } else {
            pending().boxed()
        }
    }
}

/// A reply that costs a cent and has 10 tokens each way.
pub fn reply(content: Vec<Block>, stop: StopReason) -> Reply {
    let mut reply = Reply::new("m", content, stop);
    reply.usage.input = 10;
    reply.usage.output = 10;
    reply.usage.known = true;
    reply.cost = Cost::new(Usd(10_000_000), CostSource::Provider);
    reply
}

pub fn says(text: &str) -> Reply {
    reply(vec![Block::text(text)], StopReason::EndTurn)
}
