//! The tools of `popper mcp`: pure functions of their arguments, without a file and without a network, but for those of an episode.

mod arguments;
mod check;
mod explain;
mod lab;
mod simulate;
mod span;

use bin_support::mcp::{McpTool, ToolServer};

use crate::episode::RecordedEpisode;

/// The text that a client receives when it connects.
const INSTRUCTIONS: &str = "popper decides laws about rings of cells: PASS with its evidence, FAIL with the smallest counterexample, or UNKNOWN \
    with the reason. A law: {\"law_id\": \"r\", \"template\": \"invariant\", \"quantifiers\": {\"T\": 50}, \"observables\": [{\"name\": \"r\", \
    \"expr\": \"count('>') + count('X')\"}], \"claim\": \"r(t) == r(0)\", \"forbidden\": \"some t with r(t) != r(0)\"}. Templates: invariant, \
    monotone (direction), bound (bound_op, bound_value), implication_step (P(t) -> Q(t+1)), implication_state, eventually (H in quantifiers), \
    symmetry_commutation (transform). Observables: grid_length, count, count_pattern, leftmost, rightmost, spread, max_gap, and + - * %. The \
    built-in universe kinetic_grid: > moves right, < moves left, both in one cell are X, . is empty.";

/// The server with all tools that need no episode.
pub fn server() -> ToolServer {
    let tools = [
        check(),
        McpTool::new("simulate", simulate::DESCRIPTION, simulate::run),
        explain(),
        McpTool::new("span", span::DESCRIPTION, span::run),
    ];
    ToolServer::new("popper", env!("CARGO_PKG_VERSION"), INSTRUCTIONS, tools)
}

/// The server that referees an episode.
pub fn lab_server(played: RecordedEpisode) -> ToolServer {
    let mut tools = vec![check().without("universe"), explain()];
    tools.extend(lab::tools(played));
    let instructions = lab::INSTRUCTIONS;
    ToolServer::new("popper", env!("CARGO_PKG_VERSION"), instructions, tools)
}

fn check() -> McpTool {
    McpTool::new("check", check::DESCRIPTION, check::run)
}

fn explain() -> McpTool {
    McpTool::new("explain", explain::DESCRIPTION, explain::run)
}
