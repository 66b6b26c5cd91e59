//! The protocol meter: how well answers kept to the format, and what was lost.

use report_kit::{Axis, Cell, Plot, Section, Series, Table, Tone};

use super::{Messages, ReportData, drawn, percent};
use crate::{Note, Protocol, Reason};

pub(super) fn section(data: &ReportData, messages: &Messages) -> Section {
    let facts = &data.facts;
    Section::new("Protocol")
        .anchor("protocol")
        .text(format!(
            "{}. An answer is ok when it ends as minds are told, tolerated when it nearly does, and lost when nothing of it was sent because of its form. Calls without an answer are in no share.",
            facts.protocol
        ))
        .table(models(data))
        .table(reasons(data, messages))
        .table(notes(data, messages))
        .plot(by_round(data))
}

fn models(data: &ReportData) -> Table {
    let columns = [
        "Model",
        "Answers",
        "Ok",
        "Tolerated",
        "Lost",
        "Calls without an answer",
    ];
    let rows = data.facts.by_model.iter().map(|(model, protocol)| {
        let answers = answers(protocol);
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
    Table::new("By model", columns).rows(rows)
}

fn answers(protocol: &Protocol) -> u64 {
    protocol.compliant + protocol.tolerated + protocol.lost
}

fn reasons(data: &ReportData, messages: &Messages) -> Table {
    let calls = data.transcript.calls.len() as u64;
    let rows = data.facts.protocol.by_reason.iter().map(|(reason, count)| {
        let tone = match reason {
            Reason::Ok => Tone::Good,
            Reason::Silence => Tone::Neutral,
            reason if reason.is_loss() => Tone::Bad,
            _ => Tone::Caution,
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
    Table::new(
        "What became of each call",
        ["Reason", "Calls", "Share", "Meaning", "Example"],
    )
    .rows(rows)
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
            "ended before its first message; the text after the end is not sent"
        }
        Reason::Refusal => "refused by the model, or stopped by a filter",
    }
}

fn notes(data: &ReportData, messages: &Messages) -> Table {
    let rows = data.facts.notes.iter().map(|(note, count)| {
        let calls = &data.transcript.calls;
        let example = calls.iter().position(|call| call.notes.contains(note));
        [
            Cell::text(super::messages::name(note)),
            (*count).into(),
            Cell::text(remark(*note)),
            example.map_or(Cell::Missing, |call| messages.link_call(data, call)),
        ]
    });
    Table::new(
        "What is remarkable about answers",
        ["Note", "Answers", "Meaning", "Example"],
    )
    .rows(rows)
}

fn remark(note: Note) -> &'static str {
    match note {
        Note::ImitatesSeedStamp => "a message ends with the seeds' stamp, written by hand",
        Note::ImpersonatesInit => "signed as the seeds are",
        Note::InvisibleMessage => "a message of invisible characters alone; sent all the same",
        Note::LenientEnd => "ended by a single last delimiter line",
        Note::NearDelimiter => "a line that may have been meant as a delimiter",
        Note::ReasoningTag => "a message holds <think> or </think>",
        Note::TextAfterEnd => "text behind the end that is no signature; not sent",
        Note::ToleratedDelimiter => "a delimiter line with white space behind it",
    }
}

fn by_round(data: &ReportData) -> Plot {
    let share = |part: fn(&Protocol) -> u64| {
        let rounds = drawn(&data.facts.rounds);
        let points = rounds.filter_map(move |round| {
            let answers = answers(&round.protocol);
            let share = part(&round.protocol) as f64 / answers as f64;
            (answers > 0).then_some((f64::from(round.round), 100.0 * share))
        });
        points.collect::<Vec<_>>()
    };
    let y = Axis::new("% of the answers")
        .including(0.0)
        .including(100.0);
    Plot::xy("Answers by round", Axis::new("round"), y)
        .with(Series::line("ok", share(|protocol| protocol.compliant)))
        .with(Series::line(
            "tolerated",
            share(|protocol| protocol.tolerated),
        ))
        .with(Series::line("lost", share(|protocol| protocol.lost)))
}
