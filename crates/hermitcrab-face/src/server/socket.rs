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
use hermitcrab_kernel::{HostSkills, ToolError, may_block};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use super::{Place, Refusal};
use crate::app::Desk;
use crate::app::methods::{Call, Caller};
use crate::message::{FromPage, ToPage};
use crate::session::Arrived;
use crate::token::Rate;

/// The longest call in bytes; what stands around its arguments comes to less than a KiB.
const MAX_CALL: usize = (1 << 20) + 1_024;
/// The longest message: with a MiB of a file in it, escaped. Who sends more is cut off.
const MAX_MESSAGE: usize = 8 << 20;
/// How long a page may take for its first message.
const HELLO: Duration = Duration::from_secs(2);
/// How often a page is asked whether it is still there.
const PING: Duration = Duration::from_mins(1);
/// How many of these may go unanswered.
const SILENT: u32 = 10;
/// Calls of a page that are under way.
const IN_FLIGHT: usize = 16;

/// `GET /ws`
pub(super) async fn open(
    State(place): State<Place>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let refuse = |error, why| Refusal::new(StatusCode::FORBIDDEN, error, why).into_response();
    if !place.gate.is_from_here(&headers) {
        return refuse("origin", "only this server's own page may open the socket");
    }
    if !place.gate.has_cookie(&headers) {
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

async fn serve(mut socket: WebSocket, place: Place) {
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
    if !place.gate.is_header(&token) {
        return;
    }
    let desk = place.desk.clone();
    let arrived = desk
        .host
        .arrive(HostSkills(skills), visible, |page| ToPage::Welcome {
            page,
            version: desk.version.clone(),
            status: desk.status(),
            usage: Box::new(desk.kernel.usage()),
            notices: desk.notices(),
        });
    let Arrived { page, out, gone } = arrived;
    tokio::select! {
        () = talk(socket, &place, page, out) => {}
        () = gone.cancelled() => {}
        () = desk.end.cancelled() => {}
    }
    desk.host.leave(page);
}

/// Until the page goes. It may be stuck in a write to a page that does not read.
async fn talk(socket: WebSocket, place: &Place, page: u64, mut out: mpsc::Receiver<ToPage>) {
    let (mut to, mut from) = socket.split();
    let mut ping = interval_at(Instant::now() + PING, PING);
    let mut silent = 0;
    let mut rate = Rate::of_calls();
    let in_flight = Arc::new(Semaphore::new(IN_FLIGHT));
    let (calls, queue) = mpsc::unbounded_channel();
    place.desk.calls.spawn(work_off(place.desk.clone(), queue));
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
                    heard(place, page, &text, &mut rate, &in_flight, &calls);
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => silent = 0,
                Some(Ok(Message::Binary(_) | Message::Close(_)) | Err(_)) | None => break,
            },
        }
    }
}

/// A call, and its place among those that a shell may have under way.
type Queued = (Call, Option<OwnedSemaphorePermit>);

/// What there is to say of a message that is none.
#[derive(Deserialize)]
struct Numbered {
    #[serde(rename = "type")]
    kind: String,
    id: u64,
}

/// Runs the calls of a page, each begun after those before it: two edits that a shell does not wait for are made in its order.
/// A turn goes on when its page is closed.
async fn work_off(desk: Arc<Desk>, mut queue: mpsc::UnboundedReceiver<Queued>) {
    let run = |(call, permit): Queued| {
        let desk = desk.clone();
        async move {
            let (page, id) = (call.page, call.id);
            let answer = AssertUnwindSafe(desk.call(call)).catch_unwind().await;
            let answer = answer.unwrap_or_else(|_| {
                let fault = ToolError::new("bug", "the call stopped with a fault of the program");
                Err(json!(fault))
            });
            drop(permit);
            desk.host.send(page, ToPage::reply(id, answer));
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
    place: &Place,
    page: u64,
    text: &str,
    rate: &mut Rate,
    in_flight: &Arc<Semaphore>,
    calls: &mpsc::UnboundedSender<Queued>,
) {
    let desk = &place.desk;
    let refuse = |id, fault: ToolError| desk.host.send(page, ToPage::reply(id, Err(json!(fault))));
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
                let detail = "this is no call: arguments are a list, at most 100 levels deep";
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
                Some(frame) => match desk.host.caller(page, &frame) {
                    Some((rev, gone)) => (Caller::Shell(rev), gone),
                    None => return refuse(ToolError::new("no_frame", "no face is in this frame")),
                },
            };
            // The person's own buttons always work.
            if caller != Caller::Bar && !rate.take() {
                let fault = ToolError::new("rate", "more than 20 calls a second");
                return refuse(fault.hint("wait a moment"));
            }
            let permit = match caller {
                Caller::Bar => None,
                Caller::Shell(_) => {
                    let Ok(permit) = in_flight.clone().try_acquire_owned() else {
                        let fault = ToolError::new("rate", "16 calls are under way");
                        return refuse(fault.hint("wait for an answer"));
                    };
                    Some(permit)
                }
            };
            // A stop does not wait for what it stops.
            if method == "stop" {
                let answer = json!({ "stopped": desk.stop() });
                return desk.host.send(page, ToPage::reply(id, Ok(answer)));
            }
            let call = Call {
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
            if let Some(rev) = desk.host.frame_rev(page, &frame)
                && level == "error"
            {
                desk.kernel.faces().note(&format!("Face {rev}: {text}"));
            }
        }
        FromPage::Mounted { frame, rev } => {
            let mounted = FromPage::Mounted {
                frame: frame.clone(),
                rev,
            };
            desk.host.told(page, mounted);
            if desk.host.caller(page, &frame).is_some() {
                desk.kernel.faces().on_mounted(rev);
            }
        }
        message => desk.host.told(page, message),
    }
}
