//! The report about rules.

use serde::{Deserialize, Serialize};

use super::finding::{LintFinding, MappingCost, TokenCounts};
use super::{cost, structure, wording};
use crate::LocalCounter;
use crate::rules::codec::not_understood;
use crate::rules::codec::syntax::rules;
use crate::text::Lexicon;

/// The findings of [`lint`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LintReport {
    /// The findings by line and code.
    pub findings: Vec<LintFinding>,
    /// The tokens of the rules themselves.
    pub rules_tokens: TokenCounts,
    /// The tokens of each mapping, in the order of the rules.
    pub mappings: Vec<MappingCost>,
}

/// The codes of all findings; [`lint`] has their meanings.
pub const CODES: [&str; 9] = [
    "ZG001", "ZG002", "ZG003", "ZG004", "ZG005", "ZG006", "ZG007", "ZG008", "ZG009",
];

/// Checks the parts of rules that a program can read: lines in the written syntax, and quoted mappings in any line.
///
/// | code | found |
/// |---|---|
/// | `ZG001` | two sources have one target |
/// | `ZG002` | a target is also normal text, so that decoding is ambiguous |
/// | `ZG003` | a target costs more tokens than its source |
/// | `ZG004` | a mapping saves no token |
/// | `ZG005` | information: a line, or a part of it, that only a model can follow |
/// | `ZG006` | vague wording |
/// | `ZG007` | a rule drops text that a decoder must guess |
/// | `ZG008` | text directed at a judge |
/// | `ZG009` | a rule that repeats another, or is empty |
///
/// ```
/// use zer0gravity_engine::Tokenizers;
/// use zer0gravity_engine::rules::lint::lint;
/// let report = lint("'is'→'='\nBe brief.", &Tokenizers::default());
/// let codes: Vec<_> = report.findings.iter().map(|finding| (finding.line, &*finding.code)).collect();
/// assert_eq!(codes, [(1, "ZG002"), (1, "ZG004"), (2, "ZG005"), (2, "ZG006")]);
/// ```
pub fn lint(rules_text: &str, counter: &dyn LocalCounter) -> LintReport {
    let rules = rules(rules_text);
    let mappings = cost::mapping_costs(&rules, counter);
    let mut findings = structure::findings(&rules, Lexicon::english());
    findings.extend(cost::findings(&mappings));
    findings.extend(
        rules
            .iter()
            .filter(|rule| !rule.body.is_empty())
            .filter_map(not_understood),
    );
    findings.extend(wording::findings(rules_text));
    findings.sort_by(|a, b| (a.line, &a.code).cmp(&(b.line, &b.code)));
    LintReport {
        findings,
        rules_tokens: cost::counted(rules_text, counter),
        mappings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts characters, so that the tests need no table.
    struct Characters;

    impl LocalCounter for Characters {
        fn cl100k(&self, text: &str) -> u64 {
            text.chars().count() as u64
        }

        fn o200k(&self, text: &str) -> u64 {
            text.len() as u64
        }
    }

    #[test]
    fn tokens_are_counted_with_a_space_before() {
        let report = lint("'a'→'α', 'you'→'u', 'I'→'ich'", &Characters);
        let codes: Vec<_> = report
            .findings
            .iter()
            .map(|finding| (&*finding.code, &*finding.message, &*finding.evidence))
            .collect();
        assert_eq!(
            codes,
            [
                (
                    "ZG002",
                    "the target is also normal text, so decoding is ambiguous",
                    "'you'→'u'"
                ),
                (
                    "ZG003",
                    "the target costs more tokens than the source under o200k",
                    "'a'→'α': cl100k 2→2, o200k 2→3"
                ),
                (
                    "ZG003",
                    "the target costs more tokens than the source under cl100k and o200k",
                    "'I'→'ich': cl100k 2→4, o200k 2→4"
                ),
                (
                    "ZG004",
                    "the mapping saves no token",
                    "'a'→'α': cl100k 2→2, o200k 2→3"
                ),
                (
                    "ZG004",
                    "the mapping saves no token",
                    "'I'→'ich': cl100k 2→4, o200k 2→4"
                ),
            ]
        );
        assert_eq!(report.rules_tokens.cl100k, 29);
        assert_eq!(report.mappings.len(), 3);
    }

    proptest::proptest! {
        #[test]
        fn any_rules_are_read(text in "\\PC*", lines in proptest::collection::vec(
            "('a'→'b'|x -> y|FOO:|drop|vowels|words|the|judge|etc|'|=|:|,|\n| )", 0..30)) {
            for rules in [text, lines.concat()] {
                let report = lint(&rules, &Characters);
                let lines = 1..=rules.lines().count();
                let placed = report.findings.iter().all(|finding| lines.contains(&finding.line));
                proptest::prop_assert!(placed);
                proptest::prop_assert_eq!(lint(&rules, &Characters), report);
            }
        }
    }
}
