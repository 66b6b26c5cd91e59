//! The token cost of mappings: `ZG003` and `ZG004`.

use super::finding::{LintFinding, MappingCost, TokenCounts, finding};
use crate::LocalCounter;
use crate::rules::codec::syntax::Rule;

pub(super) fn counted(text: &str, counter: &dyn LocalCounter) -> TokenCounts {
    TokenCounts {
        cl100k: counter.cl100k(text),
        o200k: counter.o200k(text),
    }
}

pub(super) fn mapping_costs(rules: &[Rule<'_>], counter: &dyn LocalCounter) -> Vec<MappingCost> {
    let cost = |text: &str| counted(&format!(" {text}"), counter);
    rules
        .iter()
        .flat_map(|rule| rule.mappings().map(|mapping| (rule.line, mapping)))
        .map(|(line, mapping)| MappingCost {
            line,
            source: mapping.source.clone(),
            target: mapping.target.clone(),
            source_tokens: cost(&mapping.source),
            target_tokens: cost(&mapping.target),
        })
        .collect()
}

pub(super) fn findings(mappings: &[MappingCost]) -> Vec<LintFinding> {
    let mut all = Vec::new();
    for mapping in mappings {
        let (source, target) = (mapping.source_tokens, mapping.target_tokens);
        let evidence = format!(
            "'{}'→'{}': cl100k {}→{}, o200k {}→{}",
            mapping.source,
            mapping.target,
            source.cl100k,
            target.cl100k,
            source.o200k,
            target.o200k
        );
        let under = match (target.cl100k > source.cl100k, target.o200k > source.o200k) {
            (true, true) => Some("cl100k and o200k"),
            (true, false) => Some("cl100k"),
            (false, true) => Some("o200k"),
            (false, false) => None,
        };
        if let Some(under) = under {
            let message = format!("the target costs more tokens than the source under {under}");
            all.push(finding("ZG003", mapping.line, message, &*evidence));
        }
        if target.cl100k >= source.cl100k && target.o200k >= source.o200k {
            all.push(finding(
                "ZG004",
                mapping.line,
                "the mapping saves no token",
                evidence,
            ));
        }
    }
    all
}
