//! A server of fixed files on 127.0.0.1, for pages that are not the program's own.

use std::collections::HashMap;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// A file that is served.
#[derive(Clone)]
pub struct Served {
    mime: &'static str,
    body: Vec<u8>,
    policy: Option<&'static str>,
}

impl Served {
    /// A file with its media type.
    pub fn new(mime: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            mime,
            body: body.into(),
            policy: None,
        }
    }

    /// The file with a content security policy.
    #[must_use]
    pub fn under(self, policy: &'static str) -> Self {
        let policy = Some(policy);
        Self { policy, ..self }
    }

    /// A page.
    pub fn html(body: impl Into<String>) -> Self {
        Self::new("text/html; charset=utf-8", body.into())
    }

    /// A script.
    pub fn script(body: impl Into<String>) -> Self {
        Self::new("text/javascript; charset=utf-8", body.into())
    }
}

/// A server that runs until it is dropped.
pub struct Site {
    addr: SocketAddr,
    server: AbortHandle,
}

impl Site {
    /// Paths begin with `/`; anything else is a 404.
    pub async fn new(files: impl IntoIterator<Item = (impl Into<String>, Served)>) -> Self {
        let files: HashMap<String, Served> = files
            .into_iter()
            .map(|(path, file)| (path.into(), file))
            .collect();
        let router = Router::new().fallback(async move |request: Request| {
            match files.get(request.uri().path()) {
                Some(file) => answer(file.clone()),
                None => StatusCode::NOT_FOUND.into_response(),
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server =
            tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle();
        Self { addr, server }
    }

    /// The whole address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn answer(file: Served) -> Response {
    let mut response = file.body.into_response();
    let mime = HeaderValue::from_static(file.mime);
    response.headers_mut().insert(CONTENT_TYPE, mime);
    if let Some(policy) = file.policy {
        let policy = HeaderValue::from_static(policy);
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}
