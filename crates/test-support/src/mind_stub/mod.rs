//! A model that takes part in a population of minds.

mod answer;
mod digest;
mod form;
mod script;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use crate::{Answer, FaultServer, Received, Signal};
use answer::{MindRequest, Protocol};
pub use form::MindForm;
pub use script::{MindFatal, MindFault, MindFaults, MindMode, MindScript};

/// A server on its own port that answers prompts as minds do, well-formed or not, and fails as its script says.
///
/// It speaks chat completions (`POST …/chat/completions`, whole replies) and Anthropic's messages (`POST
/// …/messages`, for models whose price is known). The answer, its delay and its failures depend only on the prompt and
/// its number of repetitions: the order of calls and their concurrency have no effect.
///
/// ```
/// use test_support::{MindForm, MindMode, MindScript, MindStub};
///
/// let stub = MindStub::start(MindScript::default());
/// // Give `stub.url()` to a client as its base URL.
/// assert!(stub.url().ends_with("/v1"));
/// stub.set(MindScript { mode: MindMode::Form(MindForm::Silent), ..MindScript::default() });
/// assert_eq!(stub.stats().requests, 0);
/// ```
pub struct MindStub {
    server: FaultServer,
    shared: Arc<MindShared>,
}

#[derive(Default)]
struct MindShared {
    state: Mutex<MindState>,
    called: Condvar,
}

/// A test that waits longer than this for a request has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Statistics since the start of the stub or [`MindStub::forget`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MindStats {
    /// Requests to a model.
    pub requests: usize,
    /// Requests by the status of the answer; 0 is a connection that was reset.
    pub by_status: BTreeMap<u16, usize>,
    /// Answers by their form, for those modes that have forms.
    pub by_form: BTreeMap<MindForm, usize>,
    /// The most requests that were being answered at one time.
    pub max_in_flight: usize,
    /// The number of connections with requests.
    pub connections: usize,
    /// From the first request to the last.
    pub span: Duration,
    /// The time that the stub took to compute its answers.
    pub thought: Duration,
    /// Tokens and dollars of all answers, whether they arrived or not.
    pub billed: Billed,
}

/// The cost of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Billed {
    /// Tokens of prompts.
    pub prompt: u64,
    /// Tokens of answers.
    pub completion: u64,
    /// Dollars, if the script has prices.
    pub usd: f64,
}

#[derive(Default)]
struct MindState {
    script: MindScript,
    stats: MindStats,
    connections: BTreeSet<usize>,
    /// The time of the first request.
    first: Option<Instant>,
    /// The number of requests of each body, over the whole life of the stub.
    attempts: HashMap<Vec<u8>, usize>,
    /// The server's number of each request since the last [`MindStub::forget`].
    numbers: Vec<usize>,
    held: Signal,
}

impl MindStub {
    /// A stub that answers by this script.
    pub fn start(script: MindScript) -> Self {
        let shared = Arc::<MindShared>::default();
        let server = FaultServer::play({
            let shared = shared.clone();
            move |received| {
                let answer = shared.state.lock().unwrap().answer(received);
                shared.called.notify_all();
                answer
            }
        });
        let stub = Self { server, shared };
        stub.set(script);
        stub
    }

    /// The base URL for a client of chat completions, `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        self.server.url("/v1")
    }

    /// The base URL for a client of Anthropic's messages.
    pub fn messages_url(&self) -> String {
        self.server.url("")
    }

    /// The underlying server.
    pub fn server(&self) -> &FaultServer {
        &self.server
    }

    /// Answers by another script from now on. Held answers stay held.
    pub fn set(&self, script: MindScript) {
        self.state().script = script;
    }

    /// Resets the statistics. The number of requests of each body is kept, so that attempts continue.
    pub fn forget(&self) {
        let mut state = self.state();
        *state = MindState {
            script: std::mem::take(&mut state.script),
            attempts: std::mem::take(&mut state.attempts),
            held: state.held.clone(),
            ..MindState::default()
        };
    }

    /// The statistics so far.
    pub fn stats(&self) -> MindStats {
        self.state().stats.clone()
    }

    /// Every request to a model so far, in the order they came.
    pub fn requests(&self) -> Vec<Received> {
        let numbers = self.state().numbers.clone();
        let all = self.server.requests();
        numbers.into_iter().map(|n| all[n].clone()).collect()
    }

    /// The number of requests of each body.
    pub fn asked(&self) -> BTreeMap<Vec<u8>, usize> {
        let mut asked = BTreeMap::new();
        for request in self.requests() {
            *asked.entry(request.body).or_default() += 1;
        }
        asked
    }

    /// Blocks the thread until this number of requests came.
    pub fn wait_requests(&self, requests: usize) {
        assert!(
            self.waited(requests),
            "waited in vain for {requests} requests, {} came",
            self.stats().requests
        );
    }

    /// Whether this number of requests came before the timeout of a test.
    fn waited(&self, requests: usize) -> bool {
        let few = |state: &mut MindState| state.stats.requests < requests;
        let waited = self
            .shared
            .called
            .wait_timeout_while(self.state(), PATIENCE, few);
        !waited.unwrap().1.timed_out()
    }

    /// Sends the held answers and holds none from now on.
    pub fn release(&self) {
        let mut state = self.state();
        state.script.hold = 0..0;
        state.held.fire();
        state.held = Signal::new();
    }

    fn state(&self) -> MutexGuard<'_, MindState> {
        self.shared.state.lock().unwrap()
    }
}

impl MindState {
    fn answer(&mut self, received: &Received) -> Answer {
        let protocol = match received.path.split('?').next() {
            Some(path) if path.ends_with("/chat/completions") => Protocol::ChatCompletions,
            Some(path) if path.ends_with("/messages") => Protocol::Messages,
            _ => return Answer::whole(404, "text/plain", "no such route"),
        };
        let body = received.json();
        if received.method != "POST" || !body.is_object() || body["stream"] == true {
            return Answer::whole(
                400,
                "text/plain",
                "a whole reply to a JSON object is all there is",
            );
        }
        let came = Instant::now();
        let asked = MindRequest::new(protocol, &body);
        let number = self.count(received, came);
        let attempts = self.attempts.entry(received.body.clone()).or_default();
        let (status, answer, billed) = asked.reply(&self.script, number, *attempts);
        *attempts += 1;
        *self.stats.by_status.entry(status).or_default() += 1;
        if let Some(form) = asked.form(&self.script.mode).filter(|_| status == 200) {
            *self.stats.by_form.entry(form).or_default() += 1;
        }
        self.stats.billed.prompt += billed.prompt;
        self.stats.billed.completion += billed.completion;
        self.stats.billed.usd += billed.usd;
        let mut first = Answer::raw();
        if self.script.hold.contains(&number) {
            first = first.wait(&self.held);
        }
        let delay = asked.delay(&self.script);
        if !delay.is_zero() {
            first = first.pause(delay);
        }
        let answer = answer.after(first);
        self.stats.thought += came.elapsed();
        answer
    }

    /// The number of this request, from 0.
    fn count(&mut self, received: &Received, came: Instant) -> usize {
        let stats = &mut self.stats;
        let number = stats.requests;
        stats.requests += 1;
        stats.max_in_flight = stats.max_in_flight.max(received.in_flight);
        self.connections.insert(received.connection);
        stats.connections = self.connections.len();
        stats.span = came - *self.first.get_or_insert(came);
        self.numbers.push(received.number);
        number
    }
}

#[cfg(test)]
mod tests;
