//! The case families, from which sampling draws its starts.

use super::rng::RngStream;
use crate::law::Program;
use crate::law::evaluate::admitted;
use crate::law::rings::count_bounds;
use crate::universe::{Shift, State, Symbol, Tabulated, Universe};

/// The origin of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CaseFamily {
    /// Random cells, independent of each other, at 64 densities.
    RandomDensitySweep,
    /// A few pairs of symbols at chosen distances.
    ConstrainedPairInteractions,
    /// States with movers at the seam of the ring.
    EdgeWrappingCases,
    /// Random states, their images under the transforms, and palindromes.
    SymmetryMetamorphicSuite,
    /// Uniform, alternating and periodic states, single symbols and single holes.
    PathologicalCases,
    /// Blocks of movers that collide in large numbers.
    ExtremeStates,
    /// States built to meet the preconditions.
    PreconditionDirected,
    /// Mutations of the starts that came closest to the antecedent.
    AntecedentDirected,
    /// Every start of a ring.
    Exhaustive,
    /// The mutation search.
    Adversarial,
    /// The cases that the proposer asked for.
    Proposed,
    /// The patterns that the law names.
    PatternDirected,
}

impl CaseFamily {
    /// The families that fill a batch, one for each word of 64 lanes; the last word is filled from the others' results.
    pub const SAMPLED: [Self; 8] = [
        Self::RandomDensitySweep,
        Self::ConstrainedPairInteractions,
        Self::EdgeWrappingCases,
        Self::SymmetryMetamorphicSuite,
        Self::PathologicalCases,
        Self::ExtremeStates,
        Self::PreconditionDirected,
        Self::AntecedentDirected,
    ];

    /// Returns the name in laws and verdicts.
    pub fn name(self) -> &'static str {
        match self {
            Self::RandomDensitySweep => "random_density_sweep",
            Self::ConstrainedPairInteractions => "constrained_pair_interactions",
            Self::EdgeWrappingCases => "edge_wrapping_cases",
            Self::SymmetryMetamorphicSuite => "symmetry_metamorphic_suite",
            Self::PathologicalCases => "pathological_cases",
            Self::ExtremeStates => "extreme_states",
            Self::PreconditionDirected => "precondition_directed",
            Self::AntecedentDirected => "antecedent_directed",
            Self::Exhaustive => "exhaustive",
            Self::Adversarial => "adversarial_mutation",
            Self::Proposed => "proposed_tests",
            Self::PatternDirected => "pattern_directed",
        }
    }

    /// Returns the family of a name, among those that laws may ask for.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::SAMPLED
            .into_iter()
            .find(|family| family.name() == name)
    }
}

/// The generator of cases for a universe and a law.
pub struct Generator<'a> {
    universe: &'a Tabulated,
    program: &'a Program,
    /// The symbols that may start; the first one fills the background.
    starts: Vec<Symbol>,
    /// The other symbols, or the background again where it is the only one.
    movers: Vec<Symbol>,
    /// The bounds on the count of each start symbol that the preconditions set.
    counts: Vec<(usize, usize)>,
}

/// The number of cases of one family on one ring.
const CASES: usize = 64;

impl<'a> Generator<'a> {
    pub fn new(universe: &'a Tabulated, program: &'a Program) -> Self {
        let starts = universe.start_symbols();
        let movers = if starts.len() > 1 {
            starts[1..].to_vec()
        } else {
            starts.clone()
        };
        let counts = starts
            .iter()
            .map(|&symbol| count_bounds(program, symbol))
            .collect();
        Self {
            universe,
            program,
            starts,
            movers,
            counts,
        }
    }

    /// Returns the symbol that fills the cells without a mover.
    pub fn background(&self) -> Symbol {
        self.starts[0]
    }

    /// Generates 64 starts of a ring of `n` cells. The list is empty for a family that is generated elsewhere.
    pub fn cases(&self, family: CaseFamily, n: usize, draw: &mut RngStream) -> Vec<State> {
        let make: fn(&Self, usize, usize, &mut RngStream) -> Vec<Symbol> = match family {
            CaseFamily::RandomDensitySweep => Self::at_density,
            CaseFamily::ConstrainedPairInteractions => Self::pairs,
            CaseFamily::EdgeWrappingCases => Self::at_seam,
            CaseFamily::SymmetryMetamorphicSuite => return self.with_images(n, draw),
            CaseFamily::PathologicalCases => Self::pathological,
            CaseFamily::ExtremeStates => Self::blocks,
            CaseFamily::PreconditionDirected => Self::admitted,
            CaseFamily::AntecedentDirected
            | CaseFamily::Exhaustive
            | CaseFamily::Adversarial
            | CaseFamily::Proposed
            | CaseFamily::PatternDirected => return Vec::new(),
        };
        (0..CASES)
            .map(|case| make(self, n, case, draw).into())
            .collect()
    }

    fn at_density(&self, n: usize, case: usize, draw: &mut RngStream) -> Vec<Symbol> {
        let mut cell = || {
            if draw.below(CASES - 1) < case {
                draw.pick(&self.movers)
            } else {
                self.starts[0]
            }
        };
        (0..n).map(|_| cell()).collect()
    }

    fn pairs(&self, n: usize, case: usize, draw: &mut RngStream) -> Vec<Symbol> {
        let mut state = vec![self.starts[0]; n];
        for _ in 0..=case % 3 {
            let (first, gap) = (draw.below(n), draw.below(n / 2 + 1));
            state[first] = draw.pick(&self.movers);
            state[(first + gap) % n] = draw.pick(&self.movers);
        }
        state
    }

    fn at_seam(&self, n: usize, case: usize, draw: &mut RngStream) -> Vec<Symbol> {
        let mut state = vec![self.starts[0]; n];
        let reach = 2 + self.universe.radius();
        for _ in 0..=case % 4 {
            let cell = (n * reach + draw.below(2 * reach) - reach) % n;
            state[cell] = draw.pick(&self.movers);
        }
        for _ in 0..case / 16 {
            state[draw.below(n)] = draw.pick(&self.movers);
        }
        state
    }

    fn with_images(&self, n: usize, draw: &mut RngStream) -> Vec<State> {
        let allowed = |state: &State| state.iter().all(|symbol| self.starts.contains(symbol));
        let mut states: Vec<State> = Vec::with_capacity(CASES);
        while states.len() < CASES {
            let density = draw.below(CASES);
            let mut state = self.at_density(n, density, draw);
            if states.len().is_multiple_of(8) {
                for cell in 0..n / 2 {
                    state[n - 1 - cell] = state[cell];
                }
            }
            let state: State = state.into();
            let image = match self.universe.transforms() {
                [] => Shift::apply(1 + draw.below(n) as i64, &state),
                transforms => transforms[draw.below(transforms.len())].apply(&state),
            };
            let image = if allowed(&image) {
                image
            } else {
                Shift::apply(1, &state)
            };
            states.extend([state, image]);
        }
        states
    }

    fn pathological(&self, n: usize, case: usize, draw: &mut RngStream) -> Vec<Symbol> {
        let symbol = |index: usize| self.starts[index % self.starts.len()];
        match case % 4 {
            // A random motif of 1 to 8 cells, repeated.
            0 => {
                let period = 1 + case / 8;
                let motif: Vec<Symbol> = (0..period).map(|_| draw.pick(&self.starts)).collect();
                (0..n).map(|cell| motif[cell % period]).collect()
            }
            1 => vec![symbol(case / 4); n],
            // A single symbol; below, a single hole.
            2 => {
                let mut state = vec![self.starts[0]; n];
                state[draw.below(n)] = symbol(1 + case / 4);
                state
            }
            _ => {
                let mut state = vec![symbol(1 + case / 4); n];
                state[draw.below(n)] = self.starts[0];
                state
            }
        }
    }

    /// Generates blocks `a^k b^k` of two symbols, whose movers collide in large numbers.
    ///
    /// `case` selects the pair of symbols, and alternates between one pair of blocks, the largest k first, and many pairs around
    /// the ring, the smallest k first.
    fn blocks(&self, n: usize, case: usize, _draw: &mut RngStream) -> Vec<Symbol> {
        let pairs: Vec<(Symbol, Symbol)> = (self.movers.iter())
            .flat_map(|&first| self.movers.iter().map(move |&second| (first, second)))
            .filter(|(first, second)| first != second || self.movers.len() == 1)
            .collect();
        let (first, second) = pairs[case % pairs.len()];
        let (rank, largest) = (case / pairs.len() / 2, (n / 2).max(1));
        let (k, tiles) = if (case / pairs.len()).is_multiple_of(2) {
            (largest - rank % largest, 1)
        } else {
            let k = 1 + rank % largest;
            (k, n / (2 * k))
        };
        // If there are several tiles, the cells after them get a smaller pair with a gap between.
        let rest = n.saturating_sub(2 * k * tiles);
        let symbol = |cell: usize| match cell.checked_sub(2 * k * tiles) {
            None if cell % (2 * k) < k => first,
            None => second,
            Some(place) if tiles > 1 && place < rest / 2 => first,
            Some(place) if tiles > 1 && place >= rest - rest / 2 => second,
            Some(_) => self.starts[0],
        };
        (0..n).map(symbol).collect()
    }

    /// Generates a start that should meet the preconditions: drawn within their bounds on counts, in at most 8 tries.
    fn admitted(&self, n: usize, case: usize, draw: &mut RngStream) -> Vec<Symbol> {
        const TRIES: usize = 8;
        let mut state = Vec::new();
        for attempt in 0..TRIES {
            let fallback = (case + attempt * CASES / TRIES) % CASES;
            state = self
                .with_counts(n, draw)
                .unwrap_or_else(|| self.at_density(n, fallback, draw));
            if admitted(&self.program.preconditions, &state, self.universe) == Ok(true) {
                break;
            }
        }
        state
    }

    /// Generates a random arrangement with counts inside the bounds; `None` if no count is bounded or nothing fits.
    fn with_counts(&self, n: usize, draw: &mut RngStream) -> Option<Vec<Symbol>> {
        if self.counts.iter().all(|&bounds| bounds == (0, usize::MAX)) {
            return None;
        }
        let least: usize = self.counts.iter().map(|(low, _)| low).sum();
        let mut free = n.checked_sub(least)?;
        let mut state = Vec::with_capacity(n);
        // The background comes last and takes what is left.
        for (index, &(low, high)) in self.counts.iter().enumerate().skip(1) {
            let extra = draw.below(free.min(high.checked_sub(low)?) + 1);
            free -= extra;
            state.resize(state.len() + low + extra, self.starts[index]);
        }
        let (low, high) = self.counts[0];
        if low + free > high {
            return None;
        }
        state.resize(n, self.starts[0]);
        for cell in (1..n).rev() {
            state.swap(cell, draw.below(cell + 1));
        }
        Some(state)
    }

    /// Changes a start a little: replaces a cell, exchanges two cells, copies a stretch, or shifts all cells.
    pub fn mutated(&self, state: &[Symbol], draw: &mut RngStream) -> State {
        let mut changed = state.to_vec();
        let n = changed.len();
        for _ in 0..=draw.below(3) {
            match draw.below(8) {
                0..=3 => changed[draw.below(n)] = draw.pick(&self.starts),
                4 | 5 => changed.swap(draw.below(n), draw.below(n)),
                6 => {
                    let (from, to, length) =
                        (draw.below(n), draw.below(n), 1 + draw.below(n.div_ceil(4)));
                    for step in 0..length {
                        changed[(to + step) % n] = state[(from + step) % n];
                    }
                }
                _ => changed.rotate_right(draw.below(n)),
            }
        }
        changed.into()
    }

    /// Resizes a start: cuts it, or inserts background cells and random symbols.
    pub fn resized(&self, state: &[Symbol], n: usize, draw: &mut RngStream) -> State {
        let mut changed = state.to_vec();
        changed.truncate(n);
        while changed.len() < n {
            let symbol = if draw.below(2) == 0 {
                self.starts[0]
            } else {
                draw.pick(&self.starts)
            };
            changed.insert(draw.below(changed.len() + 1), symbol);
        }
        changed.into()
    }
}

/// Whether the harness knows a transform of this name.
pub fn knows_transform(universe: &Tabulated, name: &str) -> bool {
    Shift::parse(name).is_some()
        || universe
            .transforms()
            .iter()
            .any(|transform| transform.name == name)
}
