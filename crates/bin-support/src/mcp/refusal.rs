//! Protocol errors for requests that a server cannot answer. A failed call of a tool is a result and no such error.

use rmcp::model::{CustomRequest, ErrorCode, ErrorData};

use super::quoted;

/// Returns the answer to a call of a tool that the server does not have; `names` are those that it has.
pub fn no_tool(asked: &str, names: &str) -> ErrorData {
    let message = format!("no tool {}; there are {names}", quoted(asked));
    ErrorData::invalid_params(message, None)
}

/// Returns the answer to a request that `rmcp` does not know: it passes on a known one, too, if its parameters are wrong.
pub fn no_method(request: &CustomRequest) -> ErrorData {
    let method = quoted(&request.method);
    if let "tools/call" | "resources/read" | "prompts/get" = request.method.as_str() {
        return ErrorData::invalid_params(format!("invalid params of {method}"), None);
    }
    let message = format!("no method {method}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
