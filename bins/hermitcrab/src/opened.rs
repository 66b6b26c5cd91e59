//! The kernel with everything around it, as the flags and the data directory say.

use std::path::PathBuf;
use std::sync::Arc;

use bin_support::{
    Failure, Model, ModelDefaults, ModelFlags, ProviderName, Session, load_env_file,
};
use hermitcrab_kernel::{
    Brain, Face, Grant, Kernel, KernelConfig, LlmBrain, ModelSpec, NoHost, OfflineBrain, Settings,
    StubCompiler, ThinkingMode, WebPolicy,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_client::{Budget, FallbackOn, Redactor, SystemClock};
use pscale_blocks::{BlockStore, MemStore, Provenance, Stamp};

use crate::cli::{Chat, KernelFlags};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::key;

/// Whom the program asks when nothing else is said.
pub const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "hermitcrab",
    provider: ProviderName::Anthropic,
    model: "claude-opus-5-5",
};

/// A kernel to talk with. The data directory is this process's alone as long as it lives.
pub async fn for_chat(args: &Chat, data: &DataDir, session: &Session) -> Result<Kernel, Failure> {
    let settings = settings(data).map_err(Error::failure)?;
    let (brain, settings, redactor) = brain(&args.model, &args.kernel, settings, data, session)?;
    let grants = grants(&args.kernel.grants)?;
    // Last: it makes the directory, which flags that cannot be used must not.
    let store = data.for_writing().map_err(Error::failure)?;
    let config = KernelConfig {
        data: Some(data.path().to_owned()),
        settings,
        face: Face::Terminal,
        fresh: args.fresh,
        grants,
        web: WebPolicy {
            allow_hosts: args.kernel.allow_hosts.clone(),
            ..WebPolicy::default()
        },
        max_usd: args.model.max_usd.filter(|_| sends_bills(&args.model)),
        redactor,
        zone: TimeZone::system(),
        migrate: earlier_generation(data)?,
        ..KernelConfig::default()
    };
    open(config, store, brain).await
}

/// A kernel to look at: it asks nobody, and what it would write stays in memory, so it works beside a running one.
pub async fn for_looking(data: &DataDir) -> Result<Kernel, Failure> {
    let store = copied(data).map_err(Error::failure)?;
    let config = KernelConfig {
        data: Some(data.path().to_owned()),
        glance: true,
        settings: settings(data).map_err(Error::failure)?,
        ..KernelConfig::default()
    };
    open(config, Box::new(store), Arc::new(OfflineBrain)).await
}

/// The blocks as they are now, without their logs.
fn copied(data: &DataDir) -> Result<MemStore, Error> {
    let kept = data.for_reading()?;
    let copy = MemStore::new();
    let stamp = Stamp {
        at: Timestamp::now(),
        by: Provenance::Kernel,
        note: None,
    };
    for row in kept.names()? {
        copy.create(&row.name, &kept.load(&row.name)?.block, &stamp)?;
    }
    Ok(copy)
}

/// A kernel that asks nobody and writes, for what a person does with the faces.
pub async fn for_changing(data: &DataDir) -> Result<Kernel, Failure> {
    let config = KernelConfig {
        data: Some(data.path().to_owned()),
        settings: settings(data).map_err(Error::failure)?,
        ..KernelConfig::default()
    };
    let store = data.for_writing().map_err(Error::failure)?;
    open(config, store, Arc::new(OfflineBrain)).await
}

async fn open(
    config: KernelConfig,
    store: Box<dyn BlockStore>,
    brain: Arc<dyn Brain>,
) -> Result<Kernel, Failure> {
    let opened = Kernel::open(
        config,
        Arc::from(store),
        brain,
        Arc::new(StubCompiler),
        Arc::new(NoHost),
        Arc::new(SystemClock::new()),
    );
    opened.await.map_err(|error| Error::from(error).failure())
}

/// `hermitcrab.toml` of the data directory, else what the program has.
pub fn settings(data: &DataDir) -> Result<Settings, Error> {
    let path = data.path().join("hermitcrab.toml");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Settings::default());
        }
        Err(source) => return Err(Error::Read { path, source }),
    };
    Settings::parse(&text).map_err(|source| Error::Settings { path, source })
}

/// Whether a cap in dollars means something.
fn sends_bills(flags: &ModelFlags) -> bool {
    flags.provider.is_none_or(ProviderName::sends_bills)
}

/// Who thinks, and the settings with the models that are asked.
fn brain(
    flags: &ModelFlags,
    kernel: &KernelFlags,
    settings: Settings,
    data: &DataDir,
    session: &Session,
) -> Result<(Arc<dyn Brain>, Settings, Redactor), Failure> {
    let keys = data.path().join(key::FILE);
    if keys.is_file() {
        load_env_file(keys).map_err(Failure::usage)?;
    }
    let no_fallback = FallbackOn {
        overloaded: false,
        rate_limited: false,
        connect: false,
        timeout: false,
        server: false,
        model_unavailable: false,
        refusal: false,
    };
    let models = settings.model_table(flags.provider.unwrap_or(DEFAULTS.provider).as_str());
    let seed = kernel.seed.seed;
    let specs = settings.models.iter().chain([&settings.fast]);
    let versions = specs
        .filter_map(|spec| Some((spec.id.clone(), spec.api_version?)))
        .collect();
    let opened = flags.open_versions(&DEFAULTS, &versions, seed, session, |client| {
        // The kernel keeps the caps: with two reckonings of one cap nobody could say why a request is refused.
        client
            .fallback_on(no_fallback)
            .models(models)
            .budget(Budget::default())
    })?;
    let Model::Client {
        client,
        model,
        provider,
        redactor,
        ..
    } = opened
    else {
        return Ok((Arc::new(OfflineBrain), settings, Redactor::default()));
    };
    let settings = if flags.model.is_none() && provider == DEFAULTS.provider {
        settings
    } else {
        only(model, settings)
    };
    let brain = LlmBrain::new(client, provider.as_str(), &settings);
    Ok((Arc::new(brain), settings, redactor))
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

/// `g0.json`, which an empty store takes over.
fn earlier_generation(data: &DataDir) -> Result<Option<String>, Failure> {
    let path = data.earlier();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read { path, source }.failure()),
    }
}
