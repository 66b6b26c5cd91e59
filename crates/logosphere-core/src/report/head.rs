//! The top of the page: the result and its caveats.

use report_kit::{Cell, Section, Status};

use super::data::ReportData;
use super::facts::RunEnd;
use super::shown::{counted, percent};
use crate::config::Scheduling;
use crate::format::{Note, without_signature};

/// The smallest number of answers for a warning about losses.
const ENOUGH: u64 = 20;
/// The share of lost answers above which a warning is shown.
const MANY: f64 = 0.1;

pub(super) fn title(data: &ReportData) -> String {
    let settings = &data.facts.settings;
    let minds = counted(settings.n_minds.into(), "mind", "minds");
    let rounds = counted(data.transcript.rounds.len() as u64, "round", "rounds");
    let offline = if data.facts.start.offline {
        " (offline)"
    } else {
        ""
    };
    format!("Logosphere: {minds}, {rounds}, {}{offline}", who(data))
}

/// Returns the name of the model or scripted mind.
fn who(data: &ReportData) -> &str {
    let settings = &data.facts.settings;
    match &settings.mind {
        Some(mind) if data.facts.start.offline => mind,
        _ => &settings.model,
    }
}

/// Returns the result in a few sentences.
pub(super) fn lead(data: &ReportData) -> String {
    let (facts, run) = (&data.facts, &data.transcript);
    let written = (run.messages.len() - run.seeds) as u64;
    let mut sentences: Vec<_> = data.analysis.sentence().into_iter().collect();
    sentences.push(format!(
        "{} to {} added {} to a pool of {}.",
        counted(facts.answers(), "answer", "answers"),
        counted(run.calls.len() as u64, "call", "calls"),
        counted(written, "message", "messages"),
        counted(run.seeds as u64, "seed", "seeds"),
    ));
    if written > 0 {
        let summary = &data.analysis.lineage;
        sentences.push(format!(
            "{} of the messages descend from no message that was read; the longest line of descent has {}.",
            percent(summary.innovations as u64, written),
            counted(summary.deepest.into(), "step", "steps"),
        ));
    }
    sentences.push(match data.analysis.seed_exit.all {
        Some(round) => format!("No seed could be read any more from the end of round {round} on."),
        None if run.seeds == 0 => "There were no seeds.".to_owned(),
        None => "Some seeds could be read to the end.".to_owned(),
    });
    sentences.join(" ")
}

/// Returns the section with caveats; `None` without any.
pub(super) fn caveats(data: &ReportData) -> Option<Section> {
    let notices = notices(data);
    let section = Section::new("Caveats").anchor("caveats");
    (!notices.is_empty()).then(|| {
        let notices = notices.into_iter();
        notices.fold(section, |section, (tone, text)| section.notice(tone, text))
    })
}

fn notices(data: &ReportData) -> Vec<(Status, String)> {
    let facts = &data.facts;
    let mut notices = Vec::new();
    if facts.start.offline {
        notices.push((
            Status::Info,
            format!(
                "Offline: no model was asked. The program {} answered for the minds, so the results say nothing about models.",
                who(data)
            ),
        ));
    }
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
    notices
}

pub(super) fn facts(data: &ReportData) -> Vec<(&'static str, Cell)> {
    let (facts, run) = (&data.facts, &data.transcript);
    let settings = &facts.settings;
    let scheduling = match settings.scheduling {
        Scheduling::Sequential => "one by one",
        Scheduling::Snapshot => "from a snapshot",
    };
    let end = match &facts.end {
        RunEnd::Ended(reason) => Cell::badge(reason, Status::Good),
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
        ("Model", Cell::text(&settings.model)),
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
