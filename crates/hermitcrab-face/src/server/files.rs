//! The files for the browser: the host page, the frame, the scripts in it.

use axum::extract::{Path, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use super::{Refusal, RouteState, nothing};
use crate::page;

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// The origin as the browser calls it. The guard has looked at it.
fn origin(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    format!("http://{}", host.unwrap_or_default())
}

fn policy(text: &str) -> HeaderValue {
    // Origins and policies are plain letters; an empty policy allows nothing that the sandbox does not.
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// Answers the request `GET /`.
pub(super) async fn page(headers: HeaderMap) -> Response {
    let csp = policy(&page::host_csp(&origin(&headers)));
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    let headers = [(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, csp)];
    (headers, page::INDEX).into_response()
}

/// Answers the request `GET /assets/<file>`.
pub(super) async fn asset(State(place): State<RouteState>, Path(file): Path<String>) -> Response {
    if file == page::METHODS {
        return (
            [(CONTENT_TYPE, page::SCRIPT)],
            place.scripts.methods.clone(),
        )
            .into_response();
    }
    match page::ASSETS.iter().find(|asset| asset.name == file) {
        Some(asset) => ([(CONTENT_TYPE, asset.mime)], asset.body).into_response(),
        None => nothing().await.into_response(),
    }
}

/// Answers the request `GET /face/<frame>/`.
pub(super) async fn frame(
    State(place): State<RouteState>,
    Path(frame): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    if place.app.host.frame(&frame).is_none() {
        return Err(nothing().await);
    }
    let text = |value| HeaderValue::from_static(value);
    let headers = [
        (CONTENT_TYPE, text("text/html; charset=utf-8")),
        (
            CONTENT_SECURITY_POLICY,
            policy(&page::frame_csp(&origin(&headers))),
        ),
        (PERMISSIONS, text(page::PERMISSIONS)),
        (RESOURCE_POLICY, text("cross-origin")),
    ];
    Ok((headers, page::FRAME).into_response())
}

/// A script for the frame. Its origin is opaque, and with these headers it learns the lines of errors.
fn script(body: String) -> Response {
    let text = |value| HeaderValue::from_static(value);
    let headers = [
        (CONTENT_TYPE, text("text/javascript; charset=utf-8")),
        (ACCESS_CONTROL_ALLOW_ORIGIN, text("*")),
        (RESOURCE_POLICY, text("cross-origin")),
    ];
    (headers, body).into_response()
}

/// Answers the request `GET /face/<frame>/bridge.js`.
pub(super) async fn bridge(
    State(place): State<RouteState>,
    Path(frame): Path<String>,
) -> Result<Response, Refusal> {
    of_frame(&place, &frame, &place.scripts.bridge).await
}

/// Answers the request `GET /face/<frame>/react.js`.
pub(super) async fn react(
    State(place): State<RouteState>,
    Path(frame): Path<String>,
) -> Result<Response, Refusal> {
    of_frame(&place, &frame, place.app.runtime().script()).await
}

/// A script that every frame loads. Without a frame it is not there: no other site can find the program by it.
async fn of_frame(place: &RouteState, frame: &str, body: &str) -> Result<Response, Refusal> {
    match place.app.host.frame(frame) {
        Some(_) => Ok(script(body.to_owned())),
        None => Err(nothing().await),
    }
}

/// Answers the request `GET /face/<frame>/shell/<rev>.js`.
pub(super) async fn shell(
    State(place): State<RouteState>,
    Path((frame, file)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let rev = file.strip_suffix(".js").and_then(|rev| rev.parse().ok());
    match place.app.host.frame(&frame) {
        Some(shown) if rev == Some(shown.rev) => Ok(script(shown.script.clone())),
        _ => Err(nothing().await),
    }
}
