//! The kernel with everything around it, as the flags and the data directory say.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bin_support::environment::Environment;
use bin_support::model::{ModelDefaults, ModelFlags, ModelSource, OpenOptions, ProviderName};
use bin_support::{Failure, Session};
use hermitcrab_face::{OxcCompiler, WebHost};
use hermitcrab_kernel::config::{Grant, ModelSpec, Settings, ThinkingMode, WebPolicy};
use hermitcrab_kernel::faces::{Host, NoHost};
use hermitcrab_kernel::{Brain, Face, Kernel, KernelConfig, LlmBrain, OfflineBrain};
use jiff::tz::TimeZone;
use llm_client::{AnthropicVersion, ClientBuilder, Redactor};
use pscale_blocks::{BlockStore, EditAuthor, MemStore, Stamp};
use secrecy::SecretString;

use crate::cli::{Chat, KernelFlags, Serve};
use crate::clock::now;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::key;
use crate::migrate::take_over_waiting;
use crate::plain_file;
use crate::serve::{PageKeys, SwitchBrain};

/// Whom the program asks when nothing else is said.
pub const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "hermitcrab",
    provider: ProviderName::Anthropic,
    model: "claude-opus-5-5",
};

/// A kernel to talk with. The data directory is this process's alone as long as it lives.
pub fn for_chat(args: &Chat, data: &DataDir, session: &mut Session) -> Result<Kernel, Failure> {
    let asking = Asking::new(&args.model, &args.kernel, data, session)?;
    let (brain, redactor) = asking.brain(session)?;
    let config = KernelConfig {
        face: Face::Terminal,
        fresh: args.fresh,
        ..config(&args.kernel, asking, redactor, data)?
    };
    begin(config, data, brain, Arc::new(NoHost))
}

/// A kernel for pages, and how they give it a key.
pub fn for_pages(
    args: &Serve,
    data: &DataDir,
    host: WebHost,
    session: &mut Session,
) -> Result<(Kernel, PageKeys), Failure> {
    let asking = Asking::new(&args.model, &args.kernel, data, session)?;
    let (brain, redactor) = if let Some(provider) = asking.missing_key()? {
        let waiting = SwitchBrain::waiting(provider, &asking.settings);
        (waiting, Redactor::default())
    } else {
        let (brain, redactor) = asking.brain(session)?;
        (SwitchBrain::new(brain), redactor)
    };
    let keys = PageKeys::new(brain.clone(), asking.clone(), redactor.clone());
    let config = KernelConfig {
        face: Face::Page,
        fresh: args.fresh,
        ..config(&args.kernel, asking, redactor, data)?
    };
    let kernel = begin(config, data, Arc::new(brain), Arc::new(host))?;
    Ok((kernel, keys))
}

/// What chat and pages have in common.
fn config(
    flags: &KernelFlags,
    asking: Asking,
    redactor: Redactor,
    data: &DataDir,
) -> Result<KernelConfig, Failure> {
    let web = WebPolicy {
        allow_hosts: flags.allow_hosts.clone(),
        ..WebPolicy::default()
    };
    web.check_hosts()
        .map_err(|fault| Failure::usage(Error::AllowHost(fault)))?;
    Ok(KernelConfig {
        data: Some(data.path().to_owned()),
        grants: grants(&flags.grants)?,
        web,
        max_usd: (asking.flags.max_usd).filter(|_| is_billable(&asking.flags)),
        settings: asking.settings,
        redactor,
        zone: TimeZone::system(),
        ..KernelConfig::default()
    })
}

/// Opens a kernel on a data directory whose waiting export was taken over.
fn begin(
    mut config: KernelConfig,
    data: &DataDir,
    brain: Arc<dyn Brain>,
    host: Arc<dyn Host>,
) -> Result<Kernel, Failure> {
    let store = writing(data)?;
    let taken_over = take_over_waiting(data, &*store, &config.redactor);
    config.notices = taken_over.map_err(Error::failure)?;
    open(config, store, brain, host)
}

/// Comes last: it makes the directory, which flags that cannot be used must not.
fn writing(data: &DataDir) -> Result<Box<dyn BlockStore>, Failure> {
    data.for_writing().map_err(Error::failure)
}

/// A kernel to look at: it asks nobody, and what it would write stays in memory, so it works beside a running one.
pub fn for_looking(data: &DataDir) -> Result<Kernel, Failure> {
    let settings = settings(data).map_err(Error::failure)?;
    looking(data, settings, Arc::new(OfflineBrain))
}

/// As [`for_looking`], with whom the flags name: requests have its form.
pub fn for_prompt(
    model: &ModelFlags,
    data: &DataDir,
    session: &mut Session,
) -> Result<Kernel, Failure> {
    // Nothing is recorded, either, or played again.
    let model = ModelFlags {
        record: None,
        replay: None,
        ..model.clone()
    };
    let asking = Asking::new(&model, &KernelFlags::default(), data, session)?;
    let (brain, _) = match asking.missing_key()? {
        // Nothing is sent, so any will do.
        Some(_) => asking.brain_with(&SecretString::from("none"))?,
        None => asking.brain(session)?,
    };
    looking(data, asking.settings, brain)
}

fn looking(data: &DataDir, settings: Settings, brain: Arc<dyn Brain>) -> Result<Kernel, Failure> {
    let store = copied(data).map_err(Error::failure)?;
    let config = KernelConfig {
        data: Some(data.path().to_owned()),
        read_only: true,
        settings,
        ..KernelConfig::default()
    };
    open(config, Box::new(store), brain, Arc::new(NoHost))
}

/// The blocks as they are now, without their logs.
fn copied(data: &DataDir) -> Result<MemStore, Error> {
    let kept = data.for_reading()?;
    let copy = MemStore::new();
    let stamp = Stamp {
        at: now(),
        by: EditAuthor::Kernel,
        note: None,
    };
    for row in kept.names()? {
        copy.create(&row.name, &kept.load(&row.name)?.block, &stamp)?;
    }
    Ok(copy)
}

/// A kernel that asks nobody and writes, for what a person does with the faces.
pub fn for_changing(data: &DataDir) -> Result<Kernel, Failure> {
    let config = KernelConfig {
        data: Some(data.path().to_owned()),
        settings: settings(data).map_err(Error::failure)?,
        ..KernelConfig::default()
    };
    open(
        config,
        writing(data)?,
        Arc::new(OfflineBrain),
        Arc::new(NoHost),
    )
}

fn open(
    config: KernelConfig,
    store: Box<dyn BlockStore>,
    brain: Arc<dyn Brain>,
    host: Arc<dyn Host>,
) -> Result<Kernel, Failure> {
    let opened = Kernel::builder(Arc::from(store), brain)
        .config(config)
        .compiler(Arc::new(OxcCompiler))
        .host(host)
        .open();
    opened.map_err(|error| Error::from(error).failure())
}

/// The start of the line about the blocks that a first start makes.
pub const FIRST_START: &str = "first start: ";

/// The kernel's notices about its start. Blocks that were all made now are one line, with their folder.
pub fn notices(kernel: &Kernel, data: &DataDir) -> Result<Vec<String>, Failure> {
    let blocks = kernel.store().names();
    let blocks = blocks.map_err(|error| Error::from(error).failure())?.len();
    let line = |notice: &String| {
        let made = notice.strip_prefix("seeded: ");
        if made.is_some_and(|made| made.split(", ").count() == blocks) {
            let place = data.path().display();
            format!("{FIRST_START}created {blocks} blocks in {place}")
        } else {
            notice.clone()
        }
    };
    Ok(kernel.notices().iter().map(line).collect())
}

/// `hermitcrab.toml` of the data directory, else what the program has.
pub fn settings(data: &DataDir) -> Result<Settings, Error> {
    let path = data.path().join("hermitcrab.toml");
    let text = match plain_file::read_text(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Settings::default()),
        Err(source) => return Err(Error::Read { path, source }),
    };
    Settings::parse(&text).map_err(|source| Error::Settings { path, source })
}

/// Whether a cap in dollars means something.
fn is_billable(flags: &ModelFlags) -> bool {
    flags.provider.is_none_or(ProviderName::is_billable)
}

/// Whom to ask and how, as the flags and the settings say.
#[derive(Clone)]
pub struct Asking {
    flags: ModelFlags,
    environment: Environment,
    seed: u64,
    /// With the models that are asked.
    settings: Settings,
}

impl Asking {
    fn new(
        flags: &ModelFlags,
        kernel: &KernelFlags,
        data: &DataDir,
        session: &mut Session,
    ) -> Result<Self, Failure> {
        let settings = settings(data).map_err(Error::failure)?;
        key::read(data, session)?;
        let settings = match (&flags.model, flags.provider) {
            // Offline by choice asks none of them.
            (Some(model), provider) if provider != Some(ProviderName::Offline) => {
                only(model.clone(), settings)
            }
            _ => settings,
        };
        Ok(Self {
            flags: flags.clone(),
            environment: session.environment.clone(),
            seed: kernel.seed.seed,
            settings,
        })
    }

    /// The provider whose key is missing, if nothing else is.
    pub fn missing_key(&self) -> Result<Option<ProviderName>, Failure> {
        self.flags.missing_key(&DEFAULTS, &self.environment)
    }

    /// Whom the flags name, if anybody.
    pub fn provider(&self) -> ProviderName {
        self.flags.provider.unwrap_or(DEFAULTS.provider)
    }

    /// Who thinks, with the key of the environment; nobody without one.
    fn brain(&self, session: &Session) -> Result<(Arc<dyn Brain>, Redactor), Failure> {
        self.open(self.options(), |line| session.warn(line))
    }

    /// Who thinks, with this key.
    pub fn brain_with(&self, key: &SecretString) -> Result<(Arc<dyn Brain>, Redactor), Failure> {
        self.open(self.options().key(key), |line| tracing::warn!("{line}"))
    }

    fn options(&self) -> OpenOptions<'_> {
        OpenOptions::new(&DEFAULTS, self.seed)
            .versions(self.versions())
            .settings(|client| self.client(client))
    }

    fn open(
        &self,
        options: OpenOptions<'_>,
        warn: impl FnOnce(&str),
    ) -> Result<(Arc<dyn Brain>, Redactor), Failure> {
        let opened = self.flags.open(options, &self.environment, warn)?;
        Ok(self.of(opened))
    }

    fn of(&self, opened: ModelSource) -> (Arc<dyn Brain>, Redactor) {
        match opened {
            ModelSource::Offline => (Arc::new(OfflineBrain), Redactor::default()),
            ModelSource::Client {
                client,
                provider,
                redactor,
                ..
            } => {
                let brain = LlmBrain::new(client, provider.as_str(), &self.settings);
                (Arc::new(brain), redactor)
            }
        }
    }

    fn client(&self, client: ClientBuilder) -> ClientBuilder {
        // The cap of the run holds for every attempt; what is charged the kernel books, for it keeps turn and day.
        client.models(self.settings.model_table(self.provider().as_str()))
    }

    fn versions(&self) -> BTreeMap<String, AnthropicVersion> {
        let specs = self.settings.models.iter().chain([&self.settings.fast]);
        specs
            .filter_map(|spec| Some((spec.id.clone(), spec.api_version?)))
            .collect()
    }
}

/// The settings with this model alone, as they describe it if they do.
fn only(model: String, settings: Settings) -> Settings {
    let known = settings.models.iter().chain([&settings.fast]);
    let spec = known.clone().find(|spec| spec.id == model).cloned();
    let spec = spec.unwrap_or(ModelSpec {
        id: model,
        thinking: ThinkingMode::Off,
        effort: None,
        max_tokens: None,
        api_version: None,
        price: None,
    });
    Settings {
        fast: spec.clone(),
        models: vec![spec],
        ..settings
    }
}

/// `DIR`, `DIR:rw` or `DIR:rwd`.
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
