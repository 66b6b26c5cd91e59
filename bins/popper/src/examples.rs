//! The examples at the end of each help. Tests run them: none needs a key or a network.

pub const PROGRAM: &str = "\
Examples:
  popper check --conserved \"count('X')\" --trace
  popper new law -o law.json && popper check law.json
  popper simulate '>.<.' -n 4
  popper run --iterations 1";

pub const CHECK: &str = "\
Examples:
  popper check --conserved \"count('>') + count('X')\"
  popper check --bound 'incoming_collisions <= 1' --trace
  popper check law.json --json > verdicts.json
  popper new law | popper check -";

pub const EXPLAIN: &str = "\
Examples:
  popper check law.json --json | popper explain -
  popper explain verdicts.json --law right_movers_conserved --width 60";

pub const MCP: &str = "\
Examples:
  popper mcp
  popper mcp --print-config
  popper lab new --tier A -o game
  popper mcp --lab game.sealed.json --log game.jsonl";

pub const NEW: &str = "\
Examples:
  popper new law -o law.json
  popper new universe -o universe.json";

pub const NEW_LAW: &str = "\
Examples:
  popper new law
  popper new law -o law.json";

pub const NEW_UNIVERSE: &str = "\
Examples:
  popper new universe
  popper new universe -o universe.json";

pub const SIMULATE: &str = "\
Examples:
  popper simulate '>.<.' -n 4
  popper simulate '>.<.' -n 4 --json";

pub const VERIFY: &str = "\
Examples:
  popper check law.json --json | popper verify -
  popper verify verdicts.json --json";

pub const UNIVERSE: &str = "\
Examples:
  popper universe show
  popper universe random --seed 3 -o mine.json
  popper universe check mine.json";

pub const UNIVERSE_SHOW: &str = "\
Examples:
  popper universe show
  popper universe show kinetic_grid --json";

pub const UNIVERSE_CHECK: &str = "\
Examples:
  popper universe check universe.json
  popper new universe | popper universe check -";

pub const UNIVERSE_RANDOM: &str = "\
Examples:
  popper universe random --seed 3
  popper universe random --seed random -o mine.json";

pub const CONSERVED: &str = "\
Examples:
  popper conserved
  popper conserved -u mine.json --width 1 --json";

pub const LAB: &str = "\
Examples:
  popper lab new --tier A --seed 7 -o mine
  popper lab play mine.sealed.json --baseline version-space --log mine.jsonl
  popper lab score mine.jsonl --sealed mine.sealed.json";

pub const LAB_NEW: &str = "\
Examples:
  popper lab new --tier A --seed 7 -o small
  popper lab new --tier D -o noisy";

pub const LAB_PLAY: &str = "\
Examples:
  popper lab new --tier B -o wide
  popper lab play wide.sealed.json --baseline random
  echo '{\"end\": true}' | popper lab play wide.sealed.json --log wide.jsonl";

pub const LAB_SCORE: &str = "\
Examples:
  popper lab new --tier C -o veiled
  popper lab play veiled.sealed.json --baseline enumerative --log veiled.jsonl
  popper lab score veiled.jsonl --sealed veiled.sealed.json --json";

pub const RUN: &str = "\
Examples:
  popper run --iterations 1
  popper run --new-run --seed 7 --iterations 1";

pub const RESUME: &str = "\
Examples:
  popper resume --iterations 2
  popper resume 1 --iterations 2 --json";

pub const STATUS: &str = "\
Examples:
  popper status
  popper status 1 --json";

pub const ESTIMATE: &str = "\
Examples:
  popper estimate
  popper estimate --iterations 20 --batch 40 --json";

pub const REPORT: &str = "\
Examples:
  popper report
  popper report 1 -o run.html";

pub const RETEST: &str = "\
Examples:
  popper retest conserved_gt
  popper retest conserved_gt 1 --json";

pub const EXPORT: &str = "\
Examples:
  popper export -o run.json
  popper export 1 -o laws.csv";

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
  popper queue resolve --conflict 3 --drop-both
  popper queue resolve --drop-both --conflict 12";

pub const DEMO: &str = "\
Examples:
  popper demo
  popper demo --dir tour --json";
