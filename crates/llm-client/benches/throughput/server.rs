//! A model server on loopback, in a separate thread and runtime.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

/// The server's answer to every request.
#[derive(Clone)]
pub enum Scene {
    /// This body of JSON.
    Whole(Bytes),
    /// These parts of an event stream, each in a separate frame.
    Events(Arc<[Bytes]>),
    /// The same, and then nothing: the stream stays open.
    Held(Arc<[Bytes]>),
}

/// Starts a server; it lives as long as the process.
pub fn start(scene: Scene) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    // Its name tells it from the client's thread in a profile.
    let thread = std::thread::Builder::new().name("server".to_owned());
    thread
        .spawn(move || crate::runtime().block_on(serve(listener, scene)))
        .unwrap();
    address
}

async fn serve(listener: TcpListener, scene: Scene) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        let scene = scene.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, scene.clone()));
            // The client may go away whenever it likes.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    scene: Scene,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, Infallible> {
    let asked = request.into_body().collect().await;
    assert!(asked.is_ok_and(|body| !body.to_bytes().is_empty()));
    let frames = |pieces: Arc<[Bytes]>| {
        let frame = move |at| Ok(Frame::data(Bytes::clone(&pieces[at])));
        move |count| stream::iter(0..count).map(frame)
    };
    let (kind, body) = match scene {
        Scene::Whole(body) => ("application/json", Full::new(body).boxed_unsync()),
        Scene::Events(pieces) => {
            let count = pieces.len();
            let body = StreamBody::new(frames(pieces)(count));
            ("text/event-stream", body.boxed_unsync())
        }
        Scene::Held(pieces) => {
            let count = pieces.len();
            let body = StreamBody::new(frames(pieces)(count).chain(stream::pending()));
            ("text/event-stream", body.boxed_unsync())
        }
    };
    let response = Response::builder()
        .header("content-type", kind)
        .header("request-id", "req_0123456789")
        .body(body);
    Ok(response.unwrap())
}
