//! The examples at the end of each help. Tests run them: none needs a key or a network.

pub const PROGRAM: &str = "\
Examples:
  popper new law -o law.json
  popper check law.json
  popper simulate '>.<.' --steps 4
  popper run --iterations 1";

pub const RUN: &str = "\
Examples:
  popper run --iterations 1
  popper run --new-run --seed 7 --iterations 1";

pub const RESUME: &str = "\
Examples:
  popper resume --run-id 1 --iterations 2
  popper resume --run-id 1 --iterations 2 --json";

pub const STATUS: &str = "\
Examples:
  popper status
  popper status --run-id 1 --json";

pub const WORKER: &str = "\
Examples:
  popper worker --store postgres://ada@db.example.org/popper
  popper worker --threads 2 --drain --json";

pub const QUEUE: &str = "\
Examples:
  popper queue list
  popper queue resolve --conflict 3 --drop-both";

pub const QUEUE_LIST: &str = "\
Examples:
  popper queue list --store postgres://ada@db.example.org/popper
  popper queue list --json";

pub const QUEUE_RESOLVE: &str = "\
Examples:
  popper queue resolve --conflict 3 --drop-both";

pub const RETEST: &str = "\
Examples:
  popper retest --law-id conserved_gt
  popper retest --law-id conserved_gt --json";

pub const EXPORT: &str = "\
Examples:
  popper export -o run.json
  popper export --format csv -o laws.csv";

pub const REPORT: &str = "\
Examples:
  popper report
  popper report --run-id 1 -o run.html";

pub const CHECK: &str = "\
Examples:
  popper check law.json
  popper check law.json --json > verdicts.json
  popper new law | popper check -";

pub const NEW: &str = "\
Examples:
  popper new law -o law.json
  popper new universe -o universe.json";

pub const SIMULATE: &str = "\
Examples:
  popper simulate '>.<.' --steps 4
  popper simulate '>.<.' --steps 4 --json";

pub const REPLAY: &str = "\
Examples:
  popper export -o run.json
  popper replay run.json";

pub const VERIFY: &str = "\
Examples:
  popper check law.json --json > verdicts.json
  popper verify verdicts.json";

pub const UNIVERSE: &str = "\
Examples:
  popper universe show kinetic_grid
  popper universe random --seed 3 > mine.json
  popper universe check mine.json";

pub const SPAN: &str = "\
Examples:
  popper span
  popper span --universe mine.json --width 1 --json";
