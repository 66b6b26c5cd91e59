//! The server and the hub, with pages that speak the protocol and are no browsers.

mod conversation;
mod http;
mod page;
mod stand;
