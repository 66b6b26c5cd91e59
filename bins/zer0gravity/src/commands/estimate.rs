//! `zer0gravity estimate`: how many calls a run would make and what they can cost at most, before anything is sent.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::model::{ProviderName, price_table};
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Output, Session, escape};
use llm_client::Usd;
use serde::Serialize;
use zer0gravity_engine::model::ModelLabel;
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::run::{
    CallCounts, CallTokens, DirectoryError, Estimate, JUDGE_REPLY_TOKENS, PlannedCall,
};
use zer0gravity_engine::store::StoreError;
use zer0gravity_engine::{OfflineModel, Tokenizers};

use crate::error::{self, Error};
use crate::flags::{MatrixModels, Repeats, RoleFlags, Texts};
use crate::output::{self, Versioned};
use crate::selection::Selected;
use crate::{model, run_dir, selection, setup};

/// The calls and the cost of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Estimated {
    /// The first encoder model.
    model: String,
    /// All encoder and decoder models, if there are several pairs of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<String>,
    experiments: u64,
    calls: CallCounts,
    /// Upper bound for the prompts: a public tokenizer's count, with the longest encoded and decoded texts.
    prompt_tokens_at_most: u64,
    /// Upper bound for the replies: each at its limit.
    reply_tokens_at_most: u64,
    /// The price of both bounds; `None` if the model's prices are not known.
    usd_at_most: Option<String>,
    /// Expected prompts: encoded and decoded texts as long as the originals, 120 tokens per judge; or replies as in another run.
    prompt_tokens_expected: u64,
    reply_tokens_expected: u64,
    usd_expected: Option<String>,
    /// The run whose replies tell how long replies will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    like: Option<String>,
    prices_of: String,
}

impl Estimated {
    /// The models, for people.
    fn named(&self) -> String {
        match self.models.as_slice() {
            [] => self.model.clone(),
            models => models.join(", "),
        }
    }

    fn text(&self) -> String {
        if self.model == OfflineModel::NAME {
            let experiments = self.experiments;
            return format!(
                "{experiments} experiments: no model is asked, $0.00; nothing was sent\n"
            );
        }
        let unknown = || format!("price of {} not known", self.named());
        let calls = &self.calls;
        let expected = match &self.like {
            None => {
                format!("if a text stays as long as it is and a judge writes {JUDGE_REPLY_TOKENS}")
            }
            Some(run) => format!("if replies are as long as in {}", escape(run)),
        };
        format!(
            "{} experiments, {} calls: {} counts, {} encodings, {} decodings, {} judgements, {} executions\n\
             expected: {} ({} tokens of prompts, {} of replies, {expected})\n\
             at most:  {} ({} tokens of prompts, {} of replies)\n\
             model: {}, prices of {}; nothing was sent\n",
            self.experiments,
            calls.total,
            calls.count,
            calls.encode,
            calls.decode,
            calls.judge_semantic + calls.judge_implementability + calls.judge_own,
            calls.execute,
            self.usd_expected.clone().unwrap_or_else(unknown),
            self.prompt_tokens_expected,
            self.reply_tokens_expected,
            self.usd_at_most.clone().unwrap_or_else(unknown),
            self.prompt_tokens_at_most,
            self.reply_tokens_at_most,
            self.named(),
            self.prices_of,
        )
    }
}

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity estimate --level 1
  zer0gravity estimate --all --trials 3";

#[derive(Debug, clap::Args)]
pub struct EstimateArgs {
    /// Files with encoding systems [default: the built-in rules].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub encoding: Vec<PathBuf>,
    #[command(flatten)]
    pub texts: Texts,
    /// Run whose replies give the expected lengths, by their roles: its folder or its name in experiments/.
    #[arg(long, value_name = "RUN")]
    pub like: Option<PathBuf>,
    /// Print the estimate as JSON.
    #[arg(long)]
    pub json: bool,
    /// Use the prices of batches.
    #[arg(long, hide_short_help = true)]
    pub batch: bool,
    #[command(flatten)]
    pub repeats: Repeats,
    #[command(flatten)]
    pub asking: RoleFlags,
    #[command(flatten)]
    pub crossed: MatrixModels,
}

pub fn execute(args: &EstimateArgs, session: &mut Session) -> Result<Exit, Failure> {
    let encodings = selection::encodings(&args.encoding).map_err(Failure::usage)?;
    let asking = &args.asking;
    let Selected { cases, .. } = selection::texts(
        &args.texts,
        &args.encoding,
        asking.skip_bad,
        asking.allow_long,
        session,
    )?;
    let provider = asking.model.provider.unwrap_or(ProviderName::Anthropic);
    let is_offline = provider == ProviderName::Offline;
    let model = match &asking.model.model {
        _ if is_offline => OfflineModel::NAME.to_owned(),
        None => model::DEFAULT_MODEL.to_owned(),
        Some(model) => model.clone(),
    };
    let is_sampled = asking
        .temperature
        .or(asking.judging.judge_temperature)
        .is_some();
    if is_offline && is_sampled {
        return Err(Failure::usage(Error::OfflineTemperature));
    }
    let others = setup::further_models(asking, &args.crossed);
    let mut online = others
        .iter()
        .filter(|(_, model)| *model != OfflineModel::NAME);
    if let Some((flag, _)) = online.next().filter(|_| is_offline) {
        return Err(Failure::usage(Error::OfflineRole { flag }));
    }
    let label = ModelLabel::new(provider.to_string(), "");
    let config = setup::config(asking, &args.crossed, &args.repeats, label, &model)?;
    let table = price_table(asking.prices.as_deref())?;
    let known =
        |call: &PlannedCall| model::priced(&table, provider.as_str(), &call.model, args.batch);
    let at_most = |call: &PlannedCall| {
        let CallTokens { prompt, reply, .. } = call.at_most;
        known(call)?.max_cost(prompt, reply)
    };
    let expected = |call: &PlannedCall| {
        let CallTokens { prompt, reply, .. } = call.expected;
        let model = known(call)?;
        let price = model.price(prompt)?;
        // Prices are those of a million tokens.
        let of = |tokens: u64, price: Usd| price.0.checked_mul(i64::try_from(tokens).ok()?);
        let sum = of(prompt, price.input)?.checked_add(of(reply, price.output)?)?;
        Some(Usd(sum / 1_000_000))
    };
    let model = config.models.encoder.clone();
    let models = setup::crossed_models(&config);
    let plan = Plan::new(encodings, cases, config);
    let mut planned = Estimate::of(&plan, &Tokenizers::default());
    let like_run = RunArg::from(args.like.clone());
    let like_run = args
        .like
        .is_some()
        .then(|| run_dir::folder(&like_run, session));
    let like_run = like_run.transpose()?;
    if let Some(run) = &like_run {
        planned = planned.like(run).map_err(like)?;
    }
    let most = planned.tokens(|call| call.at_most);
    let probable = planned.tokens(|call| call.expected);
    let usd = |usd: Option<Usd>| {
        let usd = if is_offline { Some(Usd::ZERO) } else { usd };
        usd.map(|usd| usd.to_string())
    };
    let estimated = Estimated {
        experiments: planned.experiments,
        prompt_tokens_at_most: most.prompt,
        reply_tokens_at_most: most.reply,
        usd_at_most: usd(planned.usd(at_most)),
        prompt_tokens_expected: probable.prompt,
        reply_tokens_expected: probable.reply,
        usd_expected: usd(planned.usd(expected)),
        calls: planned.calls,
        like: like_run.map(|run| run.display().to_string()),
        model,
        models,
        prices_of: table.as_of().to_string(),
    };
    if args.json {
        output::json(Output::Stdout, &Versioned::new(&estimated), session)?;
    } else {
        session.results.write_all(estimated.text().as_bytes())?;
    }
    Ok(Exit::Done)
}

/// A run whose replies cannot be read is a fault of the command line.
fn like(error: DirectoryError) -> Failure {
    Failure::usage(match error {
        DirectoryError::Calls(StoreError::Io { path, source, .. }) => Error::Read { path, source },
        DirectoryError::Calls(StoreError::BadLine { path, message, .. }) => Error::Form {
            path,
            what: "calls",
            message,
        },
        DirectoryError::NoReplies { path } => Error::NoReplies { path },
        other => return error::directory(other),
    })
}
