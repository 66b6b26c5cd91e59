//! A client whose server is a function: no socket, and every moment is exact.

use std::sync::Arc;

use llm_client::provider::{HttpRequest, HttpResponse};
use llm_client::{Client, ClientBuilder, Error};
use serde_json::Value;
use test_support::{CannedReply, FakeClock, MemoryTransport, response};

use crate::faults::Wire;

/// The server's behaviour for each request.
pub fn server(
    answer: impl FnMut(&HttpRequest) -> Result<HttpResponse, Error> + Send + 'static,
) -> Arc<MemoryTransport> {
    Arc::new(MemoryTransport::new(answer))
}

/// A server that gives this reply always, in the form that is asked for.
pub fn saying(wire: Wire, canned: &CannedReply) -> Arc<MemoryTransport> {
    let canned = canned.clone();
    server(move |request| Ok(said(wire, &canned, request)))
}

/// A transport that must not be used.
pub fn nobody() -> Arc<MemoryTransport> {
    server(|request| panic!("{} was sent", request.path))
}

pub fn client(wire: Wire, transport: &Arc<MemoryTransport>, clock: &FakeClock) -> ClientBuilder {
    let provider = wire.provider_at("http://127.0.0.1:1");
    Client::builder(provider, Arc::new(clock.clone())).transport(transport.clone())
}

/// The reply in the form that `request` asks for.
pub fn said(wire: Wire, canned: &CannedReply, request: &HttpRequest) -> HttpResponse {
    if body(request)["stream"] == true {
        streamed(wire, canned)
    } else {
        whole(wire, canned)
    }
}

pub fn whole(wire: Wire, canned: &CannedReply) -> HttpResponse {
    json(200, wire.json(canned))
}

pub fn streamed(wire: Wire, canned: &CannedReply) -> HttpResponse {
    let events = wire.events(canned).concat();
    response(200, &[("content-type", "text/event-stream")], events)
}

pub fn failed(wire: Wire, status: u16, kind: &str) -> HttpResponse {
    json(status, wire.error(kind))
}

pub fn json(status: u16, body: String) -> HttpResponse {
    response(status, &[("content-type", "application/json")], body)
}

pub fn body(request: &HttpRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// The values of a header, as they go out.
pub fn header(request: &HttpRequest, name: &str) -> Option<String> {
    let mut headers = request.headers.iter();
    headers
        .find(|(found, _)| *found == name)
        .map(|(_, value)| value.expose_secret().to_owned())
}

/// A server that is busy for this number of requests, then gives the usual reply.
pub fn hello_after(
    wire: Wire,
    failures: usize,
) -> impl FnMut(&HttpRequest) -> Result<HttpResponse, Error> + Send + 'static {
    let mut left = failures;
    move |request| {
        if left > 0 {
            left -= 1;
            return Ok(failed(wire, 503, "busy"));
        }
        Ok(said(wire, &crate::faults::hello(), request))
    }
}
