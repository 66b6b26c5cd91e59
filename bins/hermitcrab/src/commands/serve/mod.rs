//! `serve`: shows the face in a browser on this machine.

mod page_keys;
mod switch_brain;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bin_support::model::ModelFlags;
use bin_support::{Exit, Failure, Interrupt, Session, block_on_threads, escape};
use clap::ValueEnum;
use hermitcrab_face::{
    BuiltinReason, FaceConfig, FaceError, FaceServer, Keys as _, Runtime, RuntimeError, WebHost,
};
use hermitcrab_kernel::{Face, Kernel};
use llm_client::Redactor;
use tokio_util::sync::CancellationToken;

use crate::data_dir::DataDir;
use crate::error::{Error, with_sources};
use crate::flags::{KernelFlags, MODEL};
use crate::kernel_setup;
use crate::model_setup::ModelSetup;
use crate::react_sources::{CLIENT_LIMIT, react_sources, show_begin};
use page_keys::PageKeys;
use switch_brain::SwitchBrain;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab serve
  hermitcrab serve --no-open --port 8100
  hermitcrab serve --safe";

/// The time that the first face waits for React. It is enough if an earlier start has installed React.
const INSTALLED_LIMIT: Duration = Duration::from_secs(2);

/// The time that another process has to install React, and the pause between two looks at its work.
const OTHER_LIMIT: Duration = Duration::from_secs(2 * CLIENT_LIMIT.as_secs());
const LOOK_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Default, clap::Args)]
#[command(mut_arg("max_usd", |arg| arg.help("Cap in dollars for this process")))]
pub struct ServeArgs {
    /// Port of 127.0.0.1 [default: any free one].
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Address only, without opening a browser.
    #[arg(long)]
    pub no_open: bool,
    /// New face by the model, also if a good one is stored.
    #[arg(long)]
    pub fresh: bool,
    /// Built-in face, without a call of the model.
    #[arg(long, conflicts_with = "fresh")]
    pub safe: bool,
    /// Library that runs a face [default: React by npm or pip; if that fails, the built-in one].
    #[arg(long, value_enum)]
    pub runtime: Option<RuntimeName>,
    /// Folder with react.production.min.js and react-dom.production.min.js of React 18.3.1, or with both in umd/.
    #[arg(long, value_name = "DIR", conflicts_with = "runtime")]
    pub react: Option<PathBuf>,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten, next_help_heading = MODEL)]
    pub model: ModelFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuntimeName {
    /// React 18; npm or pip installs it into the data directory once.
    React,
    /// A small part of React that is built into this program.
    Builtin,
}

/// Serves the face until the person ends it.
pub fn execute(args: &ServeArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let interrupt = Interrupt::on_signals()?;
    block_on_threads(serve(args, data, session, interrupt))?
}

async fn serve(
    args: &ServeArgs,
    data: &DataDir,
    session: &mut Session,
    interrupt: Interrupt,
) -> Result<Exit, Failure> {
    let given = args.react.as_deref().map(Runtime::given_react);
    let given = (given.transpose()).map_err(|error| Error::GivenReact { error }.failure())?;
    let host = WebHost::default();
    let (kernel, keys) = open(args, data, host.clone(), session)?;
    let (end, cut) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    interrupt.then({
        let (end, cut, kernel) = (end.clone(), cut.clone(), kernel.clone());
        move || {
            cut.store(kernel.is_busy(), Ordering::SeqCst);
            end.cancel();
        }
    });
    if let Some(provider) = keys.wanted() {
        let say = "the page asks for one, or continues offline";
        session.warn(&format!("there is no key for {provider}: {say}"));
    }
    let mut config = FaceConfig::default();
    config.port = args.port;
    // A person who asks for React sees no face without it.
    config.runtime_wait = if args.runtime == Some(RuntimeName::React) {
        OTHER_LIMIT + 3 * CLIENT_LIMIT
    } else {
        INSTALLED_LIMIT
    };
    let searches = given.is_none() && args.runtime != Some(RuntimeName::Builtin);
    if let Some(react) = given {
        config.runtime = react;
    } else if searches {
        config.runtime = Runtime::builtin_because(BuiltinReason::Installing);
    }
    config.safe = args.safe;
    env!("CARGO_PKG_VERSION").clone_into(&mut config.version);
    let bound = FaceServer::bind(kernel.clone(), host, Arc::new(keys), config).await;
    let server = bound.map_err(|error| bind_error(args.port, error).failure())?;
    let url = server.url();
    writeln!(session.results, "{url}")?;
    session.results.flush()?;
    session.status("the address opens one session; Ctrl-C ends the program");
    // The page shows all notices. The terminal shows the one about the folder.
    let notices = kernel_setup::notices(&kernel, data)?;
    if let Some(line) = (notices.iter()).find(|line| line.starts_with(kernel_setup::FIRST_START)) {
        session.status(&escape(line));
    }
    if !args.no_open {
        open_browser(&url, session).await;
    }
    let mut failed = None;
    let search = async {
        if !searches {
            return None;
        }
        let found = better_runtime(args.runtime, data, session).await;
        found.unwrap_or_else(|error| {
            failed = Some(error);
            end.cancel();
            None
        })
    };
    server.run(end.clone(), search).await;
    // The program waits for the end of a turn that was interrupted.
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

/// Opens a kernel for pages, and the keys that a page can give to it.
fn open(
    args: &ServeArgs,
    data: &DataDir,
    host: WebHost,
    session: &mut Session,
) -> Result<(Kernel, PageKeys), Failure> {
    let setup = ModelSetup::new(&args.model, args.kernel.seed.seed, data, session)?;
    let (brain, redactor) = if let Some(provider) = setup.missing_key()? {
        let waiting = SwitchBrain::waiting(provider, &setup.settings);
        (waiting, Redactor::default())
    } else {
        let (brain, redactor) = setup.brain(session)?;
        (SwitchBrain::new(brain), redactor)
    };
    let keys = PageKeys::new(brain.clone(), setup.clone(), redactor.clone());
    let mut config = kernel_setup::config(&args.kernel, setup, redactor, data)?;
    config.face = Face::Page;
    config.fresh = args.fresh;
    let kernel = kernel_setup::open_after_takeover(config, data, Arc::new(brain), Arc::new(host))?;
    Ok((kernel, keys))
}

fn bind_error(port: Option<u16>, error: FaceError) -> Error {
    match (port, error) {
        (Some(port), FaceError::Bind { source, .. }) => Error::Port { port, source },
        (_, error) => Error::Face(error),
    }
}

/// Returns React, or the built-in library with the reason why React is not there.
///
/// A missing React is a failure only if the flag asks for it.
async fn better_runtime(
    name: Option<RuntimeName>,
    data: &DataDir,
    session: &Session,
) -> Result<Option<Runtime>, Failure> {
    let is_asked_for = name == Some(RuntimeName::React);
    let sources = react_sources(is_asked_for);
    let mut found = sources.find(data.path(), data.now(), &show_begin).await;
    if let Err(error @ RuntimeError::Busy { .. }) = &found {
        tracing::info!("{}: waiting for it", escape(&error.to_string()));
    }
    let begun = Instant::now();
    while matches!(found, Err(RuntimeError::Busy { .. })) && begun.elapsed() < OTHER_LIMIT {
        tokio::time::sleep(LOOK_AGAIN).await;
        found = sources.find(data.path(), data.now(), &|_| {}).await;
    }
    found.map(Some).or_else(|error| {
        if is_asked_for {
            return Err(Error::Runtime(error).failure());
        }
        let why = escape(&with_sources(&error));
        session.warn(&format!("faces run on the built-in subset: {why}"));
        let reason = match error {
            RuntimeError::Busy { .. } => BuiltinReason::Busy(why),
            _ => BuiltinReason::NoNpm(why),
        };
        Ok(Some(Runtime::builtin_because(reason)))
    })
}

/// Opens the address in a browser. If that fails, the person can open the printed address.
async fn open_browser(url: &str, session: &Session) {
    let address = url.to_owned();
    let opened = tokio::task::spawn_blocking(move || webbrowser::open(&address)).await;
    if !matches!(opened, Ok(Ok(()))) {
        session.warn("no browser could be opened: open the address above");
    }
}
