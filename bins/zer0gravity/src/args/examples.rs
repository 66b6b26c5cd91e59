//! The examples at the end of each help. Tests run them: none needs a key or a network.

pub const PROGRAM: &str = "\
Examples:
  zer0gravity run --level 1
  zer0gravity lint
  zer0gravity matrix --level 1 --run-dir runs/first
  zer0gravity report runs/first";

pub const RUN: &str = "\
Examples:
  zer0gravity run --level 1
  zer0gravity run --all --output results.json
  zer0gravity run --show-prompts";

pub const MATRIX: &str = "\
Examples:
  zer0gravity matrix --all --run-dir runs/all
  zer0gravity matrix --level 1 --trials 2 --run-dir runs/twice";

pub const RESUME: &str = "\
Examples:
  zer0gravity resume runs/first
  zer0gravity resume runs/first --min-total 40";

pub const RESCORE: &str = "\
Examples:
  zer0gravity rescore runs/first
  zer0gravity rescore runs/first --prompt-profile bands";

pub const SCORE: &str = "\
Examples:
  zer0gravity score cases.json
  zer0gravity score cases.json --output scored.json";

pub const LINT: &str = "\
Examples:
  zer0gravity lint
  zer0gravity lint rules.txt --deny ZG001";

pub const LEVELS: &str = "\
Examples:
  zer0gravity levels
  zer0gravity levels --json";

pub const REPORT: &str = "\
Examples:
  zer0gravity report runs/first
  zer0gravity report results.json --output -";

pub const EXPORT: &str = "\
Examples:
  zer0gravity export runs/first --output first.csv
  zer0gravity export runs/first --format json";

pub const COMPARE: &str = "\
Examples:
  zer0gravity compare runs/first runs/twice
  zer0gravity compare runs/first runs/twice --max-drop 5";

pub const ESTIMATE: &str = "\
Examples:
  zer0gravity estimate --level 1
  zer0gravity estimate --all --trials 3";
