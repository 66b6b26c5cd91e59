//! Universes as tables, which the harness uses.

use super::Universe;
use super::definition::Definition;
use super::error::UniverseError;
use super::kinetic::{KineticGrid, Streaming};
use super::rule::{MAX_RADIUS, Rule};
use super::state::{Alphabet, State, Symbol};
use super::transform::Transform;

/// A universe with its rule in a table, the form that this crate works with.
///
/// It is made from any [`Universe`] by [`of`](Self::of), from a file by [`from_json`](Self::from_json), or from a function by
/// [`from_fn`](Self::from_fn). All facts about the dynamics follow from the table, so an implementation cannot contradict
/// it with a faster step or a period.
///
/// ```
/// use popper_harness::universe::{Tabulated, Universe};
///
/// let traffic = Tabulated::from_json(r#"{
///     "id": "traffic", "symbols": ".o", "radius": 1,
///     "rule": {"patterns": [["?oo", "o"], ["o.?", "o"]], "default": "."}
/// }"#)?;
/// let jam = traffic.alphabet().parse("oo..")?;
/// assert_eq!(traffic.alphabet().text(&traffic.step(&jam)), "o.o.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tabulated {
    id: String,
    alphabet: Alphabet,
    rule: Rule,
    may_start: Vec<bool>,
    incoming: Option<Symbol>,
    transforms: Vec<Transform>,
    streaming: Option<Streaming>,
}

/// The longest id, in characters.
const MAX_ID: usize = 64;

impl Tabulated {
    /// Tabulates a universe. Its `next_cell` is called twice for every window.
    ///
    /// # Errors
    /// [`UniverseError`] names the method with an invalid result, and the window in symbols.
    pub fn of(universe: &(impl Universe + ?Sized)) -> Result<Self, UniverseError> {
        let alphabet = universe.alphabet().clone();
        let known = |symbol: Symbol| usize::from(symbol) < alphabet.len();
        let rule = Rule::tabulate(&alphabet, universe.radius(), |window| {
            let symbol = universe.next_cell(window);
            if known(symbol) {
                return Ok(symbol);
            }
            Err(UniverseError::OutOfRange {
                window: alphabet.text(window),
                symbol,
                symbols: alphabet.len(),
            })
        })?;
        Self::new(universe.id().into(), alphabet, rule)
            .starting_with(|symbol| universe.may_start(symbol))
            .with(universe.incoming(), universe.transforms().to_vec())
            .checked()
    }

    /// Creates a universe from three strings and a function, in which every symbol may start.
    ///
    /// ```
    /// use popper_harness::universe::Tabulated;
    ///
    /// let traffic = Tabulated::from_fn("traffic", ".o", 1, |window| match window {
    ///     [_, 'o', 'o'] | ['o', '.', _] => 'o',
    ///     _ => '.',
    /// })?;
    /// assert_eq!(traffic.definition().rule.table["o.o"], 'o');
    /// # Ok::<(), popper_harness::universe::UniverseError>(())
    /// ```
    ///
    /// # Errors
    /// [`UniverseError`] as for [`of`](Self::of), or if the function gives a character that is not one of `symbols`.
    pub fn from_fn(
        id: &str,
        symbols: &str,
        radius: usize,
        next: impl Fn(&[char]) -> char,
    ) -> Result<Self, UniverseError> {
        let alphabet = Alphabet::new(symbols.chars())?;
        let rule = Rule::tabulate(&alphabet, radius, |window| {
            let window: Vec<char> = window.iter().map(|&symbol| alphabet.char(symbol)).collect();
            let char = next(&window);
            alphabet.symbol(char).ok_or_else(|| {
                let window: String = window.iter().collect();
                let message = format!("{window:?} gives {char:?}, expected one of {symbols:?}");
                UniverseError::field("rule", message)
            })
        })?;
        Self::new(id.into(), alphabet, rule).checked()
    }

    /// Creates a universe without transforms in which every symbol may start.
    pub(super) fn new(id: String, alphabet: Alphabet, rule: Rule) -> Self {
        Self {
            id,
            may_start: vec![true; alphabet.len()],
            streaming: Streaming::of(&rule),
            alphabet,
            rule,
            incoming: None,
            transforms: Vec::new(),
        }
    }

    /// Tabulates a universe of this crate, which needs no check.
    pub(super) fn known(universe: &impl Universe) -> Self {
        let alphabet = universe.alphabet().clone();
        let radius = universe.radius();
        let next = super::rule::windows(alphabet.len(), 2 * radius + 1)
            .map(|window| universe.next_cell(&window))
            .collect();
        let rule = Rule::from_table(alphabet.len(), radius, next);
        Self::new(universe.id().into(), alphabet, rule)
            .starting_with(|symbol| universe.may_start(symbol))
            .with(universe.incoming(), universe.transforms().to_vec())
    }

    /// Returns the symbols that are allowed at t = 0, ascending.
    pub(crate) fn start_symbols(&self) -> Vec<Symbol> {
        (0..self.alphabet.len() as Symbol)
            .filter(|&symbol| self.may_start(symbol))
            .collect()
    }

    pub(super) fn starting_with(self, may_start: impl Fn(Symbol) -> bool) -> Self {
        Self {
            may_start: (0..self.alphabet.len() as Symbol).map(may_start).collect(),
            ..self
        }
    }

    pub(super) fn with(self, incoming: Option<Symbol>, transforms: Vec<Transform>) -> Self {
        Self {
            incoming,
            transforms,
            ..self
        }
    }

    /// Returns the same universe if its names and its start symbols are valid.
    pub(super) fn checked(self) -> Result<Self, UniverseError> {
        let named = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        let length = self.id.chars().count();
        if !(1..=MAX_ID).contains(&length) || !self.id.chars().all(named) {
            let message = format!(
                "expected 1 to {MAX_ID} of A-Z a-z 0-9 _ - ., found {:?}",
                self.id
            );
            return Err(UniverseError::field("id", message));
        }
        if !self.may_start.contains(&true) {
            return Err(UniverseError::NothingStarts);
        }
        let symbols = self.alphabet.len();
        if let Some(symbol) = self.incoming
            && usize::from(symbol) >= symbols
        {
            let message = format!("is symbol {symbol}, the alphabet has {symbols}");
            return Err(UniverseError::field("incoming", message));
        }
        for (index, transform) in self.transforms.iter().enumerate() {
            let wrong = |key, message| {
                Err(UniverseError::field(
                    format!("transforms[{index}]{key}"),
                    message,
                ))
            };
            let name = transform.name();
            if self.transforms[..index].iter().any(|t| t.name() == name) {
                return wrong(
                    ".name",
                    format!("{name:?} is the name of an earlier transform"),
                );
            }
            let map = transform.map.len();
            if map != symbols {
                return wrong(
                    "",
                    format!("maps {map} symbols, the alphabet has {symbols}"),
                );
            }
        }
        if self.id == KineticGrid::ID && self != *KineticGrid {
            let message = format!(
                "{:?} is built in, and this universe differs from it: take another name",
                KineticGrid::ID
            );
            return Err(UniverseError::field("id", message));
        }
        Ok(self)
    }

    /// Whether this is the built-in universe.
    pub fn is_built_in(&self) -> bool {
        self.id == KineticGrid::ID
    }

    /// Returns the rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Returns a number of steps after which every ring of `n` cells returns to its start, if one is known.
    ///
    /// It is known if the rule is that of the [`KineticGrid`] under any names.
    pub fn period_bound(&self, n: usize) -> Option<u64> {
        self.streaming.as_ref().map(|_| n as u64)
    }

    /// Returns the state one step later.
    pub fn step(&self, state: &[Symbol]) -> State {
        if let Some(streaming) = &self.streaming {
            return streaming.evolve(state, 1);
        }
        let (n, radius) = (state.len(), self.rule.radius());
        let mut window = [0; 2 * MAX_RADIUS + 1];
        (0..n)
            .map(|cell| {
                for (offset, seen) in window[..=2 * radius].iter_mut().enumerate() {
                    // `n * MAX_RADIUS` keeps the difference positive on rings shorter than the window.
                    *seen = state[(cell + offset + n * MAX_RADIUS - radius) % n];
                }
                self.rule.next(&window[..=2 * radius])
            })
            .collect()
    }

    /// Returns the state `steps` steps later.
    pub fn evolve(&self, state: &[Symbol], steps: u64) -> State {
        match &self.streaming {
            Some(streaming) => streaming.evolve(state, steps),
            None => (0..steps).fold(state.iter().copied().collect(), |now: State, _| {
                self.step(&now)
            }),
        }
    }

    /// Returns the whole universe as data, which suffices to rebuild it.
    pub fn definition(&self) -> Definition {
        Definition::of(self)
    }

    /// Returns the `sim_hash`: the sha256 of the canonical definition and the semantics version.
    pub fn definition_hash(&self) -> String {
        self.definition().hash()
    }
}

impl Universe for Tabulated {
    fn id(&self) -> &str {
        &self.id
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn radius(&self) -> usize {
        self.rule.radius()
    }

    fn next_cell(&self, window: &[Symbol]) -> Symbol {
        self.rule.next(window)
    }

    fn may_start(&self, symbol: Symbol) -> bool {
        self.may_start[usize::from(symbol)]
    }

    fn transforms(&self) -> &[Transform] {
        &self.transforms
    }

    fn incoming(&self) -> Option<Symbol> {
        self.incoming
    }
}
