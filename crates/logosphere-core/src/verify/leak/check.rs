//! The search of a journal and of captured requests.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use super::difference::{BodyDifference, differences, likeness, longest_text, of_prompts};
use super::finding::{Finding, Findings, LeakKind, LeakReport, Severity};
use super::headers::HeaderLists;
use super::metadata::{MetadataTerms, around};
use super::request::check_template;

use super::super::fold::{Fold, Observer};
use super::super::resume::ResumeError;
use crate::config::Scheduling;
use crate::format::{Prompt, format_prompt, sha256_hex};
use crate::journal::{
    ExperimentStart, Intervention, InterventionChange, MindInvocation, RunInterrupted, RunResumed,
    SeedText,
};
use crate::pool::{MessageId, MindId, Retention, Round};
use crate::verify::state::{RunState, Step};

/// A request as a server received it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Captured {
    /// The name, such as that of its file.
    pub name: String,
    /// The body; `None` if it was not captured.
    pub body: Option<Vec<u8>>,
    /// The names and values of the headers; `None` if they were not captured.
    pub headers: Option<Vec<(String, String)>>,
}

impl Captured {
    /// A request with this name, and what was captured of it.
    pub fn new(
        name: impl Into<String>,
        body: Option<Vec<u8>>,
        headers: Option<Vec<(String, String)>>,
    ) -> Self {
        Self {
            name: name.into(),
            body,
            headers,
        }
    }
}

/// A search for leaks: first in the journal, then in captured requests.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/two_rounds.rs"));
/// use logosphere_core::verify::leak::{Captured, LeakCheck};
///
/// # fn main() -> Result<(), logosphere_core::verify::ResumeError> {
/// let journal = two_rounds();
/// let names = ["2026-01-02-first-run".to_owned()];
/// let check = LeakCheck::read(&journal[..], &names)?;
/// assert!(check.finish().holds);
///
/// let mut check = LeakCheck::read(&journal[..], &names)?;
/// check.captured(Captured::new("1.json", Some(b"{}".to_vec()), None));
/// assert!(!check.finish().holds);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LeakCheck {
    start: Box<ExperimentStart>,
    state: RunState,
    terms: MetadataTerms,
    seen: SeenRequests,
    /// The hashes of captured bodies that equal a rebuilt one.
    equal: HashSet<String>,
    /// Captured requests that equal no rebuilt one, up to a limit.
    unknown: Vec<(String, Vec<u8>)>,
    headers: HeaderLists,
    report: LeakReport,
}

/// A call with its rebuilt request.
#[derive(Debug)]
struct RebuiltRequest {
    round: Round,
    mind: MindId,
    sampled: Vec<MessageId>,
    request_sha256: String,
}

/// The largest number of unknown requests whose differences are listed.
const EXPLAINED: usize = 100;

/// The largest number of calls that the nearest one is searched among.
const NEAR: usize = 1000;

/// Returns the findings in the first event alone, before any request is sent.
///
/// It searches the constant part of requests, the system prompt and the seed messages. `names` are the names and paths
/// of the experiment.
pub fn check_start(start: &ExperimentStart, names: &[String]) -> Vec<Finding> {
    let terms = MetadataTerms::new(start, names);
    let mut found = Findings::default();
    search_start(start, &terms, &mut found);
    found.sorted()
}

fn search_start(start: &ExperimentStart, terms: &MetadataTerms, found: &mut Findings) {
    let (template, settings) = (&start.request_template, &start.effective.settings);
    for model in settings.entries() {
        check_template(template.of_entry(model.entry), settings, &model, found);
    }
    let place = "system_prompt";
    for (kind, range) in terms.in_system_prompt(&start.system_prompt) {
        // How much to write is for minds to know, and the numbers may be the same by chance.
        let severity = match kind {
            LeakKind::Amount | LeakKind::Cost => Severity::ByDesign,
            _ => Severity::Leak,
        };
        let detail = around(&start.system_prompt, range);
        found.add(severity, kind, place, place, detail);
    }
    let stamp = format!("\n\n{}", start.init_signature);
    for SeedText { id, text } in &start.seeds {
        let place = format!("seed {id}");
        if text.ends_with(&stamp) {
            let detail = format!(
                "every seed ends with {}, so minds can tell seeds from the rest",
                start.init_signature
            );
            found.add(Severity::ByDesign, LeakKind::Stamp, "seed", &place, detail);
        }
        for (kind, range) in terms.in_text(text) {
            found.add(Severity::Leak, kind, "seed", &place, around(text, range));
        }
    }
}

impl LeakCheck {
    /// Reads a journal to its end or to an incomplete last line, and rebuilds its requests.
    ///
    /// # Errors
    /// See [`ResumeError`]. An incomplete last line is not an error.
    pub fn read(journal: impl BufRead, names: &[String]) -> Result<Self, ResumeError> {
        // A captured request can be of any call.
        let fold = Fold::keeping(journal, Retention::All)?.until_torn();
        let mut seen = SeenRequests::default();
        let run = fold.run(&mut seen)?;
        seen.note_due(&run.state);
        let mut check = Self {
            terms: MetadataTerms::new(&run.start, names),
            start: run.start,
            state: run.state,
            seen,
            equal: HashSet::new(),
            unknown: Vec::new(),
            headers: HeaderLists::default(),
            report: LeakReport::default(),
        };
        check.search();
        Ok(check)
    }

    /// Searches the constant part of requests, the seed messages and the minds' messages.
    fn search(&mut self) {
        search_start(&self.start, &self.terms, &mut self.seen.found);
        let pool = self.state.pool();
        for id in (pool.seeds()..pool.len()).map(MessageId) {
            let text = pool.text(id).unwrap_or_default();
            for (kind, range) in self.terms.in_text(text) {
                let place = format!("message {id}");
                let detail = around(text, range);
                self.seen
                    .found
                    .add(Severity::WrittenByMind, kind, "message", place, detail);
            }
        }
    }

    /// Compares a captured request with the rebuilt ones.
    pub fn captured(&mut self, request: Captured) {
        let Captured {
            name,
            body,
            headers,
        } = request;
        if let Some(headers) = headers {
            self.headers
                .hold(&name, headers, &self.terms, &mut self.seen.found);
        }
        let Some(body) = body else { return };
        self.report.captured += 1;
        let sha256 = sha256_hex(&body);
        if self.seen.made.contains_key(&sha256) {
            self.report.equal += 1;
            self.equal.insert(sha256);
        } else if self.seen.due.contains(&sha256) {
            self.report.uncommitted += 1;
        } else if self.unknown.len() < EXPLAINED {
            self.unknown.push((name, body));
        } else {
            let detail = "no call of the journal makes it".to_owned();
            self.seen
                .found
                .add(Severity::Leak, LeakKind::Body, "unexplained", name, detail);
        }
    }

    /// Returns the result of the search.
    pub fn finish(mut self) -> LeakReport {
        for (name, body) in std::mem::take(&mut self.unknown) {
            self.explain(&name, &body);
        }
        let captured = self.report.captured > 0;
        let missing =
            |call: &&RebuiltRequest| captured && !self.equal.contains(&call.request_sha256);
        let findings = self.seen.found.sorted();
        LeakReport {
            holds: findings
                .iter()
                .all(|found| found.severity != Severity::Leak),
            calls: self.seen.calls.len() as u64,
            uncaptured: self.seen.calls.iter().filter(missing).count() as u64,
            findings,
            ..self.report
        }
    }

    /// Adds the differences of an unknown request from the nearest one that was not captured.
    fn explain(&mut self, name: &str, body: &[u8]) {
        let recorded = self.seen.recorded.get(&sha256_hex(body)).copied();
        let prompt = longest_text(body);
        let candidates = (0..self.seen.calls.len())
            .filter(|call| !self.equal.contains(&self.seen.calls[*call].request_sha256))
            .take(NEAR);
        let nearest = recorded.or_else(|| {
            // The first of equals.
            candidates.max_by_key(|call| {
                let made = self.prompt(&self.seen.calls[*call]);
                (likeness(made.user(), &prompt), Reverse(*call))
            })
        });
        let Some(nearest) = nearest else {
            let detail = "every call of the journal has made another request".to_owned();
            self.seen
                .found
                .add(Severity::Leak, LeakKind::Body, "unexplained", name, detail);
            return;
        };
        let call = &self.seen.calls[nearest];
        let place = format!(
            "{name}, nearest to round {}, mind {}",
            call.round, call.mind
        );
        for difference in differences(&self.body(call), body) {
            let BodyDifference {
                kind,
                about,
                detail,
            } = difference;
            self.seen
                .found
                .add(Severity::Leak, kind, &about, &place, detail);
        }
    }

    fn prompt(&self, call: &RebuiltRequest) -> Prompt {
        let texts = (call.sampled.iter()).filter_map(|id| self.state.pool().text(*id));
        format_prompt(&self.start.effective.settings.prompt(), texts)
    }

    fn body(&self, call: &RebuiltRequest) -> Vec<u8> {
        let template = self.state.template_of(call.mind);
        template.fill(self.prompt(call).user())
    }
}

/// The rebuilt requests of a journal, and their differences from the recorded ones.
#[derive(Debug, Default)]
struct SeenRequests {
    calls: Vec<RebuiltRequest>,
    /// A call for each hash of a rebuilt body.
    made: HashMap<String, usize>,
    /// The hashes of requests that were due when the journal ended or the run was interrupted. They may have been sent.
    due: HashSet<String>,
    /// A call for each recorded hash that equals no rebuilt one.
    recorded: HashMap<String, usize>,
    found: Findings,
}

impl SeenRequests {
    /// Records the requests of calls that may be in flight here: the next call, or with snapshot scheduling the
    /// remaining calls of the round.
    fn note_due(&mut self, state: &RunState) {
        let Step::Call { mind } = state.next() else {
            return;
        };
        let settings = state.settings();
        let end = match settings.scheduling {
            Scheduling::Sequential => mind.next().0,
            Scheduling::Snapshot => settings.n_minds,
        };
        let due = mind.of(end).map(|mind| state.plan(mind).request_sha256);
        self.due.extend(due);
    }

    /// Compares a call with the prompt and the request that are built from its messages.
    fn hold(&mut self, call: &MindInvocation, line: u64, state: &RunState) {
        let made = state.plan(call.mind_id);
        let place = format!("round {}, mind {} (line {line})", call.round, call.mind_id);
        let mut leak = |kind, detail: String| {
            self.found.add(Severity::Leak, kind, "", &place, detail);
        };
        if call.sampled_ids != made.sampled {
            let detail = format!(
                "messages {:?} in the prompt, the seed draws {:?}",
                call.sampled_ids, made.sampled
            );
            leak(LeakKind::Sample, detail);
        } else if call.input_messages != made.texts {
            let [expected, found] =
                [&made.texts, &call.input_messages].map(|texts| texts.join("\n---\n"));
            leak(LeakKind::Prompt, of_prompts(&expected, &found));
        }
        if call.prompt_sha256 != made.prompt_sha256 {
            let detail = format!(
                "the prompt has the SHA-256 {}, its messages make {}",
                call.prompt_sha256, made.prompt_sha256
            );
            leak(LeakKind::Prompt, detail);
        }
        if call.request_sha256 != made.request_sha256 {
            let detail = format!(
                "the request has the SHA-256 {}, its prompt makes {}",
                call.request_sha256, made.request_sha256
            );
            leak(LeakKind::Body, detail);
        }
        let at = self.calls.len();
        self.made.entry(made.request_sha256.clone()).or_insert(at);
        self.recorded
            .entry(call.request_sha256.clone())
            .or_insert(at);
        self.calls.push(RebuiltRequest {
            round: call.round,
            mind: call.mind_id,
            sampled: made.sampled,
            request_sha256: made.request_sha256,
        });
    }
}

impl Observer for SeenRequests {
    fn on_call(&mut self, call: &MindInvocation, number: u64, state: &RunState) {
        self.hold(call, number, state);
    }

    fn on_interrupt(&mut self, _: &RunInterrupted, state: &RunState) {
        self.note_due(state);
    }

    fn on_resume(&mut self, _: &RunResumed, state: &RunState) {
        self.note_due(state);
    }

    fn on_intervention(&mut self, event: &Intervention, state: &RunState) {
        // An event that cannot follow is refused after this.
        let Ok(settings) = state.settings_after(&event.change) else {
            return;
        };
        let templates = match &event.change {
            InterventionChange::Inject { texts, added_ids } => {
                let stamp = format!("\n\n{}", settings.init_signature);
                for (text, id) in texts.iter().zip(added_ids) {
                    if text.ends_with(&stamp) {
                        self.found.add(
                            Severity::ByDesign,
                            LeakKind::Stamp,
                            "injected",
                            format!("message {id}"),
                            format!("it ends with {}, as a seed does", settings.init_signature),
                        );
                    }
                }
                return;
            }
            InterventionChange::SwapMind {
                mind_id,
                request_template,
                ..
            } => vec![(settings.entry_of(mind_id.0), request_template)],
            InterventionChange::Set {
                request_template: Some(template),
                ..
            } => {
                let entries = 0..settings.entries().len();
                entries
                    .map(|entry| (entry, template.of_entry(entry)))
                    .collect()
            }
            InterventionChange::Ablate { .. } | InterventionChange::Set { .. } => return,
        };
        for (entry, template) in templates {
            check_template(
                template,
                &settings,
                &settings.entries()[entry],
                &mut self.found,
            );
        }
    }
}
