//! For tests only: servers that fail on purpose, a model that follows a script, a clock that is moved by hand.
//!
//! Everything waits for events and nothing sleeps: a test that uses these parts takes as long as its work.
//!
//! ```
//! use std::time::Duration;
//!
//! use llm_client::Timer as _;
//! use llm_client::provider::{HttpRequest, HttpTransport, Method, Transport as _};
//! use test_support::{Answer, FakeClock, FaultServer};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! // The first request gets a 429, every later one a reply.
//! let server = FaultServer::replies([
//!     Answer::json(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after", "1"),
//!     Answer::json(200, r#"{"ok":true}"#),
//! ]);
//! let transport = HttpTransport::new(&Default::default()).unwrap();
//! let url = server.url("/v1/messages").parse().unwrap();
//! let mut request = HttpRequest::new(Method::Post, url, "/v1/messages");
//! request.body = "{}".into();
//! assert_eq!(transport.execute(request.clone()).await.unwrap().status, 429);
//!
//! // A wait of the code under test ends when the test says so.
//! let clock = FakeClock::new();
//! let wait = clock.sleep(Duration::from_secs(1));
//! let ((), ()) = tokio::join!(wait, async {
//!     clock.wait_for_sleep(Duration::from_secs(1)).await;
//!     clock.advance(Duration::from_secs(1));
//! });
//!
//! let reply = transport.execute(request).await.unwrap();
//! assert_eq!(reply.bytes(100).await.unwrap(), r#"{"ok":true}"#);
//! assert_eq!(server.requests().len(), 2);
//! # });
//! ```
//!
//! `llm-client` itself can use this crate from `tests/` and `benches/` only: inside its own unit tests the types of
//! the two builds differ.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking, and the line says where"
)]
#![expect(
    clippy::missing_panics_doc,
    reason = "everything here panics when a test's expectation is not met"
)]

#[cfg(feature = "browser")]
pub mod browser;
mod canned;
mod clock;
mod compression_stub;
mod documentation;
pub mod mcp;
mod memory;
mod mind_stub;
mod model;
#[cfg(feature = "page")]
pub mod page;
pub mod program;
mod server;
mod skip;

pub use canned::CannedReply;
pub use clock::FakeClock;
pub use compression_stub::{CompressionStub, StubCall, StubMode, StubRole, StubStats};
pub use documentation::{Guide, check_help, check_shared_commands};
pub use memory::{MemoryTransport, response, streamed};
pub use mind_stub::{
    Billed, MindFatal, MindFault, MindFaults, MindForm, MindMode, MindScript, MindStats, MindStub,
};
pub use model::{ModelRequest, Rule, ScriptedModel};
#[cfg(unix)]
pub use program::{EnvFileProgram, PlantedEnvFile};
#[cfg(all(unix, feature = "postgres"))]
pub use server::postgres;
pub use server::{Answer, Closed, FaultServer, Received, Signal, closed_port};
pub use skip::{has_program, offers_program};

use std::path::{Path, PathBuf};

/// A file of the workspace's folder `fixtures`, such as `llm-client/vectors/sse_cases.json`.
pub fn fixture(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(path)
}
