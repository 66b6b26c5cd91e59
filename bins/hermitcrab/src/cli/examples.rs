//! The examples at the end of each help. Tests run them: none needs a key or a network.

pub const PROGRAM: &str = "\
Examples:
  hermitcrab chat
  hermitcrab block list
  hermitcrab block read constitution
  hermitcrab prompt --phase call --tokens";

pub const CHAT: &str = "\
Examples:
  hermitcrab chat
  hermitcrab chat --provider offline --fresh";

pub const SERVE: &str = "\
Examples:
  hermitcrab serve
  hermitcrab serve --no-open --port 8100
  hermitcrab serve --safe";

pub const BLOCK: &str = "\
Examples:
  hermitcrab block create notes 'Notes about the boat'
  hermitcrab block append notes 'Larch on oak'
  hermitcrab block read notes
  hermitcrab block search larch";

pub const PROMPT: &str = "\
Examples:
  hermitcrab prompt --phase boot
  hermitcrab prompt --phase call --tokens";

pub const COMPILE: &str = "\
Examples:
  hermitcrab compile face.jsx
  hermitcrab compile - < face.jsx";

pub const SHELLS: &str = "\
Examples:
  hermitcrab shells
  hermitcrab shells --json";

pub const COST: &str = "\
Examples:
  hermitcrab cost
  hermitcrab cost --json";

pub const DOCTOR: &str = "\
Examples:
  hermitcrab doctor --provider offline
  hermitcrab doctor --provider offline --json";

pub const EXPORT: &str = "\
Examples:
  hermitcrab export -o backup.json
  hermitcrab export --with-log -o backup.json";

pub const IMPORT: &str = "\
Examples:
  hermitcrab import backup.json --on-conflict replace
  hermitcrab import backup.json --on-conflict rename";

pub const MIGRATE: &str = "\
Examples:
  hermitcrab migrate old.json --data old-instance --dry-run
  hermitcrab migrate old.json --data old-instance";

pub const KEY: &str = "\
Examples:
  hermitcrab key status
  hermitcrab key set --file < key.txt
  hermitcrab key clear";

pub const MCP: &str = "\
Examples:
  hermitcrab mcp
  hermitcrab mcp --write
  hermitcrab mcp --write --print-config";
