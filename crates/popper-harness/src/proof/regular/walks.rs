//! The closed walks in a graph of windows that automata accept: the rings on which a conjunction of inequalities may hold.

use num_integer::Integer as _;

use super::super::fuel::Fuel;
use super::super::linear::Form;
use super::automaton::{Automaton, Goal, InequalityReading, StateMachine, read};
use super::windows::{RingKind, Windows};
use super::words::WordSet;
use super::{MAX_LEMMA, MAX_STATES};
use crate::universe::Rule;

/// The place of no state.
const UNSEEN: u32 = u32::MAX;

/// The closed walks that all automata of a conjunction accept.
pub(super) struct Walks<'a> {
    windows: Windows<'a>,
    automata: Vec<Automaton>,
    /// The first window from each node, and one past the last.
    from: Vec<usize>,
    /// Whether an inequality holds on no ring.
    never: bool,
    fuel: &'a Fuel<'a>,
}

/// A step of a walk: the states before and after, and the place of the window.
#[derive(Clone, Copy)]
struct Transition {
    from: u32,
    to: u32,
    place: u32,
}

/// The steps of the accepted closed walks from one node.
struct Steps {
    steps: Vec<Transition>,
    /// For each state whether it ends an accepted walk.
    ends: Vec<bool>,
}

impl<'a> Walks<'a> {
    /// Returns the walks on which a conjunction may hold: an inequality without an automaton restricts none.
    ///
    /// `None` if the windows or the states are too many.
    pub fn new(
        rule: &'a Rule,
        rings: RingKind<'_>,
        conjunction: &[Form],
        more: &[&Form],
        least_width: usize,
        fuel: &'a Fuel<'a>,
    ) -> Option<Self> {
        let forms = conjunction.iter().chain(more.iter().copied());
        let windows = Windows::new(rule, rings, forms, least_width)?;
        let mut walks = Self {
            windows,
            automata: Vec::new(),
            from: Vec::new(),
            never: false,
            fuel,
        };
        for form in conjunction {
            match read(form, &walks.windows) {
                InequalityReading::Never => walks.never = true,
                InequalityReading::Automaton(automaton) => walks.join(automaton),
                InequalityReading::Always | InequalityReading::Other => {}
            }
        }
        walks.drop_windows();
        let mut from = vec![0; walks.windows.nodes() + 1];
        for &edge in &walks.windows.edges {
            from[walks.windows.ends(edge).0 + 1] += 1;
        }
        for node in 1..from.len() {
            from[node] += from[node - 1];
        }
        walks.from = from;
        let states = (walks.automata.iter())
            .try_fold(walks.windows.nodes(), |states, automaton| {
                states.checked_mul(automaton.machine.states())
            });
        states
            .is_some_and(|states| states <= MAX_STATES)
            .then_some(walks)
    }

    /// Adds an automaton; two bounds of one sum become one.
    fn join(&mut self, automaton: Automaton) {
        for known in &mut self.automata {
            if known.inputs == automaton.inputs
                && let (
                    StateMachine::Sum {
                        alternates,
                        goal: Goal::Between { least, most },
                    },
                    StateMachine::Sum {
                        alternates: other,
                        goal:
                            Goal::Between {
                                least: low,
                                most: high,
                            },
                    },
                ) = (&mut known.machine, &automaton.machine)
                && alternates == other
            {
                *least = (*least).max(*low);
                *most = most.iter().chain(high).min().copied();
                self.never |= most.is_some_and(|most| most < *least);
                return;
            }
        }
        self.automata.push(automaton);
    }

    /// Drops the windows that a sum of 0 excludes, instead of counting them.
    fn drop_windows(&mut self) {
        let is_zero = |automaton: &Automaton| {
            let goal = Goal::Between {
                least: 0,
                most: Some(0),
            };
            automaton.machine
                == StateMachine::Sum {
                    alternates: false,
                    goal,
                }
        };
        let (zero, other): (Vec<_>, Vec<_>) = self.automata.drain(..).partition(is_zero);
        self.automata = other;
        if zero.is_empty() {
            return;
        }
        let kept = self
            .windows
            .keep(|place| zero.iter().all(|automaton| automaton.inputs[place][0] == 0));
        for automaton in &mut self.automata {
            let mut each = kept.iter();
            automaton.inputs.retain(|_| each.next() == Some(&true));
        }
    }

    /// Whether no walk is accepted. `None` if that is too much work, as in the following.
    pub fn is_empty(&self) -> Option<bool> {
        if let Some(mut accepted) = self.accepted_components() {
            return Some(!accepted.any(|accepted| accepted));
        }
        let mut empty = true;
        self.each_node(&mut |steps| {
            empty = steps.steps.is_empty();
            empty
        })?;
        Some(empty)
    }

    /// Returns the words of the states on the accepted walks.
    pub fn words(&self, length: usize) -> Option<WordSet> {
        let mut used = vec![false; self.windows.edges.len()];
        if let Some(accepted) = self.accepted_components() {
            let accepted: Vec<bool> = accepted.collect();
            for (used, &component) in used.iter_mut().zip(&self.windows.components) {
                *used = accepted[component];
            }
        } else {
            self.each_node(&mut |steps| {
                for step in &steps.steps {
                    used[step.place as usize] = true;
                }
                true
            })?;
        }
        self.windows
            .words(length, (0..used.len()).filter(|&place| used[place]))
    }

    /// Whether a local form, with its constant, is never positive on an accepted walk.
    pub fn never_positive(&self, form: &Form) -> Option<bool> {
        let weights = self.windows.weights(form)?;
        let weights: Vec<i64> = weights.iter().map(|pair| pair[0]).collect();
        if let Some(accepted) = self.accepted_components() {
            let accepted: Vec<bool> = accepted.collect();
            let edges = || {
                let places = 0..self.windows.edges.len();
                places.filter(|&place| accepted[self.windows.components[place]])
            };
            let scaled = |factor: i64, extra: i64| {
                let step = |place: usize| {
                    let (from, to) = self.windows.ends(self.windows.edges[place]);
                    let weight = weights[place].checked_mul(factor)?.checked_add(extra)?;
                    Some((from, to, weight))
                };
                let steps: Vec<_> = edges().map(step).collect::<Option<_>>()?;
                self.has_positive_cycle(&steps, self.windows.nodes())
            };
            if scaled(1, 0)? {
                return Some(false);
            }
            if form.constant <= 0 {
                return Some(true);
            }
            // Every cycle is below 0: so is every walk, by at least 1.
            if form.constant == 1 && !scaled(self.windows.nodes() as i64 + 1, 1)? {
                return Some(true);
            }
        }
        let mut holds = true;
        let mut known = true;
        self.each_node(&mut |steps| {
            match self.heaviest(steps, &weights) {
                Some(heaviest) => holds = heaviest <= -form.constant,
                None => known = false,
            }
            holds && known
        })?;
        known.then_some(holds)
    }

    /// Whether a divisor divides the sum of a local form on every closed walk.
    pub fn is_divisible(&self, form: &Form, divisor: i64) -> Option<bool> {
        let weights = self.windows.weights(form)?;
        let nodes = self.windows.nodes();
        let mut potentials = vec![None; nodes];
        for node in 0..nodes {
            if potentials[node].is_some() {
                continue;
            }
            potentials[node] = Some(0);
            let mut open = vec![node];
            while let Some(node) = open.pop() {
                let here = potentials[node]?;
                let places = self.from[node]..self.from[node + 1];
                for (&edge, weight) in self.windows.edges[places.clone()]
                    .iter()
                    .zip(&weights[places])
                {
                    let (_, there) = self.windows.ends(edge);
                    let reached = (weight[0].mod_floor(&divisor) + here).mod_floor(&divisor);
                    match potentials[there] {
                        None => {
                            potentials[there] = Some(reached);
                            open.push(there);
                        }
                        Some(known) if known != reached => return Some(false),
                        Some(_) => {}
                    }
                }
            }
        }
        Some(true)
    }

    /// Returns for each component whether its walks are accepted, if every automaton only asks for enough of something.
    ///
    /// Then a walk through a component may be as long as it takes.
    fn accepted_components(&self) -> Option<impl Iterator<Item = bool>> {
        let asks = |automaton: &Automaton| {
            matches!(
                automaton.machine,
                StateMachine::Sum {
                    alternates: false,
                    goal: Goal::Between { most: None, .. }
                }
            )
        };
        self.automata.iter().all(asks).then(|| {
            let count = self
                .windows
                .components
                .iter()
                .max()
                .map_or(0, |most| most + 1);
            let mut has = vec![vec![false; count]; self.automata.len() + 1];
            for (place, &component) in self.windows.components.iter().enumerate() {
                has[0][component] = !self.never;
                for (has, automaton) in has[1..].iter_mut().zip(&self.automata) {
                    has[component] |= automaton.inputs[place][0] > 0;
                }
            }
            (0..count).map(move |component| has.iter().all(|has| has[component]))
        })
    }

    /// Visits the steps of the accepted walks from each node, until `visit` returns false.
    ///
    /// Where no automaton depends on the first cell, a walk is visited from one of its nodes alone.
    fn each_node(&self, visit: &mut dyn FnMut(&Steps) -> bool) -> Option<()> {
        if self.never {
            return Some(());
        }
        let states: usize = self
            .automata
            .iter()
            .map(|automaton| automaton.machine.states())
            .product();
        let positional = self
            .automata
            .iter()
            .any(|automaton| automaton.machine.is_positional());
        let mut seen = vec![UNSEEN; self.windows.nodes() * states];
        let mut work = MAX_LEMMA;
        for node in 0..self.windows.nodes() {
            let least = if positional { 0 } else { node };
            let steps = self.steps(node, least, states, &mut seen, &mut work)?;
            if !visit(&steps) {
                break;
            }
        }
        Some(())
    }

    /// Returns the steps of the accepted walks from a node through nodes from `least` on.
    fn steps(
        &self,
        node: usize,
        least: usize,
        states: usize,
        seen: &mut [u32],
        work: &mut u64,
    ) -> Option<Steps> {
        // The states in the order in which they are found: node * states + state of the automata.
        let mut found = vec![node * states];
        seen[node * states] = 0;
        let mut steps = Vec::new();
        let mut next = 0;
        while let Some(&state) = found.get(next) {
            let (here, automata) = (state / states, state % states);
            for place in self.from[here]..self.from[here + 1] {
                *work = work.checked_sub(1)?;
                let (_, there) = self.windows.ends(self.windows.edges[place]);
                if there < least {
                    continue;
                }
                let Some(after) = self.advance(automata, place) else {
                    continue;
                };
                let reached = there * states + after;
                if seen[reached] == UNSEEN {
                    seen[reached] = found.len() as u32;
                    found.push(reached);
                }
                steps.push(Transition {
                    from: next as u32,
                    to: seen[reached],
                    place: place as u32,
                });
            }
            next += 1;
        }
        self.fuel.take(steps.len() + 1)?;
        for &state in &found {
            seen[state] = UNSEEN;
        }
        let ends: Vec<bool> = (found.iter())
            .map(|&state| state / states == node && self.accepts(state % states))
            .collect();
        let useful = leading(&steps, &ends);
        steps.retain(|step| useful[step.to as usize]);
        Some(Steps { steps, ends })
    }

    /// Returns the state of the automata after a window.
    fn advance(&self, mut states: usize, place: usize) -> Option<usize> {
        let (mut next, mut unit) = (0, 1);
        for Automaton { inputs, machine } in &self.automata {
            let size = machine.states();
            next += machine.step(states % size, inputs[place])? * unit;
            states /= size;
            unit *= size;
        }
        Some(next)
    }

    fn accepts(&self, mut states: usize) -> bool {
        self.automata.iter().all(|Automaton { machine, .. }| {
            let state = states % machine.states();
            states /= machine.states();
            machine.accepts(state)
        })
    }

    /// Returns the weight of the heaviest walk: `i64::MIN` if there is no walk, `i64::MAX` if there is no heaviest.
    fn heaviest(&self, walk: &Steps, weights: &[i64]) -> Option<i64> {
        let count = walk.ends.len();
        let mut best = vec![i64::MIN; count];
        best[0] = 0;
        let mut heaviest = i64::MIN;
        for _ in 0..=count {
            self.fuel.take(walk.steps.len())?;
            let mut changed = false;
            for step in &walk.steps {
                let before = best[step.from as usize];
                if before == i64::MIN {
                    continue;
                }
                let reached = before.checked_add(weights[step.place as usize])?;
                if walk.ends[step.to as usize] {
                    heaviest = heaviest.max(reached);
                }
                if reached > best[step.to as usize] {
                    best[step.to as usize] = reached;
                    changed = true;
                }
            }
            if !changed {
                return Some(heaviest);
            }
        }
        Some(i64::MAX)
    }

    /// Whether a cycle of weighted edges is positive.
    fn has_positive_cycle(&self, edges: &[(usize, usize, i64)], nodes: usize) -> Option<bool> {
        let mut best = vec![0i64; nodes];
        for _ in 0..=nodes {
            self.fuel.take(edges.len())?;
            let mut changed = false;
            for &(from, to, weight) in edges {
                let reached = best[from].checked_add(weight)?;
                if reached > best[to] {
                    best[to] = reached;
                    changed = true;
                }
            }
            if !changed {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// Returns for each state whether steps lead from there to an end.
fn leading(steps: &[Transition], ends: &[bool]) -> Vec<bool> {
    let mut into = vec![Vec::new(); ends.len()];
    for step in steps {
        into[step.to as usize].push(step.from);
    }
    let mut leads = ends.to_vec();
    let mut open: Vec<u32> = (0..ends.len() as u32)
        .filter(|&state| ends[state as usize])
        .collect();
    while let Some(state) = open.pop() {
        for &before in &into[state as usize] {
            if !leads[before as usize] {
                leads[before as usize] = true;
                open.push(before);
            }
        }
    }
    leads
}
