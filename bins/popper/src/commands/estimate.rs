//! The command `popper estimate`: the calls and the cost of a run, before anything is sent.

use std::io::Write as _;

use bin_support::model::{ProviderName, price_table};
use bin_support::{Exit, Failure, Session, escape};
use llm_client::models::Model;
use llm_client::{ModelTable, Usage, Usd};
use popper_discovery::EnumerativeProposer;
use popper_discovery::llm::LlmProposer;
use popper_discovery::status::RunStatus;
use popper_discovery::store::{RunRow, Store as _};
use popper_harness::decide::Harness;
use popper_store::Access;
use serde::Serialize;

use crate::discovery::database::{self, failure};
use crate::discovery::settings::Settings;
use crate::flags::{LocationFlags, ProposerName, RunOptions};
use crate::json;
use crate::location::StoreLocation;

/// The tokens of a prompt and of a law in a reply, where no call of the run has been measured.
const PROMPT: u64 = 6_000;
const LAW: u64 = 200;

#[derive(Debug, clap::Args)]
pub struct EstimateArgs {
    #[command(flatten)]
    pub location: LocationFlags,
    /// Number of a run that would be continued.
    #[arg(long, value_name = "ID")]
    pub run_id: Option<i64>,
    #[command(flatten)]
    pub work: RunOptions,
}

/// The calls and the cost of a run.
#[derive(Debug, Serialize)]
struct Estimate {
    /// The model; `None` if none is asked.
    model: Option<String>,
    provider: String,
    /// The number of iterations that are left.
    iterations: u64,
    calls_expected: u64,
    prompt_tokens_expected: u64,
    reply_tokens_expected: u64,
    /// `None` if the prices of the model are not known.
    usd_expected: Option<String>,
    calls_at_most: u64,
    usd_at_most: Option<String>,
    /// The source of the expected numbers.
    basis: String,
    prices_of: String,
}

/// The means of the calls of a run.
struct CallProfile {
    /// The number of calls for the iterations that are left.
    calls: u64,
    prompt: u64,
    reply: u64,
    basis: String,
}

pub async fn execute(args: &EstimateArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.location.location(session)?;
    let work = &args.work;
    work.check(&location)?;
    let flags = &work.model;
    let known = known_run(args, &location).await?;
    // A run that is not named is continued only if the flags describe it.
    let named = known.as_ref().map(|(run, _)| run);
    let named = named.filter(|_| args.run_id.is_some());
    let config = named.map(database::config).transpose()?;
    let settings = Settings::new(work, config.as_ref())?;
    let proposer = named.map(|run| run.discovery_model_id.as_str());
    let (enumerates, stored) = match proposer {
        Some(EnumerativeProposer::ID) => (work.proposer.is_none() && flags.model.is_none(), None),
        other => (false, other),
    };
    let is_offline = enumerates
        || work.proposer == Some(ProposerName::Enumerative)
        || flags.provider == Some(ProviderName::Offline);
    let model = flags.model.as_deref().or(stored);
    let model = model.unwrap_or(LlmProposer::DEFAULT_MODEL).to_owned();
    let provider = flags.provider.unwrap_or(ProviderName::Anthropic);
    let estimate = if is_offline {
        Estimate::offline(u64::from(work.total(config.as_ref())))
    } else {
        let known = known.as_ref();
        let known = known.filter(|(_, status)| continues(status, &settings.harness, &model));
        let config = known.map(|(run, _)| database::config(run)).transpose()?;
        let total = work.total(config.as_ref());
        let status = known.map(|(_, status)| status);
        estimate(work, &settings, total, provider, model, status)?
    };
    if work.json {
        json::print(&estimate, &mut session.results)?;
    } else {
        session.results.write_all(estimate.text().as_bytes())?;
    }
    Ok(Exit::Done)
}

/// Returns the run that would be continued, if the database exists.
async fn known_run(
    args: &EstimateArgs,
    location: &StoreLocation,
) -> Result<Option<(RunRow, RunStatus)>, Failure> {
    let is_absent = location.file().is_some_and(|path| !path.exists());
    if is_absent && args.run_id.is_none() {
        return Ok(None);
    }
    let mut store = database::open(location, Access::Read).await?;
    let runs = store.runs().await.map_err(failure)?;
    let asked = args.run_id.map(|id| id.to_string());
    if runs.is_empty() && asked.is_none() {
        return Ok(None);
    }
    let run = database::pick_silently(runs, asked.as_deref())?;
    let status = RunStatus::read(&mut store, &run).await.map_err(failure)?;
    Ok(Some((run, status)))
}

/// Whether the flags continue this run.
fn continues(status: &RunStatus, harness: &Harness, model: &str) -> bool {
    status.proposer == model
        && status.sim_hash == harness.sim_hash()
        && status.harness_config_hash == harness.config_hash()
}

fn estimate(
    work: &RunOptions,
    settings: &Settings,
    total: u32,
    provider: ProviderName,
    model: String,
    status: Option<&RunStatus>,
) -> Result<Estimate, Failure> {
    let done = status.map_or(0, |status| status.iterations);
    let iterations = u64::from(total.saturating_sub(done));
    let profile = CallProfile::new(iterations, settings.discovery.propose as u64, status);
    let (prompt, reply) = (
        profile.calls * profile.prompt,
        profile.calls * profile.reply,
    );
    let calls_at_most = iterations * (1 + u64::from(settings.discovery.repairs));
    let table = price_table(work.prices.as_deref())?;
    let known = table.find(provider.as_str(), &model);
    let known = if work.half_price {
        known.and_then(Model::in_batches)
    } else {
        known.cloned()
    };
    let known = known.as_ref();
    let is_free = !provider.is_billable();
    let times = |usd: Usd, calls: u64| {
        let nano = usd.0.checked_mul(i64::try_from(calls).ok()?)?;
        Some(Usd(nano))
    };
    let expected = known.and_then(|known| {
        let mut usage = Usage::default();
        (usage.input, usage.output) = (profile.prompt, profile.reply);
        times(known.cost(&usage)?, profile.calls)
    });
    let at_most = known.and_then(|known| {
        let reply = u64::from(LlmProposer::MAX_TOKENS);
        let prompt = known.context?.saturating_sub(reply);
        times(known.max_cost(prompt, reply)?, calls_at_most)
    });
    let capped = match (at_most, work.model.max_usd) {
        (Some(most), Some(cap)) => Some(most.min(cap)),
        (most, cap) => most.or(cap),
    };
    let free = is_free.then_some(Usd::ZERO);
    let shown = |usd: Option<Usd>| free.or(usd).map(|usd| usd.to_string());
    Ok(Estimate {
        provider: provider.to_string(),
        iterations,
        calls_expected: profile.calls,
        prompt_tokens_expected: prompt,
        reply_tokens_expected: reply,
        usd_expected: shown(expected),
        calls_at_most,
        usd_at_most: shown(capped),
        basis: profile.basis,
        prices_of: table.as_of().to_string(),
        model: Some(model),
    })
}

impl CallProfile {
    fn new(iterations: u64, laws: u64, status: Option<&RunStatus>) -> Self {
        let measured = status.and_then(|status| {
            let cost = &status.cost;
            let counted = cost.calls.checked_sub(cost.calls_without_tokens)?;
            let calls = (cost.calls * iterations).checked_div(u64::from(status.iterations))?;
            Some(Self {
                calls: calls.max(iterations),
                prompt: cost.input_tokens.checked_div(counted)?,
                reply: cost.output_tokens.checked_div(counted)?,
                basis: format!("measured in run {}", status.run_id),
            })
        });
        measured.unwrap_or_else(|| Self {
            calls: iterations,
            prompt: PROMPT,
            reply: laws * LAW,
            basis: format!(
                "assumed: a call an iteration, {PROMPT} tokens a prompt, {LAW} for each of {laws} laws"
            ),
        })
    }
}

impl Estimate {
    /// The estimate of a run that asks no model.
    fn offline(iterations: u64) -> Self {
        let free = Some(Usd::ZERO.to_string());
        Self {
            model: None,
            provider: ProviderName::Offline.to_string(),
            iterations,
            calls_expected: 0,
            prompt_tokens_expected: 0,
            reply_tokens_expected: 0,
            usd_expected: free.clone(),
            calls_at_most: 0,
            usd_at_most: free,
            basis: "no model is asked".to_owned(),
            prices_of: ModelTable::embedded().as_of().to_string(),
        }
    }

    fn text(&self) -> String {
        let iterations = match self.iterations {
            1 => "1 iteration".to_owned(),
            some => format!("{some} iterations"),
        };
        let Some(model) = &self.model else {
            return format!("{iterations}: no model is asked, $0.00; nothing was sent\n");
        };
        let unknown = || "price not known".to_owned();
        let calls = match self.calls_expected {
            1 => "1 call".to_owned(),
            some => format!("{some} calls"),
        };
        format!(
            "{iterations} with {} {}: {calls} expected, {} at most\n\
             expected: {} ({} tokens of prompts, {} of replies; {})\n\
             at most:  {}\n\
             prices of {}; nothing was sent\n",
            self.provider,
            escape(model),
            self.calls_at_most,
            self.usd_expected.clone().unwrap_or_else(unknown),
            self.prompt_tokens_expected,
            self.reply_tokens_expected,
            self.basis,
            self.usd_at_most.clone().unwrap_or_else(unknown),
            self.prices_of,
        )
    }
}
