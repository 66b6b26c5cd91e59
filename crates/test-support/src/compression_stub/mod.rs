//! A model that takes part in a compression experiment, in every role.

mod answer;
mod barrier;
mod batches;
mod mode;
mod role;
mod toy;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{Answer, FaultServer, Received, Signal};
use barrier::Barrier;
use batches::StubBatch;
pub use mode::StubMode;
pub use role::StubRole;

/// A server on its own port that plays encoder, decoder, judges and executor of a compression experiment by simple rules,
/// counts tokens, and fails as its mode says.
///
/// It speaks Anthropic's protocol (`POST /v1/messages` and `POST /v1/messages/count_tokens`, whole replies) and finds the
/// role in the system prompt. The encoder drops the inner vowels of words of four letters and more, the decoder knows every
/// text that was encoded here, judges give 38 and 4 points. Batches (`/v1/messages/batches`) are over at once. Two texts have an effect: [`CompressionStub::REFUSED`] and
/// [`CompressionStub::HELD`]. `GET /__stats` returns the statistics, `POST /__reset?mode=ok&latency=50` resets the stub.
///
/// ```
/// use test_support::{CompressionStub, StubMode};
///
/// let stub = CompressionStub::start(StubMode::E429Once);
/// // Give `stub.url()` to a client as its base URL.
/// assert!(stub.url().starts_with("http://127.0.0.1:"));
/// stub.reset(StubMode::Ok);
/// assert_eq!(stub.stats().calls, 0);
/// ```
pub struct CompressionStub {
    server: FaultServer,
    shared: Arc<CompressionShared>,
}

#[derive(Default)]
struct CompressionShared {
    state: Mutex<CompressionState>,
    called: Condvar,
}

/// A test that waits longer than this for a call has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A request to a model or for a count.
#[derive(Clone, Debug)]
pub struct StubCall {
    /// The role of the call.
    pub role: StubRole,
    /// The status of the answer; 0 where the connection ended without one.
    pub status: u16,
    /// The body of the request.
    pub body: Value,
}

/// Statistics since the start or the last reset of the stub.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StubStats {
    /// The number of all calls.
    pub calls: usize,
    /// Calls by role and status; status 0 is a connection that ended.
    pub by_role: BTreeMap<(&'static str, u16), usize>,
    /// The most calls that were being answered at one time.
    pub max_in_flight: usize,
    /// Connections that calls came by.
    pub connections: usize,
    /// From the first call to the last.
    pub span: Duration,
}

#[derive(Default)]
struct CompressionState {
    mode: StubMode,
    latency: Duration,
    calls: Vec<StubCall>,
    connections: BTreeSet<usize>,
    max_in_flight: usize,
    /// The times of the first and the last call.
    times: Option<(Instant, Instant)>,
    /// Roles that a mode `…_once` has struck.
    struck: HashSet<StubRole>,
    hold: Option<Barrier>,
    /// The signal that calls with [`CompressionStub::HELD`] wait for.
    held: Signal,
    /// The texts by their encoded form.
    originals: HashMap<String, String>,
    batches: Vec<StubBatch>,
    holds_batches: bool,
}

impl CompressionStub {
    /// The text that an encoder refuses in every mode.
    pub const REFUSED: &str = "[refuse]";
    /// The text in the messages of a call that delays its answer until [`Self::release`].
    pub const HELD: &str = "[hold]";

    /// The model whose judge returns no object, except in the mode [`StubMode::Fenced`].
    pub const MUTE: &str = "mute";

    /// A stub that fails in this way.
    pub fn start(mode: StubMode) -> Self {
        let shared = Arc::<CompressionShared>::default();
        let server = FaultServer::play({
            let shared = shared.clone();
            move |received| {
                let answer = shared.state.lock().unwrap().answer(received);
                shared.called.notify_all();
                answer
            }
        });
        let stub = Self { server, shared };
        stub.reset(mode);
        stub
    }

    /// The base URL for a client, `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        self.server.url("")
    }

    /// The underlying server.
    pub fn server(&self) -> &FaultServer {
        &self.server
    }

    /// Every call so far, in the order they came.
    pub fn calls(&self) -> Vec<StubCall> {
        self.state().calls.clone()
    }

    /// The calls so far, summed up.
    pub fn stats(&self) -> StubStats {
        self.state().stats()
    }

    /// Blocks the thread until this number of calls came.
    pub fn wait_calls(&self, calls: usize) {
        let few = |state: &mut CompressionState| state.calls.len() < calls;
        let waited = self
            .shared
            .called
            .wait_timeout_while(self.state(), PATIENCE, few);
        let (state, waited) = waited.unwrap();
        let came = state.calls.len();
        // A panic with the lock held would be one of the server, too.
        drop(state);
        assert!(
            !waited.timed_out(),
            "waited in vain for {calls} calls, {came} came"
        );
    }

    /// Resets the statistics and fails in another way from now on, without latency. Encoded texts stay known, since a client
    /// may continue with them.
    pub fn reset(&self, mode: StubMode) {
        self.state().reset(mode);
    }

    /// Sets the delay of every answer.
    pub fn set_latency(&self, latency: Duration) {
        self.state().latency = latency;
    }

    /// Holds all answers until a client with this number of experiments and concurrent calls can make no further call, then
    /// releases them, wave after wave. For the mode [`StubMode::Ok`]; [`Self::waves`] has the sizes.
    pub fn hold(&self, experiments: usize, limit: usize) {
        self.state().hold = Some(Barrier::new(experiments, limit));
    }

    /// Ends no batch until [`Self::end_batches`].
    pub fn hold_batches(&self) {
        self.state().holds_batches = true;
    }

    /// Ends all batches, also those that come.
    pub fn end_batches(&self) {
        self.state().holds_batches = false;
    }

    /// The number of requests of each batch, also before a reset.
    pub fn batches(&self) -> Vec<usize> {
        let state = self.state();
        state.batches.iter().map(|batch| batch.requests).collect()
    }

    /// Sends the answers held by [`Self::hold`] or [`Self::HELD`] and holds none from now on.
    pub fn release(&self) {
        let mut state = self.state();
        state.held.fire();
        if let Some(hold) = &mut state.hold {
            hold.end();
        }
    }

    /// The number of calls of each wave since [`Self::hold`].
    pub fn waves(&self) -> Vec<usize> {
        let state = self.state();
        let hold = state.hold.as_ref();
        hold.map(|hold| hold.sizes.clone()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, CompressionState> {
        self.shared.state.lock().unwrap()
    }
}

impl CompressionState {
    fn reset(&mut self, mode: StubMode) {
        *self = Self {
            mode,
            originals: std::mem::take(&mut self.originals),
            batches: std::mem::take(&mut self.batches),
            ..Self::default()
        };
    }

    fn stats(&self) -> StubStats {
        let mut by_role = BTreeMap::new();
        for call in &self.calls {
            *by_role
                .entry((call.role.as_str(), call.status))
                .or_default() += 1;
        }
        StubStats {
            calls: self.calls.len(),
            by_role,
            max_in_flight: self.max_in_flight,
            connections: self.connections.len(),
            span: self
                .times
                .map_or(Duration::ZERO, |(first, last)| last - first),
        }
    }

    fn answer(&mut self, received: &Received) -> Answer {
        let (path, query) = received
            .path
            .split_once('?')
            .unwrap_or((&received.path, ""));
        match (received.method.as_str(), path) {
            ("POST", "/v1/messages/count_tokens") => self.call(received, StubRole::Count),
            ("POST", "/v1/messages") => {
                let role = StubRole::of(&role::text(&received.json()["system"]));
                self.call(received, role)
            }
            (_, path) if path.starts_with("/v1/messages/batches") => {
                self.batch(received, &path["/v1/messages/batches".len()..])
            }
            ("GET", "/__stats") => Answer::json(200, self.stats().json().to_string()),
            ("POST", "/__reset") => match self.reset_by(query) {
                Ok(()) => Answer::json(200, "{}"),
                Err(problem) => Answer::whole(400, "text/plain", problem),
            },
            _ => Answer::whole(404, "text/plain", "no such route"),
        }
    }

    fn call(&mut self, received: &Received, role: StubRole) -> Answer {
        self.max_in_flight = self.max_in_flight.max(received.in_flight);
        self.connections.insert(received.connection);
        let now = Instant::now();
        self.times = Some((self.times.map_or(now, |(first, _)| first), now));
        let body = received.json();
        let (status, answer) = self.reply(role, &body);
        let mut first = Answer::raw();
        if body["messages"].to_string().contains(CompressionStub::HELD) {
            first = first.wait(&self.held);
        }
        if let Some(hold) = &mut self.hold {
            first = first.wait(&hold.came(role));
        }
        if !self.latency.is_zero() {
            first = first.pause(self.latency);
        }
        self.calls.push(StubCall { role, status, body });
        answer.after(first)
    }

    fn reset_by(&mut self, query: &str) -> Result<(), String> {
        let (mut mode, mut latency) = (StubMode::Ok, 0);
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "mode" => mode = value.parse()?,
                "latency" => {
                    let wrong = |_| format!("latency is in milliseconds, not {value:?}");
                    latency = value.parse().map_err(wrong)?;
                }
                _ => return Err(format!("there is no {name:?} to be set")),
            }
        }
        self.reset(mode);
        self.latency = Duration::from_millis(latency);
        Ok(())
    }
}

impl StubStats {
    /// As `GET /__stats` shows them.
    fn json(&self) -> Value {
        let mut by_role = json!({});
        for ((role, status), calls) in &self.by_role {
            by_role[role][status.to_string()] = json!(calls);
        }
        json!({
            "calls": self.calls, "byRole": by_role,
            "maxInFlight": self.max_in_flight, "connections": self.connections,
            "spanMs": self.span.as_secs_f64() * 1e3,
        })
    }
}

#[cfg(test)]
mod tests;
