//! The server on loopback: routes, sessions, the socket.

mod api;
mod connections;
mod files;
mod guard;
mod socket;

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use hermitcrab_kernel::{Kernel, may_block};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::app::Keys;
use crate::page::TableScripts;
use crate::session::{FaceCrash, WebHost};
use crate::token::Token;
use crate::{FaceError, Runtime};
pub use connections::Patience;
use guard::RequestGuard;

/// The longest body of a request in bytes, but for an import.
const MAX_BODY: usize = 4 << 20;
/// The time limits of the end: for open requests, and then for turns.
const LAST: Duration = Duration::from_secs(5);

/// The configuration of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FaceConfig {
    /// The port on 127.0.0.1; `None`: any free one.
    pub port: Option<u16>,
    /// The runtime of shells, until a better one is found.
    pub runtime: Runtime,
    /// The time that the first face waits for a better runtime.
    pub runtime_wait: Duration,
    /// Shows the page's own chat and leaves the model asleep.
    pub safe: bool,
    /// The program's version, for shells.
    pub version: String,
    /// The time limits for clients.
    pub patience: Patience,
}

/// Any free port, the built-in runtime, no wait for another.
impl Default for FaceConfig {
    fn default() -> Self {
        Self {
            port: None,
            runtime: Runtime::builtin(),
            runtime_wait: Duration::ZERO,
            safe: false,
            version: String::new(),
            patience: Patience::default(),
        }
    }
}

/// A face that is served.
pub struct FaceServer {
    listener: TcpListener,
    addr: SocketAddr,
    once: Token,
    place: RouteState,
    deaths: mpsc::UnboundedReceiver<FaceCrash>,
    safe: bool,
    runtime_wait: Duration,
    patience: Patience,
}

/// The state of every route.
#[derive(Clone)]
pub(crate) struct RouteState {
    app: Arc<App>,
    guard: Arc<RequestGuard>,
    scripts: Arc<TableScripts>,
}

impl FaceServer {
    /// Takes the port. `host` is the one that the kernel was opened with.
    ///
    /// # Errors
    /// The port cannot be had.
    pub async fn bind(
        kernel: Kernel,
        host: WebHost,
        keys: Arc<dyn Keys>,
        config: FaceConfig,
    ) -> Result<Self, FaceError> {
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, config.port.unwrap_or_default()));
        let bound = TcpListener::bind(addr).await;
        let listener = bound.map_err(|source| FaceError::Bind { addr, source })?;
        let addr = listener.local_addr().map_err(FaceError::Serve)?;
        let (guard, once) = RequestGuard::new(addr)?;
        let deaths = host.deaths().ok_or(FaceError::HostInUse)?;
        let app = App::new(kernel, host, keys, config.runtime, config.version);
        Ok(Self {
            listener,
            addr,
            once,
            place: RouteState {
                app: Arc::new(app),
                guard: Arc::new(guard),
                scripts: Arc::new(TableScripts::new()),
            },
            deaths,
            safe: config.safe,
            runtime_wait: config.runtime_wait,
            patience: config.patience,
        })
    }

    /// The address on which the server listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The address for the person's browser. The token after its `#` opens one session.
    pub fn url(&self) -> String {
        format!("http://{}/#{}", self.addr, self.once.as_str())
    }

    /// Serves until `cancel` fires; wakes the model when the first page is there.
    ///
    /// `better` looks for a better runtime meanwhile: each frame after its end runs on what it gives. It is
    /// `std::future::ready(None)` where there is nothing to look for.
    pub async fn run(
        self,
        cancel: CancellationToken,
        better: impl Future<Output = Option<Runtime>>,
    ) {
        let Self {
            listener,
            place,
            deaths,
            safe,
            runtime_wait,
            patience,
            ..
        } = self;
        let app = place.app.clone();
        app.tell_status();
        (app.calls).spawn(may_block(live(app.clone(), deaths, safe, runtime_wait)));
        let end = app.end.clone();
        let serve = connections::serve(listener, routes(place), patience, end.clone());
        let mut serve = pin!(serve);
        let search = async {
            app.found_runtime(better.await);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = &mut serve => {}
            () = search => {}
            () = cancel.cancelled() => {}
        }
        end.cancel();
        // A client may have sent half a request.
        let _ = timeout(LAST, serve).await;
        // What does not end by now is lost with the process.
        let _ = timeout(LAST, app.finish()).await;
    }
}

/// Boots when the first page is visible, and handles crashes of faces, until the server ends.
async fn live(
    app: Arc<App>,
    mut deaths: mpsc::UnboundedReceiver<FaceCrash>,
    safe: bool,
    runtime_wait: Duration,
) {
    let boot = async {
        let ready = async {
            app.host.first_page().await;
            let _ = timeout(runtime_wait, app.runtime_known.cancelled()).await;
            if !safe {
                app.wait_for_key().await;
            }
        };
        tokio::select! {
            () = app.end.cancelled() => {}
            () = ready => {
                if safe {
                    app.show_safe("the program was started with --safe", Vec::new())
                        .await;
                } else {
                    app.start().await;
                }
            }
        }
    };
    let crashes = async {
        loop {
            let death = tokio::select! {
                () = app.end.cancelled() => break,
                death = deaths.recv() => death,
            };
            let Some(death) = death else { break };
            app.handle_crash(death).await;
        }
    };
    tokio::join!(boot, crashes);
}

fn routes(place: RouteState) -> Router {
    let api = Router::new()
        .route("/export", get(api::export))
        .route("/import", post(api::import))
        .route("/key", post(api::key))
        .layer(middleware::from_fn(|request, next: Next| {
            may_block(next.run(request))
        }))
        .layer(middleware::from_fn_with_state(
            place.guard.clone(),
            guard::known,
        ));
    let guard = place.guard.clone();
    Router::new()
        .route("/", get(files::page))
        .route("/assets/{file}", get(files::asset))
        .route("/face/{frame}/", get(files::frame))
        .route("/face/{frame}/bridge.js", get(files::bridge))
        .route("/face/{frame}/react.js", get(files::react))
        .route("/face/{frame}/shell/{file}", get(files::shell))
        .route("/session", post(api::session))
        .route("/ws", get(socket::open))
        .route("/health", get(health))
        .nest("/api", api)
        .fallback(nothing)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(guard, guard::pass))
        .with_state(place)
}

async fn health(axum::extract::State(place): axum::extract::State<RouteState>) -> Json<Value> {
    let app = &place.app;
    Json(json!({
        "ok": true,
        "version": app.version,
        "runtime": app.runtime().name(),
        "offline": app.kernel.brain().offline,
        "pages": app.host.pages(),
    }))
}

async fn nothing() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "not_found", "nothing is there")
}

async fn wrong_method() -> Refusal {
    let why = "this address takes another method";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", why)
}

/// An answer that says no: `{error, detail, hint?}`.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    body: Value,
}

impl Refusal {
    fn new(status: StatusCode, error: &str, detail: &str) -> Self {
        let body = json!({"error": error, "detail": detail});
        Self { status, body }
    }

    /// A body of `length` bytes, if that is known, where at most `limit` are taken.
    fn too_large(length: Option<u64>, limit: usize) -> Self {
        let has = length.map_or_else(String::new, |length| format!("{length} bytes, "));
        let why = format!("the body has {has}more than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &why)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
