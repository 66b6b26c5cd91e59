//! The HTTP interface of the host page: sessions, export and import, the key. The rest goes over the socket.

use axum::Json;
use axum::extract::rejection::{JsonRejection, StringRejection};
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hermitcrab_kernel::prompt::{CoreBlock, keystone};
use hermitcrab_kernel::{ErrorKind, ToolError};
use pscale_blocks::bundle::{
    BundleError, Export, ImportBatch, ImportRules, MAX_BUNDLE, OnConflict,
};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{MAX_BODY, Refusal, RouteState};

type ApiAnswer = Result<Json<Value>, Refusal>;

/// A fault as an answer. What the request has wrong is 400.
impl From<ToolError> for Refusal {
    fn from(fault: ToolError) -> Self {
        let status = match fault.kind {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Exists | ErrorKind::Conflict => StatusCode::CONFLICT,
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

#[derive(Deserialize)]
pub(super) struct ImportQuery {
    /// Whether the person says that it is their own backup, whose labels hold.
    #[serde(default)]
    trust: bool,
}

/// `POST /api/import`: blocks whose names are taken come under another one.
pub(super) async fn import(
    State(place): State<RouteState>,
    Query(query): Query<ImportQuery>,
    body: Result<String, StringRejection>,
) -> ApiAnswer {
    let bundle = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::too_large(None, MAX_BUNDLE),
        status => Refusal::new(status, "bad_arguments", "the body cannot be read as text"),
    })?;
    let parcel = ImportBatch::read(&bundle, None, false)?;
    let store = place.app.kernel.store();
    let at = place.app.kernel.now();
    let rules = ImportRules::new(OnConflict::Rename).trust(query.trust);
    let imported = parcel.import(&*store, rules, "the page", at)?;
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
