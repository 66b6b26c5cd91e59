//! The top of the page: the result, its origin and the notices.

use std::collections::BTreeSet;

use report_kit::{Cell, Status};

use super::data::ReportData;
use super::facts::{RunEnd, RunFacts};
use super::shown::{counted, percent};
use crate::config::Scheduling;
use crate::format::{Note, without_signature};

/// The smallest number of answers for a warning about losses.
const ENOUGH: u64 = 20;
/// The share of lost answers above which a warning is shown.
const MANY: f64 = 0.1;

pub(super) fn title(data: &ReportData, facts: &RunFacts) -> String {
    let settings = &facts.settings;
    let minds = counted(settings.n_minds.into(), "mind", "minds");
    let rounds = counted(data.transcript.rounds.len() as u64, "round", "rounds");
    format!("Logosphere: {minds}, {rounds}, {}", who(facts))
}

/// Returns the names of the models or scripted minds.
fn who(facts: &RunFacts) -> String {
    let mut names = facts.settings.mind_names();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names.join(", ")
}

/// Returns the result in a few sentences.
pub(super) fn lead(data: &ReportData, facts: &RunFacts) -> String {
    let run = &data.transcript;
    let written = (run.messages.len() - run.seeds) as u64;
    let mut sentences: Vec<_> = data.analysis.sentence().into_iter().collect();
    sentences.push(format!(
        "{} to {} added {} to a pool of {}.",
        counted(facts.answers(), "answer", "answers"),
        counted(run.calls.len() as u64, "call", "calls"),
        counted(written, "message", "messages"),
        counted(run.seeds as u64, "seed", "seeds"),
    ));
    sentences.join(" ")
}

/// Returns the label of origin.
pub(super) fn origin(facts: &RunFacts) -> (Status, String) {
    let text = if facts.start.offline {
        format!(
            "Offline: no model was asked. The program {} answered for the minds, so the results say nothing about models.",
            who(facts)
        )
    } else {
        let day = facts.began.split('T').next().unwrap_or_default();
        format!(
            "Recorded from {} through {} on {day}.",
            who(facts),
            facts.start.provider
        )
    };
    (Status::Info, text)
}

/// Returns the notices, the most important one first.
pub(super) fn notices(data: &ReportData, facts: &RunFacts) -> Vec<(Status, String)> {
    let mut notices = Vec::new();
    match &facts.end {
        RunEnd::Ended(_) => {}
        RunEnd::Interrupted(stop) => notices.push((
            Status::Caution,
            format!(
                "The run was interrupted before mind {} of round {} ({}): {}. `logosphere resume` continues it.",
                stop.next_mind, stop.round, stop.cause.as_str(), stop.detail
            ),
        )),
        RunEnd::Open => notices.push((
            Status::Caution,
            "The journal has no end event: the run is in progress or was killed.".to_owned(),
        )),
    }
    let (answers, lost) = (facts.answers(), facts.protocol.lost);
    if answers >= ENOUGH && lost as f64 > MANY * answers as f64 {
        let losses = facts.protocol.losses();
        let most = losses.first().map_or_else(String::new, |(reason, count)| {
            format!(", most often as {reason} ({count})")
        });
        notices.push((
            Status::Bad,
            format!(
                "{} of the answers were lost{most}. Read an example first: these minds do not keep to the format.",
                percent(lost, answers)
            ),
        ));
    }
    if facts.suspects > 0 {
        notices.push((
            Status::Caution,
            format!(
                "{} may have been meant as messages: they hold a line that is nearly a delimiter.",
                counted(facts.suspects, "silence", "silences")
            ),
        ));
    }
    let failed: u64 = facts.failures.values().sum();
    if failed > 0 {
        let kinds: Vec<_> = (facts.failures.iter())
            .map(|(class, count)| format!("{class} {count}"))
            .collect();
        notices.push((
            Status::Caution,
            format!(
                "{} failed for good ({}).",
                counted(failed, "call", "calls"),
                kinds.join(", ")
            ),
        ));
    }
    if let Some(count) = facts.notes.get(&Note::ImpersonatesInit) {
        notices.push((
            Status::Info,
            format!(
                "{} signed as the seeds are.",
                counted(*count, "answer was", "answers were")
            ),
        ));
    }
    let seeds = data.transcript.messages.iter().take(data.transcript.seeds);
    if seeds
        .clone()
        .any(|seed| without_signature(&seed.text) != seed.text)
    {
        notices.push((
            Status::Info,
            format!(
                "The seeds carry the stamp {}, by design: minds can tell them from what others wrote.",
                facts.start.init_signature
            ),
        ));
    }
    let rank = |tone| match tone {
        Status::Bad => 0,
        Status::Caution => 1,
        _ => 2,
    };
    notices.sort_by_key(|(tone, _)| rank(*tone));
    notices
}

/// Returns the reason of an end in words.
fn ended(reason: &str) -> &str {
    match reason {
        "max_rounds" => "all rounds done",
        "silence_rounds" => "too many silent rounds",
        "loss_above" => "too many lost answers",
        "fixed_pool" => "no text could change any more",
        other => other,
    }
}

pub(super) fn facts(data: &ReportData, facts: &RunFacts) -> Vec<(&'static str, Cell)> {
    let run = &data.transcript;
    let settings = &facts.settings;
    let scheduling = match settings.scheduling {
        Scheduling::Sequential => "one by one",
        Scheduling::Snapshot => "from a snapshot",
    };
    let end = match &facts.end {
        RunEnd::Ended(reason) => Cell::badge(ended(reason), Status::Good),
        RunEnd::Interrupted(stop) => Cell::badge(
            format!("interrupted: {}", stop.cause.as_str()),
            Status::Caution,
        ),
        RunEnd::Open => Cell::badge("open", Status::Caution),
    };
    let mut shown = vec![
        ("Protocol", Cell::text(facts.protocol.to_string())),
        ("End", end),
        ("Minds (N)", settings.n_minds.into()),
        ("Messages read per call (K)", settings.k_samples.into()),
        ("Readable messages (M)", settings.m_active_pool.into()),
        ("Minds read", Cell::text(scheduling)),
        ("Provider", Cell::text(&facts.start.provider)),
        ("Model", Cell::text(who(facts))),
        ("Messages", run.messages.len().into()),
        (
            "Tokens",
            (facts.rules())
                .add_tokens(facts.tokens.prompt, facts.tokens.completion)
                .into(),
        ),
        ("Dollars", super::shown::number(facts.cost_usd, 4)),
        ("Seed", settings.seed.into()),
        ("Began", Cell::text(&facts.began)),
        ("Last event", Cell::text(&facts.ended)),
    ];
    if facts.resumed > 0 {
        shown.push((
            "Resumed",
            Cell::text(counted(facts.resumed, "time", "times")),
        ));
    }
    shown
}
