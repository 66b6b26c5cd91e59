//! The socket of a page: `hello` first, then calls and what becomes of them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use hermitcrab_kernel::faces::HostSkills;
use hermitcrab_kernel::{ToolError, may_block};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use super::{Refusal, RouteState};
use crate::app::App;
use crate::app::methods::{Caller, ShellCall};
use crate::message::{FromPage, ToPage};
use crate::session::PageConnection;
use crate::token::Rate;

/// The longest call in bytes; the JSON around its arguments has less than a KiB.
const MAX_CALL: usize = (1 << 20) + 1_024;
/// The longest message: with a MiB of a file in it, escaped. Who sends more is cut off.
const MAX_MESSAGE: usize = 8 << 20;
/// The time limit for the first message of a page.
const HELLO: Duration = Duration::from_secs(2);
/// The interval of pings to a page.
const PING: Duration = Duration::from_mins(1);
/// The number of pings that may stay unanswered.
const SILENT: u32 = 10;
/// Calls of a page that are under way.
const IN_FLIGHT: usize = 16;

/// Answers the request `GET /ws`.
pub(super) async fn open(
    State(place): State<RouteState>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let refuse = |error, why| Refusal::new(StatusCode::FORBIDDEN, error, why).into_response();
    if !place.guard.is_from_here(&headers) {
        return refuse("origin", "only this server's own page may open the socket");
    }
    if !place.guard.has_cookie(&headers) {
        return refuse("session", "no session: open the address that was printed");
    }
    let Ok(upgrade) = upgrade else {
        let why = "this is a WebSocket";
        return Refusal::new(StatusCode::UPGRADE_REQUIRED, "upgrade", why).into_response();
    };
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .on_upgrade(move |socket| may_block(serve(socket, place)))
}

async fn serve(mut socket: WebSocket, place: RouteState) {
    let hello = timeout(HELLO, socket.recv()).await;
    let Ok(Some(Ok(Message::Text(text)))) = hello else {
        return;
    };
    let Ok(FromPage::Hello {
        token,
        skills,
        visible,
    }) = serde_json::from_str(&text)
    else {
        return;
    };
    if !place.guard.is_header(&token) {
        return;
    }
    let app = place.app.clone();
    let arrived = app
        .host
        .connect(HostSkills(skills), visible, |page| ToPage::Welcome {
            page,
            version: app.version.clone(),
            status: app.status(),
            usage: Box::new(app.kernel.usage()),
            notices: app.notices(),
        });
    let PageConnection { page, out, gone } = arrived;
    tokio::select! {
        () = talk(socket, &place, page, out) => {}
        () = gone.cancelled() => {}
        () = app.end.cancelled() => {}
    }
    app.host.leave(page);
}

/// Until the page goes. It may be stuck in a write to a page that does not read.
async fn talk(socket: WebSocket, place: &RouteState, page: u64, mut out: mpsc::Receiver<ToPage>) {
    let (mut to, mut from) = socket.split();
    let mut ping = interval_at(Instant::now() + PING, PING);
    let mut silent = 0;
    let mut rate = Rate::of_calls();
    let in_flight = Arc::new(Semaphore::new(IN_FLIGHT));
    let queue = || {
        let (calls, queue) = mpsc::unbounded_channel();
        place.app.calls.spawn(work_off(place.app.clone(), queue));
        calls
    };
    // The person's own calls do not wait for those of a face.
    let (bar, shell) = (queue(), queue());
    loop {
        tokio::select! {
            message = out.recv() => {
                let Some(message) = message else { break };
                let Ok(text) = serde_json::to_string(&message) else { continue };
                if to.send(Message::Text(text.into())).await.is_err() {
                    break;
                }
            }
            _ = ping.tick() => {
                silent += 1;
                if silent > SILENT || to.send(Message::Ping(Vec::new().into())).await.is_err() {
                    break;
                }
            }
            message = from.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    silent = 0;
                    heard(place, page, &text, &mut rate, &in_flight, (&bar, &shell));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => silent = 0,
                Some(Ok(Message::Binary(_) | Message::Close(_)) | Err(_)) | None => break,
            },
        }
    }
}

/// A call, and its place among those that a shell may have under way.
type Queued = (ShellCall, Option<OwnedSemaphorePermit>);

/// The calls of a page, of one kind.
type CallQueue = mpsc::UnboundedSender<Queued>;

/// The error for a text that is not a message.
#[derive(Deserialize)]
struct Numbered {
    #[serde(rename = "type")]
    kind: String,
    id: u64,
}

/// Runs the calls of one queue, each begun after those before it: two edits that a shell does not wait for are made in its order.
/// A turn continues when its page is closed.
async fn work_off(app: Arc<App>, mut queue: mpsc::UnboundedReceiver<Queued>) {
    let run = |(call, permit): Queued| {
        let app = app.clone();
        async move {
            let (page, id) = (call.page, call.id);
            let answer = AssertUnwindSafe(app.call(call)).catch_unwind().await;
            let answer = answer.unwrap_or_else(|_| {
                let fault = ToolError::new("bug", "the call stopped with a fault of the program");
                Err(json!(fault))
            });
            drop(permit);
            app.host.send(page, ToPage::reply(id, answer));
        }
    };
    let mut running = FuturesUnordered::new();
    let work = async {
        loop {
            tokio::select! {
                queued = queue.recv() => match queued {
                    Some(queued) => running.push(run(queued)),
                    None => break,
                },
                Some(()) = running.next() => {}
            }
        }
        while running.next().await.is_some() {}
    };
    may_block(work).await;
}

fn heard(
    place: &RouteState,
    page: u64,
    text: &str,
    rate: &mut Rate,
    in_flight: &Arc<Semaphore>,
    (bar, shell): (&CallQueue, &CallQueue),
) {
    let app = &place.app;
    let refuse = |id, fault: ToolError| app.host.send(page, ToPage::reply(id, Err(json!(fault))));
    let message = match serde_json::from_str(text) {
        Ok(FromPage::Call { id, .. }) if text.len() > MAX_CALL => {
            return refuse(id, ToolError::new("too_large", "a call has at most 1 MiB"));
        }
        Ok(message) => message,
        Err(_) => {
            // A shell waits for the answer of each call; all else that is no message is left out.
            if let Ok(Numbered { kind, id }) = serde_json::from_str(text)
                && kind == "call"
            {
                let detail = "this is not a call: arguments are a list, at most 100 levels deep";
                refuse(id, ToolError::new("bad_arguments", detail));
            }
            return;
        }
    };
    match message {
        FromPage::Call {
            id,
            frame,
            method,
            args,
            gesture,
        } => {
            let refuse = |fault: ToolError| refuse(id, fault);
            let (caller, gone) = match frame {
                None => (Caller::Bar, CancellationToken::new()),
                Some(frame) => match app.host.caller(page, &frame) {
                    Some((rev, gone)) => (Caller::Shell(rev), gone),
                    None => return refuse(ToolError::new("no_frame", "no face is in this frame")),
                },
            };
            // The person's own buttons always work.
            if caller != Caller::Bar && !rate.take() {
                let fault = ToolError::new("rate", "more than 20 calls a second");
                return refuse(fault.hint("wait a moment"));
            }
            let (calls, permit) = match caller {
                Caller::Bar => (bar, None),
                Caller::Shell(_) => {
                    let Ok(permit) = in_flight.clone().try_acquire_owned() else {
                        let fault = ToolError::new("rate", "16 calls are under way");
                        return refuse(fault.hint("wait for an answer"));
                    };
                    (shell, Some(permit))
                }
            };
            // A stop does not wait for what it stops.
            if method == "stop" {
                let answer = json!({ "stopped": app.stop() });
                return app.host.send(page, ToPage::reply(id, Ok(answer)));
            }
            let call = ShellCall {
                page,
                id,
                caller,
                gesture,
                gone,
                method,
                args,
            };
            // The task that takes them ends after this one.
            let _ = calls.send((call, permit));
        }
        FromPage::Log { frame, level, text } => {
            if let Some(rev) = app.host.frame_rev(page, &frame)
                && level == "error"
            {
                app.kernel.faces().note(&format!("Face {rev}: {text}"));
            }
        }
        FromPage::Mounted { frame, rev } => {
            let mounted = FromPage::Mounted {
                frame: frame.clone(),
                rev,
            };
            app.host.on_message(page, mounted);
            if app.host.caller(page, &frame).is_some() {
                app.kernel.faces().on_mounted(rev);
            }
        }
        message => app.host.on_message(page, message),
    }
}
