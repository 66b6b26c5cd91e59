//! The windows of rings, as the edges of a graph: a ring of N cells is a closed walk of N edges.
//!
//! The nodes are the strings one cell shorter. A window shows a cell, its surroundings, and what they become.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::super::linear::{Form, LineObservable, TimeIndex, Var};
use super::words::{WordSet, decode, encode, step};
use super::{MAX_WIDTH, strings};
use crate::universe::{Rule, Symbol};

/// The rings that are looked at, at one time.
#[derive(Clone, Copy)]
pub(super) enum RingKind<'a> {
    /// The rings of the symbols that may start, at the start.
    Starting(&'a [Symbol]),
    /// The rings all of whose words are in a set, at the running step.
    Within(&'a WordSet),
}

/// The windows of rings that lie on closed walks.
pub(super) struct Windows<'a> {
    rule: &'a Rule,
    width: usize,
    /// The cells of a window before the one that it is about, where that matters.
    lead: Option<usize>,
    /// The numbers of the windows in symbol order.
    pub edges: Vec<usize>,
    /// For each window the strongly connected component of the graph that holds it.
    pub components: Vec<usize>,
}

impl<'a> Windows<'a> {
    /// Returns the windows that show all that the forms read, and are at least this wide. `None` if they are too many.
    pub fn new<'f>(
        rule: &'a Rule,
        rings: RingKind<'_>,
        forms: impl Iterator<Item = &'f Form> + Clone,
        least_width: usize,
    ) -> Option<Self> {
        let radius = rule.radius();
        let reads = forms.flat_map(reads).collect::<Option<Vec<_>>>()?;
        let line = |read: &&CellsRead| read.line;
        let lead = reads
            .iter()
            .filter(line)
            .map(|read| read.delay * radius)
            .max();
        let needed = reads.iter().map(|read| read.end(lead, radius)).max();
        let mut width = least_width.max(needed.unwrap_or(1));
        if let RingKind::Within(words) = rings {
            width = width.max(words.length());
        }
        if width > MAX_WIDTH {
            return None;
        }
        let symbols = rule.symbols();
        let admitted = |window: &[Symbol]| match rings {
            RingKind::Starting(starting) => window.iter().all(|cell| starting.contains(cell)),
            RingKind::Within(words) => words.admits(window),
        };
        let edges = (0..strings(symbols, width)?)
            .filter(|&edge| admitted(&decode(edge, symbols, width)))
            .collect();
        let mut windows = Self {
            rule,
            width,
            lead,
            edges,
            components: Vec::new(),
        };
        if windows.edges.len() == windows.nodes() * symbols {
            // Every string leads to every other one.
            windows.components = vec![0; windows.edges.len()];
        } else {
            windows.keep(|_| true);
        }
        Some(windows)
    }

    /// Returns the place of the window about a cell of a ring.
    #[cfg(test)]
    pub fn place(&self, ring: &[Symbol], cell: usize) -> Option<usize> {
        let cells = ring.len();
        let first = cell + cells * self.width - self.lead.unwrap_or(0);
        let window: Vec<Symbol> = (0..self.width)
            .map(|at| ring[(first + at) % cells])
            .collect();
        self.edges
            .binary_search(&encode(&window, self.rule.symbols()))
            .ok()
    }

    pub fn nodes(&self) -> usize {
        self.rule.symbols().pow(self.width as u32 - 1)
    }

    /// Returns the nodes that a window leads from and to.
    pub fn ends(&self, edge: usize) -> (usize, usize) {
        (edge / self.rule.symbols(), edge % self.nodes())
    }

    /// Keeps the windows, by their place, that pass the test and still lie on a closed walk; returns which those are.
    pub fn keep(&mut self, test: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut graph = DiGraph::<(), (), usize>::default();
        for _ in 0..self.nodes() {
            graph.add_node(());
        }
        for (place, &edge) in self.edges.iter().enumerate() {
            if test(place) {
                let (from, to) = self.ends(edge);
                graph.add_edge(from.into(), to.into(), ());
            }
        }
        let mut component = vec![0; self.nodes()];
        for (number, nodes) in kosaraju_scc(&graph).into_iter().enumerate() {
            for node in nodes {
                component[node.index()] = number;
            }
        }
        let of = |edge: usize| {
            let (from, to) = self.ends(edge);
            (component[from] == component[to]).then_some(component[from])
        };
        let kept: Vec<bool> = (self.edges.iter().enumerate())
            .map(|(place, &edge)| test(place) && of(edge).is_some())
            .collect();
        let mut each = kept.iter();
        let edges: Vec<usize> = self
            .edges
            .iter()
            .copied()
            .filter(|_| each.next() == Some(&true))
            .collect();
        self.components = edges.iter().filter_map(|&edge| of(edge)).collect();
        self.edges = edges;
        kept
    }

    /// Returns the weights of each window, at an even and at an odd cell, without the constant.
    ///
    /// `None` if a variable has none, the windows do not show it, or 64 bits do not hold a weight.
    pub fn weights(&self, form: &Form) -> Option<Vec<[i64; 2]>> {
        let shown = |read: Option<CellsRead>| read.is_some_and(|read| self.shows(&read));
        if !reads(form).into_iter().all(shown) {
            return None;
        }
        let weight = |levels: &[Vec<Symbol>]| {
            let mut pair = [0i64; 2];
            for (var, &factor) in &form.terms {
                let occurs = match var {
                    Var::Length => [true; 2],
                    Var::Cells { moment, at } => [self.occurs(levels, *moment, at); 2],
                    Var::Line {
                        moment,
                        observable: LineObservable::Even(at),
                    } => [self.occurs(levels, *moment, at), false],
                    _ => return None,
                };
                for (weight, occurs) in pair.iter_mut().zip(occurs) {
                    *weight = weight.checked_add(if occurs { factor } else { 0 })?;
                }
            }
            Some(pair)
        };
        let steps = latest(form);
        self.each_window(steps)
            .map(|levels| weight(&levels))
            .collect()
    }

    /// Returns for each window the mark of its cell: 1 for the first symbol, 2 for the second, else 0.
    pub fn marks(&self, moment: TimeIndex, symbols: &[Symbol]) -> Option<Vec<[i64; 2]>> {
        let mark = |levels: Vec<Vec<Symbol>>| {
            let here =
                |&(_, symbol): &(usize, &Symbol)| self.occurs(&levels, moment, &[(0, *symbol)]);
            // A pair of equal symbols has both marks.
            let marks = symbols.iter().enumerate().filter(here);
            [marks.map(|(place, _)| 1 << place).sum(), 0]
        };
        let steps = usize::try_from(moment.delay).ok()?;
        Some(self.each_window(steps).map(mark).collect())
    }

    /// Returns each window, and what it becomes in the next steps.
    fn each_window(&self, steps: usize) -> impl Iterator<Item = Vec<Vec<Symbol>>> {
        self.edges.iter().map(move |&edge| {
            let mut levels = vec![decode(edge, self.rule.symbols(), self.width)];
            for _ in 0..steps {
                levels.push(step(self.rule, &levels[levels.len() - 1]));
            }
            levels
        })
    }

    /// Whether the windows show some cells.
    fn shows(&self, read: &CellsRead) -> bool {
        read.end(self.lead, self.rule.radius()) <= self.width
    }

    /// Whether a pattern occurs at the cell that a window is about.
    fn occurs(&self, levels: &[Vec<Symbol>], moment: TimeIndex, at: &[(usize, Symbol)]) -> bool {
        let delay = moment.delay as usize;
        // A later state begins one radius further to the right at each step.
        let first = first_cell(self.lead, delay * self.rule.radius());
        let level = &levels[delay];
        at.iter()
            .all(|(offset, symbol)| level[first + offset] == *symbol)
    }

    /// Returns the words of a length, at most the width, with which the windows of a set of places begin.
    pub fn words(&self, length: usize, places: impl Iterator<Item = usize>) -> Option<WordSet> {
        let mut words = WordSet::new(self.rule.symbols(), length)?;
        for place in places {
            let window = decode(self.edges[place], self.rule.symbols(), self.width);
            words.insert(encode(&window[..length], self.rule.symbols()));
        }
        Some(words)
    }
}

/// The cells that a variable reads: the steps later, their number, and whether they belong to a line.
struct CellsRead {
    delay: usize,
    length: usize,
    line: bool,
}

impl CellsRead {
    /// Returns the width of the windows that show the cells.
    fn end(&self, lead: Option<usize>, radius: usize) -> usize {
        let reach = self.delay.saturating_mul(radius);
        first_cell(lead, reach) + reach.saturating_mul(2).saturating_add(self.length)
    }
}

/// Returns the first cell that is read of the state that a window becomes, which begins some cells further to the right.
fn first_cell(lead: Option<usize>, shift: usize) -> usize {
    lead.map_or(0, |lead| lead.saturating_sub(shift))
}

/// Returns the cells that the variables of a form read; `None` for a variable that no window can show.
fn reads(form: &Form) -> Vec<Option<CellsRead>> {
    let length = |at: &[(usize, Symbol)]| at.last().map_or(0, |(offset, _)| offset + 1);
    let mut found = Vec::new();
    for var in form.terms.keys() {
        let (moment, length, line) = match var {
            Var::Length => continue,
            Var::Cells { moment, at } => (moment, length(at), false),
            Var::Line { moment, observable } => match observable {
                LineObservable::Even(at) => (moment, length(at), true),
                _ => (moment, 1, true),
            },
            Var::Modulo(inner, _) => {
                found.extend(reads(inner));
                continue;
            }
            Var::Product(..) => {
                found.push(None);
                continue;
            }
        };
        found.push(usize::try_from(moment.delay).ok().map(|delay| CellsRead {
            delay,
            length,
            line,
        }));
    }
    found
}

/// Returns the latest step that a form reads.
fn latest(form: &Form) -> usize {
    let delays = reads(form).into_iter().flatten().map(|read| read.delay);
    delays.max().unwrap_or(0)
}

/// Whether each window has a weight in a variable, perhaps by the parity of its cell.
pub fn is_summed(var: &Var) -> bool {
    matches!(
        var,
        Var::Length
            | Var::Cells { .. }
            | Var::Line {
                observable: LineObservable::Even(_),
                ..
            }
    )
}

/// Whether the weights of a form depend on the parity of the cell.
pub fn alternates(form: &Form) -> bool {
    let even = |var: &Var| matches!(var, Var::Line { .. });
    form.terms.keys().any(even)
}
