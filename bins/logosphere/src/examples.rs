//! The examples at the end of each help text. Tests run them, so none needs a key or a network.

pub const PROGRAM: &str = "\
Examples:
  logosphere demo
  logosphere run --output-dir first --rounds 5
  logosphere verify first
  logosphere report first";

pub const NEW: &str = "\
Examples:
  logosphere new first
  logosphere new second --from first";

pub const INIT_CHECK: &str = "\
Examples:
  logosphere init-check first
  logosphere init-check first --json";

pub const RUN: &str = "\
Examples:
  logosphere run --output-dir quick --rounds 2 --seed 7
  logosphere run --output-dir copies --mind copier:mu=0.05
  logosphere run --output-dir wide --minds 6 --scheduling snapshot";

pub const RESUME: &str = "\
Examples:
  logosphere resume first
  logosphere resume first --rounds 8";

pub const REPLAY: &str = "\
Examples:
  logosphere replay first
  logosphere replay first --out again.jsonl";

pub const VERIFY: &str = "\
Examples:
  logosphere verify first
  logosphere verify first --json";

pub const LEAK: &str = "\
Examples:
  logosphere leak first
  logosphere leak first --json";

pub const DIFF: &str = "\
Examples:
  logosphere replay first --out again.jsonl
  logosphere diff first again.jsonl";

pub const ANALYZE: &str = "\
Examples:
  logosphere analyze first
  logosphere analyze first --null random-copy";

pub const REPORT: &str = "\
Examples:
  logosphere report first
  logosphere report first --out page.html";

pub const EXPORT: &str = "\
Examples:
  logosphere export first lineage.graphml
  logosphere export first messages.csv
  logosphere export first - --what metrics --format jsonl

Forms:
  lineage, exposure   graphml, dot, csv, jsonl
  messages, metrics   csv, jsonl";

pub const LINEAGE: &str = "\
Examples:
  logosphere lineage first
  logosphere lineage first --top 3";

pub const FORECAST: &str = "\
Examples:
  logosphere forecast first
  logosphere forecast first --rounds 50";

pub const NULL: &str = "\
Examples:
  logosphere null first
  logosphere null first --kind shuffle --seed 3";

pub const MINDS: &str = "\
Examples:
  logosphere minds
  logosphere run --output-dir chain --mind markov:n=2 --rounds 2";

pub const PARSE: &str = "\
Examples:
  logosphere parse answer.txt
  logosphere parse answer.txt --mode strict --json";

pub const DEMO: &str = "\
Examples:
  logosphere demo
  logosphere demo --output-dir my-demo";
