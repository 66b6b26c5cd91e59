//! The value of an observable expression on a single state.

use super::compile::Unfit;
use super::error::LawError;
use super::evaluate::{EvalError, observe};
use super::model::Law;
use super::program::Program;
use super::syntax::Op;
use crate::universe::{StateError, Symbol, Tabulated, Universe};

/// A reason why an expression has no value on a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The expression is blank or too long.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The expression does not parse, or names something that the universe does not have.
    #[error(transparent)]
    Expression(#[from] Unfit),
    /// The state is empty or holds a foreign symbol.
    #[error(transparent)]
    State(#[from] StateError),
    /// The value does not fit into 64 bits, or a divisor is zero.
    #[error(transparent)]
    Value(#[from] EvalError),
}

/// Returns the value of an observable expression on a state.
///
/// ```
/// use popper_harness::law::measure;
/// use popper_harness::universe::{KineticGrid, Universe};
///
/// let state = KineticGrid.alphabet().parse(">.<X")?;
/// assert_eq!(measure("count('>') + count('X')", &state, &KineticGrid)?, 2);
/// assert_eq!(measure("leftmost('X') % 2", &state, &KineticGrid)?, 1);
/// assert!(measure("count('>'", &state, &KineticGrid).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MeasureError`] when the expression cannot be read in this universe or has no value on this state.
pub fn measure(expr: &str, state: &[Symbol], universe: &Tabulated) -> Result<i64, MeasureError> {
    let symbols = universe.alphabet().len();
    if state.is_empty() {
        return Err(StateError::Empty.into());
    }
    if let Some(position) = state.iter().position(|&cell| usize::from(cell) >= symbols) {
        let foreign = StateError::ForeignSymbol {
            position,
            symbol: char::REPLACEMENT_CHARACTER,
            alphabet: universe.alphabet().chars().iter().collect(),
        };
        return Err(foreign.into());
    }
    let asking = Law::bound(expr, Op::Ge, 0).build()?;
    let program = Program::compile(&asking, universe)?;
    let value = program.named.first().map_or(Ok(0), |(_, observable)| {
        observe(observable, state, universe)
    });
    Ok(value?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::universe::{KineticGrid, State};

    #[test]
    fn what_has_no_value_says_why() {
        let state = KineticGrid.alphabet().parse(">.<X").unwrap();
        let error = |expr: &str, state: &[Symbol]| {
            measure(expr, state, &KineticGrid).unwrap_err().to_string()
        };
        assert_eq!(error("1 % 0", &state), "division by zero");
        assert!(error("momentum", &state).contains("momentum"));
        assert_eq!(
            error("count('a')", &state),
            "symbol a is not in kinetic_grid_v1 (. > < X)"
        );
        assert!(error("count('>') and 1", &state).contains("column"));
        assert_eq!(error(" ", &state), "$.observables[0].expr: is blank");
        assert!(error("grid_length", &State::from(vec![])).contains("empty"));
        assert!(error("grid_length", &State::from(vec![4])).contains("cell 0"));
    }
}
