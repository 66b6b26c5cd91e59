//! The protocol meter: how well answers kept to the format, and what was lost.

use report_kit::{Axis, Cell, Plot, Section, Series, Status};

use super::data::ReportData;
use super::facts::RunFacts;
use super::messages::MessageBrowser;
use super::shown::{counted, drawn, filled, percent};
use crate::format::{Note, Reason};
use crate::journal::Protocol;

pub(super) fn section(data: &ReportData, facts: &RunFacts, messages: &MessageBrowser) -> Section {
    let section = Section::new("Parse success").anchor("protocol");
    let meter = &facts.protocol;
    let is_perfect =
        facts.by_model.len() <= 1 && meter.compliant > 0 && meter.tolerated + meter.lost == 0;
    if is_perfect && !meter.by_reason.contains_key(&Reason::CallFailed) && facts.notes.is_empty() {
        let answers = counted(meter.compliant, "answer has", "answers have");
        return section.text(format!(
            "{answers} the form that the system prompt asks for, so none was lost."
        ));
    }
    let section = section.text(format!(
            "{}. An answer is ok when it ends as the system prompt asks, tolerated when it nearly does, and lost when nothing of it was sent because of its form. Calls without an answer are in no share.",
            facts.protocol
        ));
    let section = models(section, facts);
    let section = reasons(section, data, facts, messages);
    let section = notes(section, data, facts, messages);
    match by_round(facts) {
        Some(plot) => section.plot(plot),
        None => section,
    }
}

fn models(section: Section, facts: &RunFacts) -> Section {
    let columns = [
        "Model",
        "Answers",
        "Ok",
        "Tolerated",
        "Lost",
        "Calls without an answer",
    ];
    let minds = facts.settings.minds.as_ref();
    let rows = facts.by_model.iter().map(|((entry, model), protocol)| {
        let answers = answers(protocol);
        let model = match minds {
            Some(_) => format!("{}: {model}", entry + 1),
            None => model.clone(),
        };
        let failed = protocol.by_reason.get(&Reason::CallFailed).copied();
        [
            Cell::text(model),
            answers.into(),
            Cell::text(percent(protocol.compliant, answers)),
            Cell::text(percent(protocol.tolerated, answers)),
            Cell::text(percent(protocol.lost, answers)),
            failed.unwrap_or(0).into(),
        ]
    });
    filled(section, "By model", columns, rows)
}

fn answers(protocol: &Protocol) -> u64 {
    protocol.compliant + protocol.tolerated + protocol.lost
}

fn reasons(
    section: Section,
    data: &ReportData,
    facts: &RunFacts,
    messages: &MessageBrowser,
) -> Section {
    let calls = data.transcript.calls.len() as u64;
    let rows = facts.protocol.by_reason.iter().map(|(reason, count)| {
        let tone = match reason {
            Reason::Ok => Status::Good,
            Reason::Silence => Status::Neutral,
            reason if reason.is_loss() => Status::Bad,
            _ => Status::Caution,
        };
        let example = data
            .transcript
            .calls
            .iter()
            .position(|call| call.reason == *reason);
        [
            Cell::badge(reason.to_string(), tone),
            (*count).into(),
            Cell::text(percent(*count, calls)),
            Cell::text(meaning(*reason)),
            example.map_or(Cell::Missing, |call| messages.link_call(data, call)),
        ]
    });
    let columns = ["Reason", "Calls", "Share", "Meaning", "Example"];
    filled(section, "Outcome of each call", columns, rows)
}

fn meaning(reason: Reason) -> &'static str {
    match reason {
        Reason::Ok => "messages were sent",
        Reason::Silence => "properly ended, without a message",
        Reason::EmptyOutput => "no text",
        Reason::NoDelimiter => "no delimiter line",
        Reason::Unterminated => "no blank block ends it",
        Reason::Truncated => "cut off by the token limit",
        Reason::Impersonation => "signed as the seeds are, and discarded",
        Reason::CallFailed => "no answer",
        Reason::SilenceWithText => {
            "no message was sent; there was text after the end, or messages over the cap"
        }
        Reason::Refusal => "refused by the model, or stopped by a filter",
    }
}

fn notes(
    section: Section,
    data: &ReportData,
    facts: &RunFacts,
    messages: &MessageBrowser,
) -> Section {
    let rows = facts.notes.iter().map(|(note, count)| {
        let calls = &data.transcript.calls;
        let example = calls.iter().position(|call| call.notes.contains(note));
        [
            Cell::text(super::messages::name(note)),
            (*count).into(),
            Cell::text(remark(*note)),
            example.map_or(Cell::Missing, |call| messages.link_call(data, call)),
        ]
    });
    let columns = ["Note", "Answers", "Meaning", "Example"];
    filled(section, "Parser notes", columns, rows)
}

fn remark(note: Note) -> &'static str {
    match note {
        Note::ImitatesSeedStamp => "a message ends with the seeds' stamp, written by hand",
        Note::ImpersonatesInit => "signed as the seeds are",
        Note::InvisibleMessage => "a message of invisible characters alone; sent all the same",
        Note::LenientEnd => "ended by a single last delimiter line",
        Note::NearDelimiter => "a line that may have been meant as a delimiter",
        Note::ReasoningTag => "a message holds <think> or </think>",
        Note::TextAfterEnd => "text after the end that is not a signature; not sent",
        Note::ToleratedDelimiter => "a delimiter line with white space after it",
        Note::TooManyMessages => {
            "more messages than the cap of an answer; the last ones are not sent"
        }
    }
}

/// Returns the plot of the meter by round; `None` if it is constant.
fn by_round(facts: &RunFacts) -> Option<Plot> {
    let share = |part: fn(&Protocol) -> u64| {
        let rounds = drawn(&facts.rounds);
        let points = rounds.filter_map(move |round| {
            let answers = answers(&round.protocol);
            let share = part(&round.protocol) as f64 / answers as f64;
            (answers > 0).then_some((f64::from(round.round), share))
        });
        points.collect::<Vec<_>>()
    };
    let y = Axis::new("share of the answers").percent();
    let parts = [
        ("ok", share(|protocol| protocol.compliant)),
        ("tolerated", share(|protocol| protocol.tolerated)),
        ("lost", share(|protocol| protocol.lost)),
    ];
    let changes = |points: &[(f64, f64)]| {
        points
            .windows(2)
            .any(|pair| (pair[0].1 - pair[1].1).abs() > 1e-9)
    };
    parts.iter().any(|(_, points)| changes(points)).then(|| {
        let plot = Plot::xy("Answers by round", Axis::new("round"), y);
        let parts = parts.into_iter();
        parts.fold(plot, |plot, (name, points)| {
            plot.with(Series::line(name, points))
        })
    })
}
