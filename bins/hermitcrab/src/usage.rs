//! The usage of calls as a line for a person.

use hermitcrab_kernel::config::UsageTotals;

/// Returns a number with its noun, such as `1 call` and `2 calls`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Returns the number of calls, their tokens and their cost in one line.
pub fn usage_line(usage: &UsageTotals) -> String {
    let unknown = match usage.unknown {
        0 => String::new(),
        unknown => format!(" and {} of unknown cost", counted(unknown, "call")),
    };
    let UsageTotals {
        calls,
        input,
        cached,
        output,
        usd,
        unsettled,
        ..
    } = usage;
    let calls = counted(*calls, "call");
    if *unsettled > 0 {
        return format!(
            "{calls}, of these {unsettled} of unknown outcome, up to {usd}{unknown}, {input} tokens in ({cached} cached), {output} out"
        );
    }
    format!("{calls}, {input} tokens in ({cached} cached), {output} out, {usd}{unknown}")
}
