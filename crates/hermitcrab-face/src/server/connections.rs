//! The limits of connections: their number, and the time until a request.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use futures_util::stream::poll_fn;
use futures_util::{FutureExt as _, StreamExt as _};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The number of connections at once; a further one is closed. A page that has its socket is no longer counted.
const MAX_CONNECTIONS: usize = 256;
/// The pause when the system has no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// The time limits for a client.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Patience {
    /// For the head of a request, also of the next one on an open connection: 5 s.
    pub head: Duration,
    /// For its body: 30 s.
    pub body: Duration,
    /// For taking the next piece of an answer: 30 s.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(5),
            body: Duration::from_secs(30),
            answer: Duration::from_secs(30),
        }
    }
}

/// Serves until `end`, and then the requests that are under way.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    patience: Patience,
    end: CancellationToken,
) {
    let routes = routes.layer(middleware::from_fn_with_state(patience, within));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(patience.head);
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let open = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = end.cancelled() => break,
        };
        let Ok((stream, _)) = accepted else {
            // A client that has gone again, or no file is free: the next one may fare better.
            sleep(NO_ROOM).await;
            continue;
        };
        let Ok(place) = room.clone().try_acquire_owned() else {
            continue;
        };
        // Deltas go at once; where this cannot be set they only come later.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(routes.clone());
        let mut stream = Box::pin(TimeoutStream::new(stream));
        stream
            .as_mut()
            .set_write_timeout_pinned(Some(patience.answer));
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let end = end.clone();
        open.spawn(async move {
            let mut connection = pin!(connection.with_upgrades());
            // A client that breaks off is no fault of the server.
            tokio::select! {
                _ = connection.as_mut() => {}
                () = end.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
            drop(place);
        });
    }
    open.close();
    open.wait().await;
}

/// Reads a body for so long; one that takes longer cannot be read.
async fn within(State(patience): State<Patience>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let mut late = Box::pin(sleep(patience.body));
    let mut data = body.into_data_stream();
    let body = poll_fn(move |context| {
        if late.poll_unpin(context).is_ready() {
            let late = io::Error::new(io::ErrorKind::TimedOut, "the body took too long");
            return Poll::Ready(Some(Err(late)));
        }
        let data = data.poll_next_unpin(context);
        data.map(|piece| piece.map(|piece| piece.map_err(io::Error::other)))
    });
    next.run(Request::from_parts(head, Body::from_stream(body)))
        .await
}
