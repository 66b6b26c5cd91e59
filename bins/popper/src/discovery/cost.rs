//! The cost of a run in words.

use llm_client::Usd;
use popper_discovery::store::RunCost;

/// Returns the cost in words for people.
pub fn words(cost: &RunCost) -> String {
    let attempts = match cost.unsettled {
        1 => "1 attempt".to_owned(),
        some => format!("{some} attempts"),
    };
    let unsettled = format!(
        "{attempts} of unknown outcome, up to {}",
        Usd(cost.uncertain_nano_usd)
    );
    let calls = match (cost.calls, cost.unsettled) {
        (0, 0) => return "no model was asked".to_owned(),
        (0, _) => return format!("0 replies, {unsettled}"),
        (1, _) => "1 call".to_owned(),
        (calls, _) => format!("{calls} calls"),
    };
    let unknown = |count| match count {
        0 => String::new(),
        some => format!(" ({some} unknown)"),
    };
    let tokens = if cost.calls_without_tokens == cost.calls {
        "tokens unknown".to_owned()
    } else {
        let (input, output) = (cost.input_tokens, cost.output_tokens);
        let unknown = unknown(cost.calls_without_tokens);
        format!("{input} tokens in, {output} out{unknown}")
    };
    let price = match cost.nano_usd {
        None => "price unknown".to_owned(),
        Some(nano) => format!("{}{}", Usd(nano), unknown(cost.calls_without_price)),
    };
    match cost.unsettled {
        0 => format!("{calls}, {tokens}, {price}"),
        _ => format!("{calls}, {tokens}, {price}; and {unsettled}"),
    }
}

#[cfg(test)]
mod tests {
    use popper_discovery::store::ModelCallRow;

    use super::*;

    #[test]
    fn attempts_without_a_reply_are_told() {
        let mut lost = RunCost::default();
        lost.unsettled = 3;
        lost.uncertain_nano_usd = 370_000_000;
        assert_eq!(
            words(&lost),
            "0 replies, 3 attempts of unknown outcome, up to $0.37"
        );
    }

    fn cost(usages: &[&str]) -> String {
        let mut cost = RunCost::default();
        for usage in usages {
            cost.add(&ModelCallRow {
                model_id: String::new(),
                prompt_hash: String::new(),
                request_json: String::new(),
                reply_text: String::new(),
                usage_json: (*usage).to_owned(),
            });
        }
        words(&cost)
    }

    #[test]
    fn what_is_unknown_is_said() {
        let full = r#"{"input_tokens": 1200, "output_tokens": 30, "nano_usd": 12500000}"#;
        let unpriced = r#"{"input_tokens": 10, "output_tokens": 5}"#;
        assert_eq!(cost(&[]), "no model was asked");
        assert_eq!(cost(&[full]), "1 call, 1200 tokens in, 30 out, $0.0125");
        assert_eq!(
            cost(&[full, unpriced]),
            "2 calls, 1210 tokens in, 35 out, $0.0125 (1 unknown)"
        );
        assert_eq!(
            cost(&[unpriced, "no json"]),
            "2 calls, 10 tokens in, 5 out (1 unknown), price unknown"
        );
        assert_eq!(cost(&["{}"]), "1 call, tokens unknown, price unknown");
    }
}
