//! The server and the hub, with pages that speak the protocol and are no browsers.

mod conversation;
mod deaths;
mod http;
mod page;
mod security_headers;
mod security_http;
mod stand;
mod trials;
