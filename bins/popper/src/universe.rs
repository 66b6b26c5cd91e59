//! The universe that `--universe` names.

use std::path::Path;

use popper_harness::universe::{KineticGrid, Tabulated, UniverseError};

use crate::error::Error;
use crate::input::{Text, name};

/// The name of the built-in universe on the command line; its id is [`KineticGrid::ID`].
pub const BUILT_IN: &str = "kinetic_grid";

/// The built-in universe by its name, or the one that a file defines.
pub fn load(path: &Path) -> Result<Tabulated, Error> {
    if path.as_os_str() == BUILT_IN || path.as_os_str() == KineticGrid::ID {
        return Ok(Tabulated::clone(&KineticGrid));
    }
    let file = Text::read(path).map_err(|error| match path.try_exists() {
        Ok(false) if path.extension().is_none() => Error::NoUniverse { name: name(path) },
        _ => error,
    })?;
    Tabulated::from_json(&file.text).map_err(|error| match error {
        UniverseError::Field { field, message } => {
            Error::form(&file.name, &format!("$.{field}"), message)
        }
        other => Error::form(&file.name, "$", other),
    })
}
