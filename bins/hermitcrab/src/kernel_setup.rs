//! Kernels on a data directory: to talk with, to look at, and to change without a model.

use std::path::PathBuf;
use std::sync::Arc;

use bin_support::Failure;
use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_kernel::config::{Grant, Settings, WebPolicy};
use hermitcrab_kernel::faces::{Host, NoHost};
use hermitcrab_kernel::{Brain, Kernel, KernelConfig, OfflineBrain};
use jiff::tz::TimeZone;
use llm_client::Redactor;
use pscale_blocks::{BlockStore, StoreError};

use crate::data_dir::DataDir;
use crate::draft_store::DraftStore;
use crate::error::Error;
use crate::flags::KernelFlags;
use crate::model_setup::{ModelSetup, settings};
use crate::servers::{self, McpSource};
use crate::takeover::take_over_waiting;

/// Returns the configuration of a kernel that talks with a model.
pub fn config(
    flags: &KernelFlags,
    setup: ModelSetup,
    redactor: Redactor,
    data: &DataDir,
) -> Result<KernelConfig, Failure> {
    let mut web = WebPolicy::default();
    web.allow_hosts.clone_from(&flags.allow_hosts);
    web.check_hosts()
        .map_err(|fault| Failure::usage(Error::AllowHost(fault)))?;
    let mut config = KernelConfig::default();
    config.data = Some(data.path().to_owned());
    config.grants = grants(&flags.grants)?;
    config.web = web;
    config.max_usd = setup.max_usd();
    config.settings = setup.settings;
    config.redactor = redactor;
    config.zone = TimeZone::system();
    Ok(config)
}

/// Opens a kernel after an export of the earlier generation was taken over, if the data directory has one.
///
/// This is the last step of a start. It creates the directory, which wrong flags must not do.
pub fn open_after_takeover(
    mut config: KernelConfig,
    data: &DataDir,
    brain: Arc<dyn Brain>,
    host: Arc<dyn Host>,
) -> Result<Kernel, Failure> {
    let store = data.for_writing().map_err(Error::failure)?;
    let taken_over = take_over_waiting(data, &*store, &config.redactor);
    config.notices = taken_over.map_err(Error::failure)?;
    let sources = servers::sources(data).unwrap_or_else(|error| {
        config.notices.push(format!("no server is used: {error}"));
        Vec::new()
    });
    open(config, data, store, brain, host, sources)
}

/// Opens a kernel to look at, also while another process runs one. It calls no model, and its edits stay in memory.
pub fn open_read_only(data: &DataDir) -> Result<Kernel, Failure> {
    let settings = settings(data).map_err(Error::failure)?;
    open_read_only_with(data, settings, Arc::new(OfflineBrain))
}

/// Opens a kernel as [`open_read_only`] does. Its requests have the form of this brain.
pub fn open_read_only_with(
    data: &DataDir,
    settings: Settings,
    brain: Arc<dyn Brain>,
) -> Result<Kernel, Failure> {
    let store = DraftStore::new(data.for_reading().map_err(Error::failure)?);
    let mut config = KernelConfig::default();
    config.data = Some(data.path().to_owned());
    config.read_only = true;
    config.settings = settings;
    open(
        config,
        data,
        Box::new(store),
        brain,
        Arc::new(NoHost),
        Vec::new(),
    )
}

/// Opens a kernel that can change faces and calls no model.
pub fn open_offline(data: &DataDir) -> Result<Kernel, Failure> {
    let mut config = KernelConfig::default();
    config.data = Some(data.path().to_owned());
    config.settings = settings(data).map_err(Error::failure)?;
    open(
        config,
        data,
        data.for_writing().map_err(Error::failure)?,
        Arc::new(OfflineBrain),
        Arc::new(NoHost),
        Vec::new(),
    )
}

fn open(
    config: KernelConfig,
    data: &DataDir,
    store: Box<dyn BlockStore>,
    brain: Arc<dyn Brain>,
    host: Arc<dyn Host>,
    sources: Vec<McpSource>,
) -> Result<Kernel, Failure> {
    let builder = Kernel::builder(Arc::from(store), brain)
        .config(config)
        .clock(data.clock())
        .compiler(Arc::new(OxcCompiler))
        .host(host);
    let builder = (sources.into_iter()).fold(builder, |builder, source| {
        builder.server(source.name().clone(), Arc::new(source))
    });
    builder.open().map_err(|error| Error::from(error).failure())
}

/// The beginning of the line about the blocks that a first start creates.
pub const FIRST_START: &str = "first start: ";

/// Returns the notices of the kernel about its start. If all blocks are new, one line names their folder.
pub fn notices(kernel: &Kernel, data: &DataDir) -> Result<Vec<String>, Failure> {
    let line = |notice: &String| {
        if let Some(made) = notice.strip_prefix("seeded: ") {
            let blocks = kernel.store().names()?.len();
            if made.split(", ").count() == blocks {
                let place = data.path().display();
                return Ok(format!("{FIRST_START}created {blocks} blocks in {place}"));
            }
        }
        Ok(notice.clone())
    };
    let lines = kernel.notices().iter().map(line);
    let lines: Result<_, StoreError> = lines.collect();
    lines.map_err(|error| Error::from(error).failure())
}

/// Reads the values of `--grant`: `DIR`, `DIR:rw` or `DIR:rwd`.
fn grants(flags: &[String]) -> Result<Vec<Grant>, Failure> {
    let grants = flags.iter().map(|flag| {
        let (dir, write, delete) = match flag.rsplit_once(':') {
            Some((dir, "rw")) => (dir, true, false),
            Some((dir, "rwd")) => (dir, true, true),
            _ => (flag.as_str(), false, false),
        };
        let dir = PathBuf::from(dir);
        if dir.is_dir() {
            Ok(Grant { dir, write, delete })
        } else {
            Err(Error::NoFolder { path: dir }.failure())
        }
    });
    grants.collect()
}
