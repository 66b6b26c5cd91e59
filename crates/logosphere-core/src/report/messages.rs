//! The browser of messages and answers.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::ops::Range;

use report_kit::{Browser, Cell, Item, Section, Status, Value};
use serde::Serialize;

use super::data::{ReportData, ReportSource};
use crate::format::{Reason, Spans, is_blank, parse_in_run};
use crate::pool::MessageId;
use crate::verify::MindCall;

/// The largest number of messages and answers of which all are shown, and the number of the first ones of a longer run.
const ALL: usize = 10_000;
const FIRST: usize = 2_000;
/// The largest size of the answers with their descriptions in bytes. A longer run shows its start and its end.
const BUDGET: usize = 4_000_000;
/// The approximate size of an item without its answer in bytes.
const OVERHEAD: usize = 130;
/// The number of children of a message that are shown.
const CHILDREN: usize = 20;

/// The browser of messages, and the index of its items.
pub(super) struct MessageBrowser {
    browser: Browser,
    /// The index of the item of each message.
    places: BTreeMap<MessageId, usize>,
    /// The calls without a message.
    silent: BTreeSet<usize>,
    left_out: usize,
    is_imported: bool,
}

/// An item before the items of its relatives have an index.
enum BrowserItem {
    Message(MessageId),
    /// A call without a message.
    Call(usize),
}

impl MessageBrowser {
    pub(super) fn of(data: &ReportData) -> Self {
        let shown = shown(data);
        let mut places = BTreeMap::new();
        let mut silent = BTreeSet::new();
        for (place, thing) in shown.things.iter().enumerate() {
            match thing {
                BrowserItem::Message(id) => {
                    places.insert(*id, place);
                }
                BrowserItem::Call(call) => {
                    silent.insert(*call);
                }
            }
        }
        let models = (data.facts()).is_some_and(|facts| facts.by_model.len() > 1);
        let mut columns = match data.source {
            ReportSource::Journal(_) => vec!["round", "mind", "reason", "notes"],
            ReportSource::Import { .. } => vec!["round", "author"],
        };
        columns.extend(["read", "comes from", "children"]);
        if models {
            columns.push("model");
        }
        let browser = Browser::new("Messages and answers", columns)
            .status(Status::Info, "thinking")
            .status(Status::Good, "sent")
            .status(Status::Caution, "signature")
            .status(Status::Bad, "not sent");
        let mut filled = Self {
            browser,
            places,
            silent,
            left_out: shown.left_out,
            is_imported: data.facts().is_none(),
        };
        filled.fill(data, &shown.things, models);
        filled
    }

    fn fill(&mut self, data: &ReportData, things: &[BrowserItem], models: bool) {
        let run = &data.transcript;
        let children = children(data);
        // The last answer that was added, and the places of its messages.
        let mut answer: Option<(usize, usize, Vec<Range<usize>>)> = None;
        for thing in things {
            let call = match thing {
                BrowserItem::Message(id) => run.messages[id.index()].call,
                BrowserItem::Call(call) => Some(*call),
            };
            let place = match (thing, call) {
                (BrowserItem::Message(id), Some(call)) if !run.calls[call].raw.is_empty() => {
                    if answer.as_ref().is_none_or(|(last, ..)| *last != call) {
                        let (text, parts) = self.add_answer(data, &run.calls[call]);
                        answer = Some((call, text, parts));
                    }
                    let index = run.calls[call].added.iter().position(|added| added == id);
                    answer.as_ref().map(|(_, text, parts)| {
                        let part = index.and_then(|index| parts.get(index)).cloned();
                        (*text, part.unwrap_or(0..0))
                    })
                }
                (BrowserItem::Message(id), _) => {
                    let text = &run.messages[id.index()].text;
                    let whole = 0..text.len();
                    let number = self.browser.text(text, [(whole.clone(), Status::Good)]);
                    Some((number, whole))
                }
                (BrowserItem::Call(call), _) => {
                    let (text, _) = self.add_answer(data, &run.calls[*call]);
                    Some((text, 0..0))
                }
            };
            let (name, anchor) = match thing {
                BrowserItem::Message(id) => (message_name(data, *id), message_anchor(*id)),
                BrowserItem::Call(call) => {
                    let call = &run.calls[*call];
                    let name = format!("answer {}/{}", call.round, call.mind);
                    (name, format!("a{}-{}", call.round, call.mind))
                }
            };
            let call = call.map(|call| &run.calls[call]);
            let items = |ids: &[MessageId]| {
                Value::Items(
                    ids.iter()
                        .filter_map(|id| self.places.get(id).copied())
                        .collect(),
                )
            };
            let (parents, children) = match thing {
                BrowserItem::Message(id) => {
                    let parents = &data.lineage.nodes()[id.index()].parents;
                    let ids: Vec<_> = parents.iter().map(|parent| parent.id).collect();
                    (items(&ids), items(&children[id.index()]))
                }
                BrowserItem::Call(_) => (Value::Missing, Value::Missing),
            };
            let of_call = |value: &dyn Fn(&MindCall) -> Value| call.map_or(Value::Missing, value);
            let mut values =
                vec![call.map_or(Value::Number(0), |call| Value::Number(call.round.0.into()))];
            match &data.source {
                ReportSource::Journal(_) => values.extend([
                    of_call(&|call| Value::Number(call.mind.0.into())),
                    of_call(&|call| Value::Text(call.reason.to_string())),
                    of_call(&notes),
                ]),
                ReportSource::Import { authors, .. } => {
                    let name = |call: &MindCall| authors.get(call.mind.0 as usize);
                    values.push(of_call(&|call| {
                        name(call).map_or(Value::Missing, |name| Value::Text(name.clone()))
                    }));
                }
            }
            values.extend([of_call(&|call| items(&call.sampled)), parents, children]);
            if models {
                values.push(call.map_or(Value::Missing, |call| Value::Text(call.model.clone())));
            }
            self.browser.item(Item {
                name,
                anchor: Some(anchor),
                place,
                values,
            });
        }
    }

    /// Adds an answer with its parts coloured. Returns its index and the ranges of its messages.
    fn add_answer(&mut self, data: &ReportData, call: &MindCall) -> (usize, Vec<Range<usize>>) {
        let Some(facts) = data.facts() else {
            return (self.browser.text(&call.raw, []), Vec::new());
        };
        let settings = &facts.start.effective.settings;
        let (mode, signature) = (settings.parse_mode, &settings.init_signature);
        let rules = facts.rules();
        let parsed = parse_in_run(&call.raw, mode, signature, rules);
        let blank = |range: &Range<usize>| is_blank(&call.raw[range.clone()]);
        let allowed = settings.message_cap(rules).allows(&parsed);
        let marks = marks(&parsed.spans, &allowed, call.reason);
        let marks = marks.into_iter().filter(|(range, _)| !blank(range));
        let index = self.browser.text(&call.raw, marks);
        let sent = (parsed.spans.blocks.into_iter().zip(allowed))
            .filter_map(|(block, allowed)| allowed.then_some(block));
        (index, sent.collect())
    }

    /// Returns the section with the browser.
    pub(super) fn section(self) -> Section {
        let section = Section::new("Messages").anchor("messages");
        let section = section.text(if self.is_imported {
            "Every message. The words of the search box may stand in the message, its facts or its name."
        } else {
            "Every answer as it came, and every seed. The parts of an answer are coloured; the frame is around the message itself. The words of the search box may stand in the answer, its facts or its name."
        });
        let section = if self.left_out > 0 {
            let left_out = super::shown::counted(
                self.left_out as u64,
                "message or answer is",
                "messages and answers are",
            );
            section
                .text(format!("{left_out} left out here; the file has them."))
                .command("Writes all messages", "logosphere export messages DIR")
        } else {
            section
        };
        section.browser(self.browser)
    }

    /// Returns the name of a message, as a link if it is in the browser.
    pub(super) fn link(&self, id: MessageId) -> Cell {
        match self.anchor(id) {
            Some(anchor) => Cell::link(id.to_string(), anchor),
            None => Cell::text(id.to_string()),
        }
    }

    /// Returns the anchor of a message that is in the browser.
    pub(super) fn anchor(&self, id: MessageId) -> Option<String> {
        let is_shown = self.places.contains_key(&id);
        is_shown.then(|| message_anchor(id))
    }

    /// Returns the name of a call, as a link to its first message or to its answer if that is in the browser.
    pub(super) fn link_call(&self, data: &ReportData, call: usize) -> Cell {
        let facts = &data.transcript.calls[call];
        let name = format!("{}/{}", facts.round, facts.mind);
        if self.silent.contains(&call) {
            return Cell::link(&name, format!("a{}-{}", facts.round, facts.mind));
        }
        match facts.added.first() {
            Some(id) if self.places.contains_key(id) => Cell::link(name, message_anchor(*id)),
            _ => Cell::text(name),
        }
    }
}

fn message_anchor(id: MessageId) -> String {
    format!("m{id}")
}

fn message_name(data: &ReportData, id: MessageId) -> String {
    if id.index() < data.transcript.seeds {
        format!("seed {id}")
    } else {
        format!("message {id}")
    }
}

fn notes(call: &MindCall) -> Value {
    if call.notes.is_empty() {
        return Value::Missing;
    }
    let names: Vec<_> = call.notes.iter().map(name).collect();
    Value::Text(names.join(", "))
}

/// Returns the word of a value in a journal.
pub(super) fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// Returns the parts of an answer and their meaning, in order. `allowed` has the messages within the cap of the run.
fn marks(spans: &Spans, allowed: &[bool], reason: Reason) -> Vec<(Range<usize>, Status)> {
    let sent = if reason == Reason::Ok {
        Status::Good
    } else {
        Status::Bad
    };
    // Without a delimiter all of it is thinking, and all of it was lost.
    let thinking = if spans.blocks.is_empty()
        && spans.rest.is_none()
        && !matches!(reason, Reason::Silence | Reason::SilenceWithText)
    {
        Status::Bad
    } else {
        Status::Info
    };
    let mut marks = vec![(spans.thinking.clone(), thinking)];
    // The blank block at the end is not a message.
    let allowed = allowed.iter().copied().chain(iter::repeat(true));
    marks.extend((spans.blocks.iter().zip(allowed)).map(|(block, allowed)| {
        let status = if allowed { sent } else { Status::Bad };
        (block.clone(), status)
    }));
    if let Some(rest) = &spans.rest {
        match &spans.signature {
            Some(signature) => marks.extend([
                (rest.start..signature.start, Status::Bad),
                (signature.clone(), Status::Caution),
                (signature.end..rest.end, Status::Bad),
            ]),
            None => marks.push((rest.clone(), Status::Bad)),
        }
    }
    marks
}

/// Returns the first children of each message by best parents.
fn children(data: &ReportData) -> Vec<Vec<MessageId>> {
    let nodes = data.lineage.nodes();
    let mut children = vec![Vec::new(); nodes.len()];
    for node in nodes {
        if let Some(parent) = node.parent() {
            let known: &mut Vec<MessageId> = &mut children[parent.id.index()];
            if known.len() < CHILDREN {
                known.push(node.id);
            }
        }
    }
    children
}

struct ShownItems {
    things: Vec<BrowserItem>,
    left_out: usize,
}

/// Returns the items of the browser: all, or as many of the start and the end as fit.
fn shown(data: &ReportData) -> ShownItems {
    let run = &data.transcript;
    // Seeds, what was put in from outside, then each call: its messages, or itself. With the bytes of each.
    let mut groups: Vec<(Vec<BrowserItem>, usize)> = (0..run.seeds)
        .map(|id| {
            let bytes = run.messages[id].text.len() + OVERHEAD;
            (vec![BrowserItem::Message(MessageId::at(id))], bytes)
        })
        .collect();
    let injected = (run.messages.iter().enumerate().skip(run.seeds))
        .filter(|(_, message)| message.call.is_none())
        .map(|(id, message)| {
            let bytes = message.text.len() + OVERHEAD;
            (vec![BrowserItem::Message(MessageId::at(id))], bytes)
        });
    groups.extend(injected);
    for (at, call) in run.calls.iter().enumerate() {
        let things: Vec<_> = if call.added.is_empty() {
            vec![BrowserItem::Call(at)]
        } else {
            call.added
                .iter()
                .map(|id| BrowserItem::Message(*id))
                .collect()
        };
        // Imported messages have no answer.
        let texts = || {
            call.added
                .iter()
                .map(|id| run.messages[id.index()].text.len())
        };
        let text = match call.raw.len() {
            0 => texts().sum(),
            answer => answer,
        };
        let bytes = text + OVERHEAD * things.len();
        groups.push((things, bytes));
    }
    let count: usize = groups.iter().map(|(things, _)| things.len()).sum();
    let mut left = BUDGET;
    let (mut first, mut last) = (0, groups.len());
    if count > ALL {
        // The first ones, as far as they fit.
        let mut items = 0;
        for (things, bytes) in &groups {
            let Some(rest) = left.checked_sub(*bytes).filter(|_| items < FIRST) else {
                break;
            };
            left = rest;
            items += things.len();
            first += 1;
        }
        left = 0;
    }
    // From both ends in turn, so that both are shown.
    while first < last {
        let next = if first <= groups.len() - last {
            first
        } else {
            last - 1
        };
        let Some(rest) = left.checked_sub(groups[next].1) else {
            break;
        };
        left = rest;
        if next == first {
            first += 1;
        } else {
            last -= 1;
        }
    }
    let mut left_out = 0;
    let things = groups
        .into_iter()
        .enumerate()
        .flat_map(|(at, (things, _))| {
            if (first..last).contains(&at) {
                left_out += things.len();
                Vec::new()
            } else {
                things
            }
        });
    let things = things.collect();
    ShownItems { things, left_out }
}
