//! The examples at the end of each help text. Tests run them, so none needs a key or a network.

pub const PROGRAM: &str = "\
Examples:
  logosphere demo
  logosphere run --output-dir first --rounds 5";

pub const NEW: &str = "\
Examples:
  logosphere new first
  logosphere new second --from first";

pub const CHECK_INIT: &str = "\
Examples:
  logosphere check-init first
  logosphere check-init first --json";

pub const IMPORT: &str = "\
Examples:
  logosphere import posts.csv --name posts --reads window:15
  logosphere import posts.jsonl --name letters --map text=body,author=from

Fields:
  text, id, author, time, parent, reads";

pub const MINDS: &str = "\
Examples:
  logosphere minds
  logosphere minds markov
  logosphere run --output-dir chain --mind markov:n=2 --rounds 2";

pub const ESTIMATE: &str = "\
Examples:
  logosphere estimate --minds 8 --rounds 50
  logosphere estimate first --rounds 50";

pub const RUN: &str = "\
Examples:
  logosphere run --output-dir quick --rounds 2 --seed 7
  logosphere run --output-dir copies --mind copier:mu=0.05
  logosphere run --output-dir wide --minds 6 --scheduling snapshot";

pub const RESUME: &str = "\
Examples:
  logosphere resume first
  logosphere resume first --rounds 8";

pub const SWEEP: &str = "\
Examples:
  logosphere sweep plan.toml
  logosphere sweep plan.toml --repeats 40
  logosphere sweep plan.toml --summary --json";

pub const STATUS: &str = "\
Examples:
  logosphere status first
  logosphere status first --json";

pub const FORK: &str = "\
Examples:
  logosphere fork first --at 3 --replicates 2
  logosphere fork first --at 2.1 --swap-mind 0=copier --replicates 2 --rounds 4";
pub const WATCH: &str = "\
Examples:
  logosphere watch first --once
  logosphere watch first --interval 2s
  logosphere watch sweeps/small";

pub const VERIFY: &str = "\
Examples:
  logosphere verify first
  logosphere verify first -o again.jsonl
  logosphere verify first --json";

pub const CHECK_LEAKS: &str = "\
Examples:
  logosphere check-leaks first
  logosphere check-leaks first --json";

pub const DIFF: &str = "\
Examples:
  logosphere verify first -o again.jsonl
  logosphere diff first again.jsonl";

pub const ANALYZE: &str = "\
Examples:
  logosphere analyze first
  logosphere analyze first -v
  logosphere analyze first --no-null";

pub const NULL_MODEL: &str = "\
Examples:
  logosphere null-model first
  logosphere null-model first --kind shuffle --seed 3";

pub const LINEAGE: &str = "\
Examples:
  logosphere lineage first
  logosphere lineage first --top 3";

pub const REPORT: &str = "\
Examples:
  logosphere report first
  logosphere report first -o page.html";

pub const EXPORT: &str = "\
Examples:
  logosphere export lineage first -o lineage.graphml
  logosphere export lineage first -o lineage.svg
  logosphere export messages first -o messages.csv
  logosphere export metrics first --format jsonl

Formats:
  lineage             graphml, dot, csv, jsonl, svg
  exposure            graphml, dot, csv, jsonl
  messages, metrics   csv, jsonl";

pub const PARSE: &str = "\
Examples:
  logosphere parse answer.txt
  logosphere parse answer.txt --mode strict --json";

pub const MCP: &str = "\
Examples:
  logosphere mcp
  logosphere mcp --print-config";

pub const DEMO: &str = "\
Examples:
  logosphere demo
  logosphere demo --dir my-demo";
