//! The server and the hub, with pages that speak the protocol without a browser.

mod api;
mod connections;
mod conversation;
mod deaths;
mod ends;
mod gestures;
mod gone;
mod http;
mod needs;
mod page;
mod security_calls;
mod security_headers;
mod security_http;
mod security_socket;
mod slow_disk;
mod stand;
pub mod table;
mod trials;
