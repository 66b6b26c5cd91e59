//! An HTTP server with scripted faults.

mod answer;
mod connection;
#[cfg(all(unix, feature = "postgres"))]
pub mod postgres;
mod signal;

use std::io::Read as _;
use std::net::{Shutdown, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use answer::Answer;
pub use connection::{Closed, Received};
pub use signal::Signal;

/// A test that waits longer than this for a server has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on its own port that handles every request by a script.
///
/// It has its own thread and runtime, so that the test's runtime contains only the code under test, and a test may block. A
/// drop of the server closes all its connections.
pub struct FaultServer {
    address: SocketAddr,
    shared: Arc<ServerShared>,
    runtime: Handle,
    stop: Signal,
    thread: Option<JoinHandle<()>>,
}

type Script = Box<dyn FnMut(&Received) -> Answer + Send>;

pub(crate) struct ServerShared {
    script: Mutex<Script>,
    requests: Mutex<Vec<Received>>,
    counts: watch::Sender<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    accepted: usize,
    open: usize,
    closed_by_peer: usize,
    closed_by_script: usize,
    received: usize,
    answered: usize,
}

impl FaultServer {
    /// Starts a server that answers requests in order, over all connections; the last answer is repeated.
    pub fn replies(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Vec<Answer> = answers.into_iter().collect();
        assert!(!answers.is_empty(), "a script needs an answer");
        Self::play(move |received| answers[received.number.min(answers.len() - 1)].clone())
    }

    /// Starts a server that answers each request by `script`.
    pub fn play(script: impl FnMut(&Received) -> Answer + Send + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(ServerShared {
            script: Mutex::new(Box::new(script)),
            requests: Mutex::default(),
            counts: watch::Sender::default(),
        });
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        let stop = Signal::new();
        let thread = std::thread::spawn({
            let (shared, stop) = (shared.clone(), stop.clone());
            move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = accept(listener, shared) => {}
                        () = stop.wait() => {}
                    }
                });
            }
        });
        Self {
            address,
            shared,
            runtime: handle,
            stop,
            thread: Some(thread),
        }
    }

    /// The address `http://127.0.0.1:PORT` and `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every complete request so far.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The number of accepted connections.
    pub fn accepted(&self) -> usize {
        self.shared.counts.borrow().accepted
    }

    /// The number of open connections.
    pub fn open(&self) -> usize {
        self.shared.counts.borrow().open
    }

    /// The number of connections that the client closed.
    pub fn closed_by_peer(&self) -> usize {
        self.shared.counts.borrow().closed_by_peer
    }

    /// The number of requests that are being answered.
    pub fn in_flight(&self) -> usize {
        let counts = *self.shared.counts.borrow();
        counts.received - counts.answered
    }

    /// Waits until this number of requests arrived.
    pub async fn wait_requests(&self, n: usize) {
        self.wait_until("requests", move |counts| counts.received >= n)
            .await;
    }

    /// Waits until the client closed this number of connections.
    pub async fn wait_closed(&self, n: usize) {
        self.wait_until("connections closed", move |counts| {
            counts.closed_by_peer >= n
        })
        .await;
    }

    /// Waits until exactly this number of connections is open.
    pub async fn wait_open(&self, n: usize) {
        self.wait_until("connections open", move |counts| counts.open == n)
            .await;
    }

    /// Waits until exactly this number of requests is being answered.
    pub async fn wait_in_flight(&self, n: usize) {
        self.wait_until("requests in flight", move |counts| {
            counts.received - counts.answered == n
        })
        .await;
    }

    /// As [`Self::wait_open`], but blocks the thread and with it the test's runtime.
    pub fn block_until_open(&self, n: usize) {
        let task = self.spawn_wait(move |counts| counts.open == n);
        while !task.is_finished() {
            std::thread::yield_now();
        }
        assert_eq!(self.open(), n, "connections open");
    }

    /// Blocks the thread until every connection that began before has ended: for a killed client whose last requests may still
    /// be in the queue of the listener.
    pub fn settle(&self) {
        // Connections are accepted in their order, and one that sends nothing is closed at once.
        let mut last = std::net::TcpStream::connect(self.address).unwrap();
        last.shutdown(Shutdown::Write).unwrap();
        last.read_to_end(&mut Vec::new()).unwrap();
        self.block_until_open(0);
    }

    async fn wait_until(&self, what: &str, met: impl FnMut(&Counts) -> bool + Send + 'static) {
        if !self.spawn_wait(met).await.unwrap() {
            let counts = *self.shared.counts.borrow();
            panic!("waited in vain for {what}: {counts:?}");
        }
    }

    /// Waits on the server's own runtime, so that a paused clock of the test's runtime does not matter.
    fn spawn_wait(
        &self,
        mut met: impl FnMut(&Counts) -> bool + Send + 'static,
    ) -> tokio::task::JoinHandle<bool> {
        let mut counts = self.shared.counts.subscribe();
        self.runtime.spawn(async move {
            let met = counts.wait_for(|counts| met(counts));
            matches!(tokio::time::timeout(PATIENCE, met).await, Ok(Ok(_)))
        })
    }
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        self.stop.fire();
        let ended = self.thread.take().map(JoinHandle::join);
        // A panic of the script is the test's failure, unless the test fails already.
        let failed = matches!(ended, Some(Err(_)));
        assert!(!failed || std::thread::panicking(), "the script panicked");
    }
}

impl ServerShared {
    /// Records the request and asks the script.
    fn answer(&self, mut received: Received) -> Answer {
        let received = {
            let mut requests = self.requests.lock().unwrap();
            received.number = requests.len();
            // All connections are served by one thread: nothing changes in between.
            let counts = *self.counts.borrow();
            received.in_flight = counts.received - counts.answered + 1;
            requests.push(received.clone());
            received
        };
        self.counts.send_modify(|counts| counts.received += 1);
        (self.script.lock().unwrap())(&received)
    }

    fn answered(&self) {
        self.counts.send_modify(|counts| counts.answered += 1);
    }
}

async fn accept(listener: std::net::TcpListener, shared: Arc<ServerShared>) {
    let listener = TcpListener::from_std(listener).unwrap();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted.unwrap();
                let number = shared.counts.borrow().accepted;
                shared.counts.send_modify(|counts| {
                    counts.accepted += 1;
                    counts.open += 1;
                });
                connections.spawn(connection::serve(stream, number, shared.clone()));
            }
            Some(ended) = connections.join_next() => {
                // The socket is closed by now: it belonged to the task.
                let closed = ended.expect("a script does not panic");
                shared.counts.send_modify(|counts| {
                    counts.open -= 1;
                    match closed {
                        Closed::ByPeer => counts.closed_by_peer += 1,
                        Closed::ByScript => counts.closed_by_script += 1,
                    }
                });
            }
        }
    }
}

/// A port of this machine without a listener, as long as the guard lives.
pub fn closed_port() -> (SocketAddr, TcpSocket) {
    // Bound but not listening: connections are refused, and no one else gets the port.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    (socket.local_addr().unwrap(), socket)
}

#[cfg(test)]
mod tests;
