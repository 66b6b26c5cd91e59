//! The estimate of a run, for `estimate` and the start of a run. Nothing is sent or written.

use std::io::Write as _;
use std::path::Path;

use bin_support::model::{ProviderName, price_table};
use bin_support::{Exit, Failure, Session, escape};
use llm_client::{ModelTable, Usd};
use logosphere_core::config::{Layer, MindEntry};
use logosphere_core::experiment::{
    AnswerProfile, Estimate, Experiment, ExperimentError, TokenPrices,
};
use logosphere_core::{Settings, Transcript};
use serde::Serialize;

use crate::flags::SettingFlags;
use crate::journal_file;
use crate::population::{DEFAULTS, asks_no_model, place_minds};
use crate::setup::{changes, failure, seeds, template};

/// Returns the estimate of a run in a directory that may not exist; without one, of a new run.
///
/// `answer_tokens` is the length of an answer if no run has measured it.
pub fn of_run(
    directory: Option<&Path>,
    flags: &SettingFlags,
    answer_tokens: Option<u32>,
    session: &Session,
) -> Result<EstimateView, Failure> {
    let experiment = match directory.map(Experiment::open) {
        None | Some(Err(ExperimentError::Missing { .. })) => None,
        Some(opened) => Some(opened.map_err(failure)?),
    };
    let table = price_table(flags.changeable.prices.as_deref())?;
    let (settings, run) = settings(experiment.as_ref(), flags, session)?;
    let seeds = match (&run, &experiment) {
        (Some(_), _) => Vec::new(),
        (None, Some(experiment)) => {
            let bytes = experiment.read_init().map_err(failure)?;
            stored(&experiment.init(), &bytes, &settings, session)?
        }
        (None, None) => {
            let (path, bytes) = template()?;
            stored(&path, &bytes, &settings, session)?
        }
    };
    Ok(EstimateView::new(
        settings,
        &seeds,
        run.as_ref(),
        answer_tokens,
        &table,
    ))
}

/// Returns the estimate of a run that is about to begin, in one line. `stored` are the lengths of its seed messages in
/// bytes.
pub fn brief(
    settings: &Settings,
    stored: &[usize],
    price_file: Option<&Path>,
) -> Result<String, Failure> {
    let table = price_table(price_file)?;
    let told = EstimateView::new(settings.clone(), stored, None, None, &table);
    let (whole, longest) = (&told.forecast.whole, &told.forecast.longest);
    let cost = match (told.offline, longest.usd) {
        (true, _) => String::new(),
        (_, Some(most)) => format!(", ${most:.4} at most"),
        _ => ", at a price that is not known".to_owned(),
    };
    Ok(format!(
        "estimate  {} calls, about {} tokens in and {} out{cost}{}",
        whole.calls,
        whole.prompt_tokens,
        whole.completion_tokens,
        assumed(&told)
    ))
}

/// Returns the assumption of an estimate before a run has measured the answers.
fn assumed(told: &EstimateView) -> String {
    let answers = &told.forecast.answers;
    if told.offline || answers.measured {
        return String::new();
    }
    let known = match told.forecast.done.calls {
        0 => "no run yet".to_owned(),
        _ => format!("fewer than {} rounds yet", AnswerProfile::ENOUGH_ROUNDS),
    };
    format!(", if an answer has {:.0} tokens ({known})", answers.tokens)
}

/// An estimate with the settings that it is for.
#[derive(Serialize)]
pub struct EstimateView {
    schema_version: u32,
    provider: String,
    model: String,
    offline: bool,
    minds: u32,
    rounds: u32,
    #[serde(skip)]
    settings: Settings,
    #[serde(flatten)]
    forecast: Estimate,
    /// The date of the prices.
    prices_of: Option<String>,
}

/// Returns the settings of a run, and the run if it has begun.
fn settings(
    experiment: Option<&Experiment>,
    flags: &SettingFlags,
    session: &Session,
) -> Result<(Settings, Option<Transcript>), Failure> {
    let begun = match experiment {
        Some(experiment) => experiment.begun().map_err(failure)?,
        None => None,
    };
    let given = match (&begun, experiment) {
        (Some(run), _) => Layer::of(run.state.settings()),
        (None, Some(experiment)) => {
            let config = experiment.read_config().map_err(failure)?;
            config.map(|file| file.layer).unwrap_or_default()
        }
        (None, None) => Layer::default(),
    };
    let mut layer = flags.layer();
    if let Some(run) = &begun {
        // A model can be changed to price another run; every other flag is one of `resume`.
        let kept = layer.clone().with(|layer| {
            (layer.provider, layer.model) = (None, None);
            (layer.mind, layer.minds, layer.api_base_url) = (None, None, None);
        });
        changes(&kept, run.state.settings())?;
    }
    let was_offline = given.provider.as_deref() == Some(ProviderName::Offline.as_str());
    if layer.model.is_some() && layer.provider.is_none() && was_offline {
        // The named model is priced, whichever minds the run had.
        layer.provider = Some(DEFAULTS.provider.to_string());
    }
    layer = layer.over(given);
    place_minds(&mut layer, flags, &session.environment)?;
    if asks_no_model(&layer, &flags.changeable, &session.environment)? {
        session.warn("without a key no model is called, and there is no cost; give --provider to estimate a model");
        layer.provider = Some(ProviderName::Offline.to_string());
    }
    let settings = layer.settings(0).map_err(Failure::usage)?;
    let run = match (begun, experiment) {
        (Some(_), Some(experiment)) => {
            let journal = journal_file::open(&experiment.journal())?;
            Some(Transcript::read(journal).map_err(Failure::usage)?)
        }
        _ => None,
    };
    Ok((settings, run))
}

/// Returns the number of rounds of the calls.
fn rounds_of(forecast: &Estimate, settings: &Settings) -> u32 {
    let calls = forecast.whole.calls;
    let rounds = calls.div_ceil(u64::from(settings.n_minds).max(1));
    u32::try_from(rounds).unwrap_or(u32::MAX)
}

/// Returns the lengths of the seed messages of an `init.md` as the pool stores them.
fn stored(
    path: &Path,
    bytes: &[u8],
    settings: &Settings,
    session: &Session,
) -> Result<Vec<usize>, Failure> {
    let mut notices = Vec::new();
    let init = seeds(path, bytes, settings, &mut notices)?;
    for notice in notices {
        session.warn(&notice);
    }
    let stored = init.stored(settings.stamp_seeds);
    Ok(stored.map(|seed| seed.len()).collect())
}

/// Returns the provider and the model of each mind.
fn asked(settings: &Settings) -> Vec<(String, String)> {
    let common = || (settings.provider.clone(), settings.model.clone());
    let Some(minds) = &settings.minds else {
        return vec![common()];
    };
    let of_position = |position| match &minds[settings.entry_of(position)] {
        MindEntry::Model(entry) => {
            let provider = entry.provider.as_ref().unwrap_or(&settings.provider);
            (provider.clone(), entry.model.clone())
        }
        MindEntry::Scripted(_) => common(),
    };
    (0..settings.n_minds).map(of_position).collect()
}

/// Returns the estimate of a run with these settings, and the date of its prices.
pub fn priced(
    settings: &Settings,
    seeds: &[usize],
    run: Option<&Transcript>,
    answer_tokens: Option<u32>,
    table: &ModelTable,
) -> (Estimate, Option<String>) {
    let models: Vec<_> = (asked(settings).into_iter())
        .map(|(provider, model)| table.find(&provider, &model))
        .collect();
    // All minds make the same number of calls, so the mean of their prices is that of a call.
    let priced = |longest| {
        let mut mean = TokenPrices {
            prompt: 0.0,
            answer: 0.0,
        };
        for model in &models {
            let price = (*model)?.price(longest)?;
            let share = |usd: Usd| usd.0 as f64 / 1e9 / models.len() as f64;
            mean.prompt += share(price.input);
            mean.answer += share(price.output);
        }
        Some(mean)
    };
    let forecast = Estimate::priced(settings, seeds, run, answer_tokens, priced);
    let read_on = models
        .iter()
        .flatten()
        .filter_map(|model| model.priced_on)
        .min();
    let price = priced(forecast.longest_prompt_tokens);
    let prices_of = price.and(read_on).map(|day| day.to_string());
    (forecast, prices_of)
}

impl EstimateView {
    fn new(
        settings: Settings,
        seeds: &[usize],
        run: Option<&Transcript>,
        answer_tokens: Option<u32>,
        table: &ModelTable,
    ) -> Self {
        // The price may depend on how long prompts are.
        let (forecast, prices_of) = priced(&settings, seeds, run, answer_tokens, table);
        Self {
            schema_version: 1,
            provider: settings.provider.clone(),
            model: settings.mind_names().join(", "),
            offline: settings.is_offline(),
            minds: settings.n_minds,
            // A run with more rounds than these settings ask for counts all its rounds.
            rounds: rounds_of(&forecast, &settings),
            settings,
            forecast,
            prices_of,
        }
    }

    /// Prints the estimate.
    pub fn print(&self, json: bool, session: &mut Session) -> Result<Exit, Failure> {
        if json {
            session.results.json(self)?;
            return Ok(Exit::Done);
        }
        let (told, out) = (&self.forecast, &mut session.results);
        let (whole, longest) = (&told.whole, &told.longest);
        let done = match told.done.calls {
            0 => String::new(),
            calls => format!("; {calls} are done"),
        };
        let (minds, rounds) = (self.minds, self.rounds);
        let calls = whole.calls;
        writeln!(
            out,
            "calls     {calls}: {minds} minds in {rounds} rounds{done}"
        )?;
        let most = |tokens: u64| {
            if self.offline {
                // A program passes on what it reads.
                String::new()
            } else {
                format!(", {tokens} with the longest answers")
            }
        };
        let prompts = most(longest.prompt_tokens);
        writeln!(out, "prompts   {} tokens{prompts}", whole.prompt_tokens)?;
        let answers = most(longest.completion_tokens);
        writeln!(out, "answers   {} tokens{answers}", whole.completion_tokens)?;
        let asked = format!("{} {}", escape(&self.provider), escape(&self.model));
        match (self.offline, whole.usd, longest.usd) {
            (true, ..) => writeln!(out, "cost      none: no model is called")?,
            (_, Some(usd), Some(most)) => {
                let day = (self.prices_of.as_ref()).map_or_else(
                    || ", as charged so far".to_owned(),
                    |day| format!(", prices of {day}"),
                );
                writeln!(
                    out,
                    "cost      ${usd:.4} expected, ${most:.4} at most ({asked}{day})"
                )?;
            }
            _ => writeln!(
                out,
                "cost      unknown: no price for {asked} (--prices FILE)"
            )?,
        }
        let [fast, slow] = told.wall_seconds.map(duration);
        let time = if fast == slow {
            fast
        } else {
            format!("{fast} to {slow}")
        };
        writeln!(
            out,
            "time      {time}{}",
            if told.done.calls > 0 { " more" } else { "" }
        )?;
        let answers = &told.answers;
        writeln!(
            out,
            "assuming  {:.0} tokens and {:.1} messages an answer, {:.1} bytes a token{}",
            answers.tokens,
            answers.messages,
            answers.bytes_per_token,
            if answers.measured {
                ", as measured".to_owned()
            } else {
                assumed(self)
            }
        )?;
        for cap in self.caps() {
            writeln!(out, "cap       {cap} would stop it before its end")?;
        }
        writeln!(out, "nothing was sent")?;
        Ok(Exit::Done)
    }

    /// Returns the caps that are probably reached.
    fn caps(&self) -> Vec<String> {
        let (caps, whole) = (&self.settings.caps, &self.forecast.whole);
        let tokens = whole.prompt_tokens.saturating_add(whole.completion_tokens);
        let seconds = self.forecast.wall_seconds[0];
        let usd = caps
            .max_usd
            .filter(|cap| whole.usd.is_some_and(|usd| usd > *cap));
        let most = caps.max_tokens.filter(|cap| tokens > *cap);
        let wall = caps.max_wall.filter(|cap| seconds > cap.as_secs_f64());
        [
            usd.map(|cap| format!("max_usd {cap}")),
            most.map(|cap| format!("max_tokens {cap}")),
            wall.map(|cap| format!("max_wall {}", cap.as_secs())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Returns a duration: `under 1s`, `45s`, `1m40s`, `2h05m`.
fn duration(seconds: f64) -> String {
    if seconds < 1.0 {
        "under 1s".to_owned()
    } else {
        crate::numbers::time(seconds)
    }
}
