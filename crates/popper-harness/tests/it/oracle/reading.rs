//! The claim of a law in the form of its template.

use serde_json::Value;

use super::claim::{Reader, binary};
use super::*;

/// The claim in the form of its template.
pub(super) enum Reading {
    /// Holds at every t up to `last`, as long as every named time is within the horizon.
    Always {
        claim: Claim,
        last: usize,
    },
    Eventually {
        antecedent: Claim,
        consequent: Claim,
        window: usize,
    },
    Commutes {
        transform: String,
    },
    Local {
        trigger: u8,
        pattern: Option<Vec<u8>>,
        parity: Option<usize>,
        equal: bool,
        result: u8,
    },
}

pub(super) fn reading(
    law: &Value,
    universe: &Universe,
    names: &[String],
    horizon: usize,
) -> Result<Reading, Refusal> {
    let schema = |what: &str| Refusal::Schema(what.into());
    let template = law["template"].as_str().ok_or_else(|| schema("template"))?;
    let text = law["claim"].as_str().unwrap_or("");
    if template == "symmetry_commutation" {
        return commutation(law, universe, text);
    }
    if template == "local_transition" {
        let symbol = |key: &str| {
            let text = law[key].as_str().unwrap_or("");
            universe.cells(text).ok_or_else(|| schema(key))
        };
        let pattern = law["neighbor_pattern"].is_string();
        return Ok(Reading::Local {
            trigger: symbol("trigger_symbol")?[0],
            pattern: pattern.then(|| symbol("neighbor_pattern")).transpose()?,
            parity: law["required_parity"]
                .as_u64()
                .map(|parity| parity as usize),
            equal: law["result_op"] != "!=",
            result: symbol("result_symbol")?[0],
        });
    }

    let from_fields = if law["claim_ast"].is_null() && names.len() == 1 {
        of_fields(law, template)?
    } else {
        None
    };
    let claim = if !law["claim_ast"].is_null() {
        Reader::new(names).json(&law["claim_ast"])?
    } else if let Some(claim) = from_fields {
        match Reader::new(names).text(text) {
            _ if text.trim().is_empty() => claim,
            Ok(said) if same(&said, &claim) => claim,
            _ => return Err(Refusal::Ambiguous("the text contradicts the fields".into())),
        }
    } else {
        Reader::new(names).text(text)?
    };

    let last = match template {
        "invariant" | "bound" | "implication_state" | "eventually" => horizon,
        "monotone" | "implication_step" => horizon - 1,
        _ => return Err(schema("template")),
    };
    let needs_arrow = matches!(
        template,
        "implication_state" | "implication_step" | "eventually"
    );
    let claim = match claim {
        Claim::Binary("=>", ..) => claim,
        // A tree may leave out an antecedent that always holds.
        claim if needs_arrow && !law["claim_ast"].is_null() => {
            let always = binary("==", Claim::Int(0), Claim::Int(0));
            binary("=>", always, claim)
        }
        _ if needs_arrow => return Err(Refusal::Ambiguous("no implication".into())),
        claim => claim,
    };
    match claim {
        Claim::Binary("=>", antecedent, consequent) if template == "eventually" => {
            Ok(Reading::Eventually {
                antecedent: *antecedent,
                consequent: *consequent,
                window: law["quantifiers"]["H"]
                    .as_u64()
                    .ok_or_else(|| schema("H"))? as usize,
            })
        }
        claim => Ok(Reading::Always { claim, last }),
    }
}

/// The claim of a template whose own fields say everything, for a law with one observable.
fn of_fields(law: &Value, template: &str) -> Result<Option<Claim>, Refusal> {
    let seen = |when| Claim::Seen(0, when);
    let operator = |key: &str| {
        let op = law[key].as_str()?;
        OPERATORS.iter().find(|known| **known == op).copied()
    };
    Ok(match template {
        "invariant" => Some(binary("==", seen(When::Now), seen(When::At(0)))),
        "monotone" if !law["direction"].is_null() => match operator("direction") {
            Some(op @ ("<=" | ">=")) => Some(binary(op, seen(When::Next), seen(When::Now))),
            _ => return Err(Refusal::Schema("direction".into())),
        },
        "bound" => operator("bound_op")
            .zip(law["bound_value"].as_i64())
            .map(|(op, k)| binary(op, seen(When::Now), Claim::Int(k))),
        _ => None,
    })
}

fn commutation(law: &Value, universe: &Universe, text: &str) -> Result<Reading, Refusal> {
    let said = lex::Tokens::read(text).and_then(|mut tokens| {
        tokens.must("commutes")?;
        tokens.must("(")?;
        let Some(lex::Token::Name(name)) = tokens.next() else {
            return Err(tokens.unexpected("a transform"));
        };
        // `shift_-2` is read as a name, a minus and a number.
        let name = match tokens.take(&["-"]) {
            None => name,
            Some(_) => match tokens.next() {
                Some(lex::Token::Int(k)) => format!("{name}-{k}"),
                _ => return Err(tokens.unexpected("a number")),
            },
        };
        tokens.must(")")?;
        tokens.end()?;
        Ok(name)
    });
    let transform = match (law["transform"].as_str(), said) {
        (Some(field), Ok(said)) if field != said => {
            return Err(Refusal::Ambiguous("the text contradicts the fields".into()));
        }
        (Some(field), _) if text.trim().is_empty() => field.to_string(),
        (_, said) => said?,
    };
    match universe.transforms(&transform, 1) {
        Some(_) => Ok(Reading::Commutes { transform }),
        None => Err(Refusal::MissingTransform(transform)),
    }
}

/// Equal, or equal with the sides of the comparison exchanged.
fn same(one: &Claim, other: &Claim) -> bool {
    let Claim::Binary(op, left, right) = other else {
        return false;
    };
    let turned = match *op {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        op => op,
    };
    one == other || *one == Claim::Binary(turned, right.clone(), left.clone())
}
