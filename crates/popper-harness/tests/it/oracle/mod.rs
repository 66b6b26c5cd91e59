//! An independent judge: every admissible start of a small ring, every step of the horizon, nothing
//! reduced and nothing skipped. It shares no code with the harness, only the specification.
//!
//! Where the specification leaves room, the oracle reads it so:
//! - an observable's own name is not in scope in its own expression, built-in names win over names;
//! - unary minus binds tighter than `%`; `'c'` must be a symbol of the universe;
//! - of the preconditions, a false one outranks one that has no value, whatever their order;
//! - an observable the claim never asks for cannot cause an error;
//! - in `eventually`, `t` in the antecedent is t0 and in the consequent the time inside the window;
//!   the first violation is the t0 of the window;
//! - a bare `t + 1` is a number and asks for no state;
//! - `claim_ast` is taken even if the law's other fields say something else.

mod claim;
mod expr;
mod lex;
mod reading;
mod universe;

use serde_json::Value;

pub use claim::{Claim, When};
pub use expr::{Expr, Scope};
pub use universe::{Transform, Universe};

use claim::{At, binary};
use reading::{Reading, reading};
use universe::Cells;

/// A reason why a law has no truth value, in the order of the reason codes, schema errors first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    Schema(String),
    MissingObservable(String),
    MissingTransform(String),
    MissingGenerator(String),
    Ambiguous(String),
}

impl Refusal {
    /// Returns the reason code; `None` for a schema error, which has no verdict.
    pub fn reason_code(&self) -> Option<&'static str> {
        match self {
            Self::Schema(_) => None,
            Self::MissingObservable(_) => Some("missing_observable"),
            Self::MissingTransform(_) => Some("missing_transform"),
            Self::MissingGenerator(_) => Some("missing_generator"),
            Self::Ambiguous(_) => Some("ambiguous_claim"),
        }
    }
}

/// A start and its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The start is allowed and meets the preconditions.
    pub admitted: bool,
    pub first_violation: Option<usize>,
    /// The number of t at which an implication's or `eventually`'s antecedent holds.
    pub triggers: usize,
    /// Whether an expression had no value, preconditions included; a violation may exist, too.
    pub error: bool,
}

/// All starts of one ring size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub admitted: usize,
    pub triggers: usize,
    pub errors: usize,
    /// State and first t, states in symbol order.
    pub violations: Vec<(String, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smallest {
    pub n: usize,
    pub movers: usize,
    pub t_fail: usize,
    pub state: String,
}

struct Precondition {
    left: Expr,
    op: &'static str,
    right: Expr,
}

pub struct Oracle<'u> {
    universe: &'u Universe,
    observables: Vec<Expr>,
    preconditions: Vec<Precondition>,
    horizon: usize,
    reading: Reading,
    /// The observables the claim asks for; the others are never evaluated.
    asked: Vec<usize>,
    /// Returns the number of states s(0), s(1), .. that the claim can read.
    times: usize,
}

const OPERATORS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
const GENERATORS: [&str; 8] = [
    "random_density_sweep",
    "constrained_pair_interactions",
    "edge_wrapping_cases",
    "symmetry_metamorphic_suite",
    "pathological_cases",
    "extreme_states",
    "precondition_directed",
    "antecedent_directed",
];

impl<'u> Oracle<'u> {
    pub fn new(law: &Value, universe: &'u Universe) -> Result<Self, Refusal> {
        let schema = |what: &str| Refusal::Schema(what.into());
        let list = |key: &str| law[key].as_array().map_or(&[][..], Vec::as_slice);
        let mut names = Vec::new();
        for entry in list("observables") {
            names.push(
                entry["name"]
                    .as_str()
                    .ok_or_else(|| schema("name"))?
                    .to_string(),
            );
        }

        // Everything is read before anything is refused: the worst refusal counts, not the first.
        let mut refusals = undeclared(law, universe, &names);
        let mut observables = Vec::new();
        for (at, entry) in list("observables").iter().enumerate() {
            let text = entry["expr"].as_str().ok_or_else(|| schema("expr"))?;
            match Scope::new(universe, &names, Some(at)).parse(text) {
                Ok(expr) => observables.push(expr),
                Err(refusal) => {
                    refusals.push(refusal);
                    observables.push(Expr::Int(0));
                }
            }
        }
        if has_cycle(&observables) {
            return Err(schema("observables name each other in a circle"));
        }

        let mut preconditions = Vec::new();
        for entry in list("preconditions") {
            let op = entry["op"].as_str().ok_or_else(|| schema("op"))?;
            let op = OPERATORS
                .iter()
                .find(|known| **known == op)
                .ok_or_else(|| schema("op"))?;
            let side = |key: &str| match &entry[key] {
                Value::String(text) => Scope::new(universe, &names, None).parse(text),
                value => value.as_i64().map(Expr::Int).ok_or_else(|| schema(key)),
            };
            match (side("lhs"), side("rhs")) {
                (Ok(left), Ok(right)) => preconditions.push(Precondition { left, op, right }),
                (Err(refusal), _) | (_, Err(refusal)) => refusals.push(refusal),
            }
        }

        let horizon = law["quantifiers"]["T"].as_u64().unwrap_or(0) as usize;
        if horizon == 0 {
            return Err(schema("T"));
        }
        match reading(law, universe, &names, horizon) {
            Ok(reading) if refusals.is_empty() => {
                let mut oracle = Self {
                    universe,
                    observables,
                    preconditions,
                    horizon,
                    reading,
                    asked: Vec::new(),
                    times: 0,
                };
                oracle.settle_times();
                Ok(oracle)
            }
            Ok(_) => Err(refusals.into_iter().min().unwrap()),
            Err(refusal) => {
                refusals.push(refusal);
                Err(refusals.into_iter().min().unwrap())
            }
        }
    }

    fn settle_times(&mut self) {
        let mut asked = Vec::new();
        let mut last_constant = 0;
        let mut names_next = false;
        let mut see = |at: usize, when: When| {
            asked.push(at);
            match when {
                When::Now => {}
                When::Next => names_next = true,
                When::At(k) => last_constant = last_constant.max(k),
            }
        };
        let last = match &mut self.reading {
            Reading::Always { claim, last } => {
                claim.each_seen(&mut see);
                if names_next {
                    *last = (*last).min(self.horizon - 1);
                }
                self.horizon
            }
            Reading::Eventually {
                antecedent,
                consequent,
                window,
            } => {
                antecedent.each_seen(&mut see);
                consequent.each_seen(&mut see);
                self.horizon + *window + usize::from(names_next)
            }
            Reading::Commutes { .. } | Reading::Local { .. } => self.horizon,
        };
        asked.sort_unstable();
        asked.dedup();
        self.asked = asked;
        self.times = last + 1;
        if last_constant > last {
            // A time outside the horizon: there is no t left at which the claim says anything.
            self.reading = Reading::Always {
                claim: binary("==", Claim::Int(0), Claim::Int(0)),
                last: 0,
            };
            self.asked.clear();
        }
    }

    pub fn case(&self, state: &str) -> Case {
        match self.universe.cells(state) {
            Some(cells) if self.universe.may_start(&cells) => self.run(&cells, &mut Vec::new()),
            _ => Case::default(),
        }
    }

    /// Every admissible start of n cells with its case, in symbol order.
    pub fn cases(&self, n: usize) -> Vec<(String, Case)> {
        let mut values = Vec::new();
        self.universe
            .starts(n)
            .iter()
            .map(|cells| (self.universe.text(cells), self.run(cells, &mut values)))
            .collect()
    }

    pub fn rings(&self, n: usize) -> Summary {
        let mut summary = Summary::default();
        let mut values = Vec::new();
        for cells in self.universe.starts(n) {
            let case = self.run(&cells, &mut values);
            summary.admitted += usize::from(case.admitted);
            summary.triggers += case.triggers;
            summary.errors += usize::from(case.error);
            if let Some(t) = case.first_violation {
                summary.violations.push((self.universe.text(&cells), t));
            }
        }
        summary
    }

    /// The smallest counterexample on rings up to `max_n`: by n, movers, t, then the least state.
    pub fn smallest(&self, max_n: usize) -> Option<Smallest> {
        (1..=max_n).find_map(|n| {
            self.rings(n)
                .violations
                .into_iter()
                .map(|(state, t_fail)| Smallest {
                    n,
                    movers: state
                        .chars()
                        .filter(|&c| c != self.universe.symbols[0])
                        .count(),
                    t_fail,
                    state,
                })
                // The first of equals is returned, and states come in symbol order.
                .min_by_key(|found| (found.movers, found.t_fail))
        })
    }

    /// The named observables at one state, for witnesses; `None` where there is no value.
    pub fn observables(&self, state: &str) -> Option<Vec<Option<i64>>> {
        let cells = self.universe.cells(state)?;
        let value = |expr: &Expr| expr.value(&self.observables, &cells);
        Some(self.observables.iter().map(value).collect())
    }

    fn run(&self, start: &Cells, values: &mut Vec<Option<i64>>) -> Case {
        let mut case = Case::default();
        match self.admits(start) {
            Some(true) => case.admitted = true,
            Some(false) => return case,
            None => {
                case.error = true;
                return case;
            }
        }
        if let Reading::Commutes { transform } = &self.reading {
            case.first_violation = self
                .universe
                .transforms(transform, start.len())
                .into_iter()
                .flatten()
                .filter_map(|transform| self.commutes_until(&transform, start))
                .min();
            return case;
        }

        if let Reading::Local { .. } = &self.reading {
            self.watch_cells(start, &mut case);
            return case;
        }
        self.fill(start, |now, then| self.universe.step(now, then), values);
        self.judge(start.len(), values, &mut case);
        case
    }

    /// Whether a sequence of states, related or not, breaks the claim. For `eventually` one state after the first is all there is.
    pub fn is_broken_by(&self, states: &[Vec<u8>]) -> bool {
        let mut case = Case::default();
        let at = |t: usize| match self.reading {
            Reading::Eventually { .. } => states[t.min(1)].clone(),
            _ => states[t % states.len()].clone(),
        };
        if self.admits(&states[0]) == Some(true) {
            let (mut values, mut t) = (Vec::new(), 0);
            let next = |_: &Cells, then: &mut Cells| {
                t += 1;
                then.copy_from_slice(&at(t));
            };
            self.fill(&states[0], next, &mut values);
            self.judge(states[0].len(), &values, &mut case);
        }
        case.first_violation.is_some()
    }

    /// The claim at every step of a sequence of states.
    fn judge(&self, length: usize, values: &[Option<i64>], case: &mut Case) {
        let at = |t| At {
            t,
            length,
            values,
            times: self.times,
        };
        match &self.reading {
            Reading::Always { claim, last } => {
                for t in 0..=*last {
                    if let Claim::Binary("=>", antecedent, _) = claim
                        && antecedent.truth(&at(t)) == Some(true)
                    {
                        case.triggers += 1;
                    }
                    case.note(t, claim.truth(&at(t)));
                }
            }
            Reading::Eventually {
                antecedent,
                consequent,
                window,
            } => {
                for t0 in 0..=self.horizon {
                    match antecedent.truth(&at(t0)) {
                        Some(true) => {
                            case.triggers += 1;
                            let within: Vec<_> = (t0..=t0 + window)
                                .map(|t| consequent.truth(&at(t)))
                                .collect();
                            let answer = if within.contains(&Some(true)) {
                                Some(true)
                            } else if within.contains(&None) {
                                None
                            } else {
                                Some(false)
                            };
                            case.note(t0, answer);
                        }
                        Some(false) => {}
                        None => case.error = true,
                    }
                }
            }
            Reading::Commutes { .. } | Reading::Local { .. } => {}
        }
    }

    fn watch_cells(&self, start: &Cells, case: &mut Case) {
        let Reading::Local {
            trigger,
            pattern,
            parity,
            equal,
            result,
        } = &self.reading
        else {
            return;
        };
        let n = start.len();
        let (mut now, mut then) = (start.to_vec(), start.to_vec());
        for t in 0..self.horizon {
            self.universe.step(&now, &mut then);
            for i in 0..n {
                let around = [now[(i + n - 1) % n], now[i], now[(i + 1) % n]];
                let asked = now[i] == *trigger
                    && pattern.as_ref().is_none_or(|pattern| pattern[..] == around)
                    && parity.is_none_or(|parity| i % 2 == parity);
                if asked {
                    case.triggers += 1;
                    case.note(t, Some((then[i] == *result) == *equal));
                }
            }
            std::mem::swap(&mut now, &mut then);
        }
    }

    fn admits(&self, start: &Cells) -> Option<bool> {
        let mut all = Some(true);
        for condition in &self.preconditions {
            let left = condition.left.value(&self.observables, start);
            let right = condition.right.value(&self.observables, start);
            match left.zip(right) {
                None => all = None,
                Some((left, right)) => {
                    let holds = match condition.op {
                        "==" => left == right,
                        "!=" => left != right,
                        "<" => left < right,
                        "<=" => left <= right,
                        ">" => left > right,
                        _ => left >= right,
                    };
                    if !holds {
                        return Some(false);
                    }
                }
            }
        }
        all
    }

    /// Every asked observable at every time of a sequence of states.
    fn fill(
        &self,
        start: &Cells,
        mut next: impl FnMut(&Cells, &mut Cells),
        values: &mut Vec<Option<i64>>,
    ) {
        values.clear();
        values.resize(self.observables.len() * self.times, None);
        let mut now = start.to_vec();
        let mut then = start.to_vec();
        for t in 0..self.times {
            for &name in &self.asked {
                values[name * self.times + t] =
                    self.observables[name].value(&self.observables, &now);
            }
            next(&now, &mut then);
            std::mem::swap(&mut now, &mut then);
        }
    }

    /// The first t at which evolving the image and the image of the evolved state differ.
    fn commutes_until(&self, transform: &Transform, start: &Cells) -> Option<usize> {
        let mut state = start.to_vec();
        let mut image_first = start.to_vec();
        let mut image_last = start.to_vec();
        let mut next = start.to_vec();
        transform.apply(start, &mut image_first);
        for t in 0..=self.horizon {
            transform.apply(&state, &mut image_last);
            if image_first != image_last {
                return Some(t);
            }
            self.universe.step(&state, &mut next);
            std::mem::swap(&mut state, &mut next);
            self.universe.step(&image_first, &mut next);
            std::mem::swap(&mut image_first, &mut next);
        }
        None
    }
}

impl Case {
    fn note(&mut self, t: usize, answer: Option<bool>) {
        match answer {
            Some(true) => {}
            Some(false) => {
                self.first_violation.get_or_insert(t);
            }
            None => self.error = true,
        }
    }
}

/// The declared lacks of things that do not exist.
fn undeclared(law: &Value, universe: &Universe, names: &[String]) -> Vec<Refusal> {
    let needs = &law["capability_requirements"];
    let declared = |key: &str| -> Vec<String> {
        let all = needs[key].as_array().into_iter().flatten();
        all.filter_map(|name| name.as_str().map(String::from))
            .collect()
    };
    let mut refusals = Vec::new();
    for name in declared("missing_observables") {
        let mut built_in = expr::BARE.iter().chain(&expr::FUNCTIONS);
        let own = law["observables"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|o| {
                // A name defined by itself is no definition.
                o["name"] == *name && o["expr"] != *name
            });
        if !(built_in.any(|known| *known == name) || own && names.contains(&name)) {
            refusals.push(Refusal::MissingObservable(name));
        }
    }
    for name in declared("missing_transforms") {
        if universe.transforms(&name, 1).is_none() {
            refusals.push(Refusal::MissingTransform(name));
        }
    }
    for name in declared("missing_generators") {
        if !GENERATORS.contains(&name.as_str()) {
            refusals.push(Refusal::MissingGenerator(name));
        }
    }
    refusals
}

fn has_cycle(observables: &[Expr]) -> bool {
    // Names that use only settled names are settled; a circle never settles.
    let mut settled = vec![false; observables.len()];
    for _ in observables {
        for (at, expr) in observables.iter().enumerate() {
            let mut used = Vec::new();
            expr.uses(&mut used);
            settled[at] = used.iter().all(|&name| settled[name]);
        }
    }
    settled.contains(&false)
}
