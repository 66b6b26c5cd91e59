//! The HTTP interface of the host page: sessions, blocks, the log, the key.

use axum::Json;
use axum::extract::rejection::{JsonRejection, StringRejection};
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, IF_MATCH, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hermitcrab_kernel::prompt::{CoreBlock, Receipt, keystone};
use hermitcrab_kernel::table::ToolResult;
use hermitcrab_kernel::{ErrorKind, EventSink, ToolError};
use pscale_blocks::bundle::{BundleError, Export, ImportBatch, MAX_BUNDLE, OnConflict};
use pscale_blocks::{Block, BlockName, EditAuthor, Op, PathError, Stamp, StoreError};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{MAX_BODY, Refusal, RouteState};
use crate::app::log;
use crate::app::methods::kind;

type ApiAnswer = Result<Json<Value>, Refusal>;

/// A fault as an answer. What the block is missing is 404, what the request has wrong 400.
impl From<ToolError> for Refusal {
    fn from(fault: ToolError) -> Self {
        let status = match fault.kind {
            ErrorKind::NoBlock | ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Revision => StatusCode::PRECONDITION_FAILED,
            ErrorKind::Exists => StatusCode::CONFLICT,
            ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::Full => StatusCode::INSUFFICIENT_STORAGE,
            ErrorKind::Io | ErrorKind::Corrupt => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self {
            status,
            body: json!(fault),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        ToolError::from(error).into()
    }
}

impl From<BundleError> for Refusal {
    fn from(error: BundleError) -> Self {
        ToolError::new(error.kind(), error.to_string()).into()
    }
}

/// The text of the error may repeat the body, which may contain a token or a key.
impl From<JsonRejection> for Refusal {
    fn from(error: JsonRejection) -> Self {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            return Self::too_large(None, MAX_BODY);
        }
        let why = "the body is not the JSON that is expected here";
        Self::new(StatusCode::BAD_REQUEST, "bad_arguments", why)
    }
}

/// A tool's outcome as an answer.
fn to_answer(outcome: ToolResult) -> ApiAnswer {
    let Some(fault) = outcome.fault() else {
        return Ok(Json(outcome.content));
    };
    let mut refusal = Refusal::from(fault);
    refusal.body = outcome.content;
    Err(refusal)
}

impl RouteState {
    /// Runs a tool for the person and notifies all pages of its changes.
    async fn tool(&self, name: &str, input: Value) -> ApiAnswer {
        let events: EventSink = self.app.sink(None, false);
        let cancel = self.app.until_stopped();
        let kernel = &self.app.kernel;
        to_answer((kernel.call_tool(name, input, EditAuthor::Person, events, cancel)).await)
    }

    fn stamp(&self) -> Stamp {
        Stamp::new(self.app.kernel.now(), EditAuthor::Person)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Session {
    /// The token of the printed address; `None` on a reload.
    token: Option<String>,
}

/// Answers the request `POST /session`.
pub(super) async fn session(
    State(place): State<RouteState>,
    headers: HeaderMap,
    body: Result<Json<Session>, JsonRejection>,
) -> Result<Response, Refusal> {
    let Json(Session { token }) = body?;
    let Some((token, cookie)) = place.guard.open(token.as_deref(), &headers) else {
        let why = "this address is not valid: it was used before, or the server was started again; open the one that it printed last, or use the browser that the session was opened in";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "session", why));
    };
    Ok(([(SET_COOKIE, cookie)], Json(json!({ "token": token }))).into_response())
}

/// Answers the request `GET /api/blocks`.
pub(super) async fn blocks(State(place): State<RouteState>) -> ApiAnswer {
    place.tool("block_list", json!({})).await
}

#[derive(Debug, Deserialize)]
pub(super) struct View {
    path: Option<String>,
    view: Option<String>,
}

/// Answers `GET /api/blocks/<name>`: the block, or the view of a node, with the revision and the receipt of a summary.
pub(super) async fn block(
    State(place): State<RouteState>,
    Path(name): Path<String>,
    Query(View { path, view }): Query<View>,
) -> ApiAnswer {
    let name = block_name(&name)?;
    let found = place.app.kernel.store().load(&name)?;
    let Some(path) = path else {
        return Ok(Json(json!({
            "name": name,
            "rev": found.rev,
            "block": *found.block,
        })));
    };
    let mut input = json!({"name": name, "path": path});
    if let Some(view) = view {
        input["view"] = view.into();
    }
    let Json(mut seen) = place.tool("block_read", input).await?;
    if let Some(seen) = seen.as_object_mut() {
        seen.insert("rev".to_owned(), found.rev.into());
        let path = seen.get("path").and_then(Value::as_str);
        let path = path.and_then(|path| path.parse().ok());
        if let Some(receipt) = path.and_then(|path| Receipt::quick(&found.block, &path)) {
            seen.insert("receipt".to_owned(), json!(receipt));
        }
    }
    Ok(Json(seen))
}

fn block_name(name: &str) -> Result<BlockName, Refusal> {
    let named = BlockName::new(name).map_err(StoreError::from);
    Ok(named?)
}

/// The edit that a body asks for: a node's text, or a whole block.
fn put(body: &RawValue) -> Result<Op, Refusal> {
    let fields: Value = serde_json::from_str(body.get()).unwrap_or_default();
    if fields.get("path").or(fields.get("content")).is_none() {
        let block = Block::parse(body.get()).map_err(StoreError::from)?;
        return Ok(Op::Replace { block });
    }
    let text = |field: &str| match &fields[field] {
        Value::String(text) => Ok(text.clone()),
        other => {
            let detail = format!("{field} is a text, here it is {}", kind(other));
            Err(Refusal::from(ToolError::new("bad_arguments", detail)))
        }
    };
    let path = text("path")?
        .parse()
        .map_err(|error: PathError| Refusal::from(ToolError::new("bad_path", error.to_string())))?;
    let text = text("content")?;
    Ok(Op::Write { path, text })
}

/// `PUT /api/blocks/<name>` with `If-Match: <rev>`
pub(super) async fn put_block(
    State(place): State<RouteState>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Json<Box<RawValue>>, JsonRejection>,
) -> ApiAnswer {
    let name = block_name(&name)?;
    let given = headers.get(IF_MATCH).and_then(|rev| rev.to_str().ok());
    let Some(rev) = given.and_then(|rev| rev.trim_matches('"').parse().ok()) else {
        let why = "If-Match must hold the revision that was read";
        return Err(Refusal::new(
            StatusCode::PRECONDITION_REQUIRED,
            "revision",
            why,
        ));
    };
    let Json(body) = body?;
    let op = put(&body)?;
    let store = place.app.kernel.store();
    let edited = store.edit(&name, Some(rev), &op, &place.stamp())?;
    place
        .app
        .broadcast("block_changed", json!({ "name": name }));
    Ok(Json(json!({"name": name, "rev": edited.rev})))
}

#[derive(Debug, Deserialize)]
pub(super) struct LogQuery {
    name: Option<String>,
    limit: Option<usize>,
}

/// Answers the request `GET /api/log`.
pub(super) async fn log(
    State(place): State<RouteState>,
    Query(LogQuery { name, limit }): Query<LogQuery>,
) -> ApiAnswer {
    let name = name.filter(|name| !name.is_empty());
    let name = name.map(|name| block_name(&name)).transpose()?;
    let store = place.app.kernel.store();
    let rows = log::rows(&*store, name.as_ref(), limit.unwrap_or(log::MAX_ROWS))?;
    Ok(Json(json!(rows)))
}

/// Answers the request `POST /api/undo`.
pub(super) async fn undo(
    State(place): State<RouteState>,
    body: Result<Json<Value>, JsonRejection>,
) -> ApiAnswer {
    let Json(input) = body?;
    place.tool("block_undo", input).await
}

/// Answers the request `POST /api/redo`.
pub(super) async fn redo(
    State(place): State<RouteState>,
    body: Result<Json<Value>, JsonRejection>,
) -> ApiAnswer {
    let Json(input) = body?;
    place.tool("block_redo", input).await
}

/// `GET /api/export`: all blocks as one file. No key is in it.
pub(super) async fn export(State(place): State<RouteState>) -> Result<Response, Refusal> {
    let store = place.app.kernel.store();
    let stored = store.load(CoreBlock::Keystone.name()).ok();
    let version = stored.and_then(|found| keystone::keystone_version(&found.block));
    let version = version.map(|number| number.to_string());
    let how = Export::new(place.app.kernel.now()).keystone_version(version.as_deref());
    let text = pscale_blocks::bundle::export(&*store, None, &how)?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"hermitcrab.json\"",
        ),
    ];
    Ok((headers, text).into_response())
}

/// `POST /api/import`: blocks whose names are taken come under another one.
pub(super) async fn import(
    State(place): State<RouteState>,
    body: Result<String, StringRejection>,
) -> ApiAnswer {
    let bundle = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::too_large(None, MAX_BUNDLE),
        status => Refusal::new(status, "bad_arguments", "the body cannot be read as text"),
    })?;
    let parcel = ImportBatch::read(&bundle, None, false)?;
    let store = place.app.kernel.store();
    let at = place.app.kernel.now();
    let imported = parcel.import(&*store, OnConflict::Rename, "the page", at)?;
    place
        .app
        .broadcast("block_changed", json!({ "name": null }));
    Ok(Json(json!(imported)))
}

#[derive(Deserialize)]
pub(super) struct Key {
    key: Option<String>,
    /// Whether the program continues without a model.
    #[serde(default)]
    offline: bool,
}

/// `POST /api/key`: it is taken, and never given back.
pub(super) async fn key(
    State(place): State<RouteState>,
    body: Result<Json<Key>, JsonRejection>,
) -> ApiAnswer {
    let Json(Key { key, offline }) = body?;
    let keys = &place.app.keys;
    let done = match key {
        Some(key) => keys.set(SecretString::from(key)).await,
        None if offline => {
            keys.offline().await;
            Ok(())
        }
        None => Err("give a key, or say offline".to_owned()),
    };
    if let Err(why) = done {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "key", &why));
    }
    place.app.decide();
    Ok(Json(json!({ "ok": true })))
}
