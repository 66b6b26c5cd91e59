//! The findings of the lint in the default rules.

use zer0gravity_engine::rules::lint::{LintReport, TokenCounts, lint};
use zer0gravity_engine::{DEFAULT_RULES, Tokenizers};

fn default_report() -> LintReport {
    lint(DEFAULT_RULES, &Tokenizers::default())
}

#[test]
fn the_default_rules_cost_what_they_cost() {
    let report = default_report();
    let TokenCounts { cl100k, o200k, .. } = report.rules_tokens;
    assert_eq!((cl100k, o200k), (137, 135));
}

#[test]
fn no_sign_of_the_default_rules_gains_a_token() {
    let report = default_report();
    let is_one = |tokens: TokenCounts| (tokens.cl100k, tokens.o200k) == (1, 1);
    assert_eq!(report.mappings.len(), 11);
    assert!(
        report
            .mappings
            .iter()
            .all(|mapping| is_one(mapping.source_tokens))
    );
    let dearer = |tokens: fn(TokenCounts) -> u64| -> String {
        let mappings = report.mappings.iter();
        mappings
            .filter(|mapping| tokens(mapping.target_tokens) > tokens(mapping.source_tokens))
            .map(|mapping| &*mapping.target)
            .collect()
    };
    assert_eq!(dearer(|tokens| tokens.cl100k), "θ∘∴⊕⊙");
    assert_eq!(dearer(|tokens| tokens.o200k), "∘∈∴∀⊕⊙");
}

#[test]
fn the_findings_of_the_default_rules() {
    let report = default_report();
    let of = |code: &str| -> Vec<(usize, &str)> {
        let findings = report
            .findings
            .iter()
            .filter(|finding| finding.code == code);
        findings
            .map(|finding| (finding.line, &*finding.evidence))
            .collect()
    };
    let under = |encoding: &str| -> String {
        let findings = report.findings.iter();
        findings
            .filter(|finding| finding.code == "ZG003" && finding.message.contains(encoding))
            .filter_map(|finding| finding.evidence.split('\'').nth(3))
            .collect()
    };
    assert_eq!(under("cl100k"), "θ∘∴⊕⊙");
    assert_eq!(under("o200k"), "∘∈∴∀⊕⊙");
    assert_eq!(of("ZG001"), []);
    assert_eq!(of("ZG002"), [(2, "'is'→'='"), (2, "'and'→'&'")]);
    assert_eq!(of("ZG003").len(), 7);
    assert_eq!(of("ZG004").len(), 11);
    assert_eq!(of("ZG004")[0], (2, "'the'→'θ': cl100k 1→2, o200k 1→1"));
    assert_eq!(
        of("ZG005"),
        [(4, "Use '|' as word separator where ambiguous")]
    );
    assert_eq!(of("ZG006"), [(4, "unnecessary"), (4, "where ambiguous")]);
    assert_eq!(of("ZG007").len(), 1);
    assert_eq!((of("ZG008"), of("ZG009")), (vec![], vec![]));
    let places: Vec<_> = report
        .findings
        .iter()
        .map(|finding| (finding.line, &finding.code))
        .collect();
    assert!(places.is_sorted());
}

#[test]
fn a_report_is_json_and_comes_back() {
    let report = default_report();
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains("\"rulesTokens\":{\"cl100k\":137,\"o200k\":135}"));
    assert_eq!(serde_json::from_str::<LintReport>(&json).unwrap(), report);
}
