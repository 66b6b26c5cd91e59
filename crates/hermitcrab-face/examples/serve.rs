//! Serves a face without a model and without a disk: `cargo run -p hermitcrab-face --example serve`. Ctrl-C ends it.
#![expect(clippy::disallowed_macros, reason = "the address is printed")]

use std::error::Error;
use std::sync::Arc;

use hermitcrab_face::{FaceConfig, FaceServer, NoKeys, OxcCompiler, Runtime, WebHost};
use hermitcrab_kernel::{Kernel, KernelConfig, OfflineBrain};
use llm_client::SystemClock;
use pscale_blocks::MemStore;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let host = WebHost::default();
    let kernel = Kernel::open(
        KernelConfig::default(),
        Arc::new(MemStore::new()),
        Arc::new(OfflineBrain),
        Arc::new(OxcCompiler),
        Arc::new(host.clone()),
        Arc::new(SystemClock::new()),
    )
    .await?;
    let config = FaceConfig {
        port: None,
        runtime: Runtime::builtin(),
        safe: false,
        version: "example".to_owned(),
    };
    let server = FaceServer::bind(kernel, host, Arc::new(NoKeys), config).await?;
    println!("{}", server.url());
    server.run(CancellationToken::new()).await?;
    Ok(())
}
