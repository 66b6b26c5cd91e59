//! `serve`: the face in a browser of this machine.

mod brain;
mod keys;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bin_support::model::ProviderName;
use bin_support::{Exit, Failure, Interrupt, Session, block_on_threads, escape};
use clap::ValueEnum as _;
use hermitcrab_face::{FaceConfig, FaceError, FaceServer, Keys as _, Npm, Runtime, WebHost};
use tokio_util::sync::CancellationToken;

pub use brain::SwitchBrain;
pub use keys::PageKeys;

use crate::cli::{RuntimeName, Serve};
use crate::data_dir::DataDir;
use crate::error::{Error, with_sources};
use crate::{key, opened};

/// How long npm may take.
const NPM: Duration = Duration::from_mins(1);
/// How long the first face waits for React: what an earlier start has installed is found in that time.
const AT_HAND: Duration = Duration::from_secs(2);

/// Serves the face until the person ends it.
pub fn execute(args: &Serve, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let interrupt = Interrupt::on_signals()?;
    block_on_threads(serve(args, data, session, interrupt))?
}

async fn serve(
    args: &Serve,
    data: &DataDir,
    session: &mut Session,
    interrupt: Interrupt,
) -> Result<Exit, Failure> {
    let host = WebHost::default();
    let (kernel, keys) = opened::for_pages(args, data, host.clone(), session)?;
    let (end, cut) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    interrupt.then({
        let (end, cut, kernel) = (end.clone(), cut.clone(), kernel.clone());
        move || {
            cut.store(kernel.is_busy(), Ordering::SeqCst);
            end.cancel();
        }
    });
    if let Some(provider) = keys.wanted() {
        let say = "the page asks for one, or goes on offline";
        session.warn(&format!("there is no key for {provider}: {say}"));
    }
    let config = FaceConfig {
        port: args.port,
        // Who asks for React by its name gets no face without it.
        runtime_wait: if args.runtime.is_some() { NPM } else { AT_HAND },
        safe: args.safe,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..FaceConfig::default()
    };
    let bound = FaceServer::bind(kernel.clone(), host, Arc::new(keys), config).await;
    let server = bound.map_err(|error| unbound(args.port, error).failure())?;
    let url = server.url();
    writeln!(session.results, "{url}")?;
    session.results.flush()?;
    session.status("the address opens one session; Ctrl-C ends the program");
    // The page shows all of them. The folder is for the person at the terminal.
    let notices = opened::notices(&kernel, data)?;
    if let Some(line) = (notices.iter()).find(|line| line.starts_with(opened::FIRST_START)) {
        session.status(&escape(line));
    }
    if !args.no_open {
        open_browser(&url, session).await;
    }
    let mut failed = None;
    let search = async {
        let found = better_runtime(args.runtime, data, session).await;
        found.unwrap_or_else(|error| {
            failed = Some(error);
            end.cancel();
            None
        })
    };
    server.run(end.clone(), search).await;
    // A turn that was cut ends before this does.
    let settled = kernel.settle().await;
    settled.map_err(|error| Error::from(error).failure())?;
    if let Some(failed) = failed {
        return Err(failed);
    }
    Ok(if cut.load(Ordering::SeqCst) {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

fn unbound(port: Option<u16>, error: FaceError) -> Error {
    match (port, error) {
        (Some(port), FaceError::Bind { source, .. }) => Error::Port { port, source },
        (_, error) => Error::Face(error),
    }
}

/// React, unless the flag asks for what is built in. That it cannot be had is a failure only where the flag asks for it.
async fn better_runtime(
    name: Option<RuntimeName>,
    data: &DataDir,
    session: &Session,
) -> Result<Option<Runtime>, Failure> {
    if name == Some(RuntimeName::Builtin) {
        return Ok(None);
    }
    let providers = ProviderName::value_variants().iter();
    let hidden = providers.flat_map(|provider| provider.key_variables(key::PROGRAM));
    let npm = Npm {
        program: PathBuf::from("npm"),
        limit: NPM,
        hidden: hidden.collect(),
    };
    let tell = |line: &str| {
        let most = NPM.as_secs();
        tracing::info!(
            "{} (at most {most} s; --runtime builtin goes without)",
            escape(line)
        );
    };
    match Runtime::react(data.path(), &npm, &tell).await {
        Ok(react) => Ok(Some(react)),
        Err(error) if name.is_some() => Err(Error::Runtime(error).failure()),
        Err(error) => {
            let error = escape(&with_sources(&error));
            session.warn(&format!("faces run on the built-in subset: {error}"));
            Ok(None)
        }
    }
}

/// A browser that does not come up is no failure: the address is printed.
async fn open_browser(url: &str, session: &Session) {
    let address = url.to_owned();
    let opened = tokio::task::spawn_blocking(move || webbrowser::open(&address)).await;
    if !matches!(opened, Ok(Ok(()))) {
        session.warn("no browser could be opened: open the address above");
    }
}
