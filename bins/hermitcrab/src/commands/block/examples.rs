//! The examples at the end of the help of each block command. Tests run them in this order.

pub const LIST: &str = "\
Examples:
  hermitcrab block list
  hermitcrab block list --json";

pub const READ: &str = "\
Examples:
  hermitcrab block read constitution
  hermitcrab block read constitution 0.1";

pub const CREATE: &str = "\
Examples:
  hermitcrab block create notes 'Notes about the boat'
  echo 'Where the wind blew' | hermitcrab block create wind -";

pub const WRITE: &str = "\
Examples:
  hermitcrab block write notes 0.1 'Oak on larch'";

pub const APPEND: &str = "\
Examples:
  hermitcrab block append notes 'A gull in the shed'";

pub const GROW: &str = "\
Examples:
  hermitcrab block grow notes --summary 'The hull is planked'";

pub const MV: &str = "\
Examples:
  hermitcrab block mv notes 0.1.1 0.5";

pub const RM: &str = "\
Examples:
  hermitcrab block rm notes 0.5
  hermitcrab block rm wind --whole";

pub const SEARCH: &str = "\
Examples:
  hermitcrab block search oak
  hermitcrab block search oak notes";

pub const DIFF: &str = "\
Examples:
  hermitcrab block diff notes --since 1  # exit code 4: it differs";

pub const LINT: &str = "\
Examples:
  hermitcrab block lint
  hermitcrab block lint notes";

pub const EXPORT: &str = "\
Examples:
  hermitcrab block export notes -o notes.json";

pub const IMPORT: &str = "\
Examples:
  hermitcrab block import notes.json --on-conflict replace";

pub const LOG: &str = "\
Examples:
  hermitcrab block log notes --limit 5";

pub const UNDO: &str = "\
Examples:
  hermitcrab block undo notes";

pub const REDO: &str = "\
Examples:
  hermitcrab block redo notes";

pub const REVIEW: &str = "\
Examples:
  hermitcrab block review
  hermitcrab block review --json";
