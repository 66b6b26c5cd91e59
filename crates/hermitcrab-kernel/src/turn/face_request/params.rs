//! The parameters of a face's request, checked.

use llm_client::{Block, Message, Role, ToolSpec};
use serde_json::Value;

use super::message::{messages, system, wrong};
use crate::conversation::window;
use crate::dispatch::{MOST_TOOLS, TurnContext};
use crate::prompt::FIXED_LINE;
use crate::{BrainRequest, ErrorKind, Tier, ToolError};

/// The longest parameters, as JSON.
const MAX_PARAMS: usize = 1 << 20;
/// The longest reply in tokens that a face may ask for.
const MAX_REPLY: u64 = 8_192;

/// The tools that a request may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolChoice {
    /// The kernel's, and those of the face: it runs them itself.
    Any,
    /// The kernel's: it runs them.
    OwnOnly,
}

/// The messages of a face, the last one of the user, and its request without them.
pub(super) fn read(
    context: TurnContext<'_>,
    mut given: Value,
    choice: ToolChoice,
) -> Result<(Vec<Message>, BrainRequest), ToolError> {
    if !given.is_object() {
        return Err(wrong("params", "an object"));
    }
    let size = given.to_string().len();
    if size > MAX_PARAMS {
        let detail = format!("the request has {size} bytes, more than {MAX_PARAMS}");
        return Err(ToolError::new(ErrorKind::TooLarge, detail));
    }
    context.files.gates().request(&mut given);
    let messages = messages(&given["messages"])?;
    let said = window::sanitise(messages.clone()).into_messages();
    if said.last().is_none_or(|last| last.role != Role::User) {
        let detail = "messages end with one of the user that is not empty";
        return Err(ToolError::new(ErrorKind::BadArguments, detail));
    }
    if !said.iter().any(window::starts_turn) {
        let detail = "messages hold words of the user, not only results of tools";
        return Err(ToolError::new(ErrorKind::BadArguments, detail));
    }
    let (tier, model) = model(context, &given["model"])?;
    let tools = tools(context, &given["tools"], choice)?;
    // Who can read blocks and pages is told what they are.
    let fixed = (!tools.is_empty()).then(|| Block::text(FIXED_LINE));
    let system = fixed.into_iter().chain(system(&given["system"])?).collect();
    let request = BrainRequest {
        system,
        tools,
        tier,
        model,
        max_tokens: max_tokens(&given["max_tokens"])?,
        thinking_off: given["thinking"]["type"] == "disabled",
        ..BrainRequest::default()
    };
    Ok((messages, request))
}

/// `default`, `fast`, or the id of a model that the person set.
fn model(context: TurnContext<'_>, given: &Value) -> Result<(Tier, Option<String>), ToolError> {
    let id = match given {
        Value::Null => return Ok((Tier::Default, None)),
        Value::String(id) => id.as_str(),
        _ => return Err(wrong("model", "a text")),
    };
    let info = context.brain.info();
    let settings = &context.config.settings;
    if id == "default" || id == info.model {
        return Ok((Tier::Default, None));
    }
    if id == "fast" || id == info.fast {
        return Ok((Tier::Fast, None));
    }
    if settings.models.iter().any(|spec| spec.id == id) {
        return Ok((Tier::Default, Some(id.to_owned())));
    }
    let chain = settings.models.iter().map(|spec| spec.id.as_str());
    let known: Vec<_> = ["default", "fast"].into_iter().chain(chain).collect();
    let id: String = id.chars().take(80).collect();
    Err(ToolError::new(
        ErrorKind::UnknownModel,
        format!("{id:?} is not in the settings"),
    )
    .hint(format!("choose one of {}", known.join(", "))))
}

fn max_tokens(given: &Value) -> Result<Option<u32>, ToolError> {
    if given.is_null() {
        return Ok(None);
    }
    let most = given.as_u64();
    let most = most.ok_or_else(|| wrong("max_tokens", "a whole number above 0"))?;
    Ok(Some(most.clamp(1, MAX_REPLY) as u32))
}

fn tools(
    context: TurnContext<'_>,
    given: &Value,
    choice: ToolChoice,
) -> Result<Vec<ToolSpec>, ToolError> {
    let items = match given {
        Value::Null if choice == ToolChoice::OwnOnly => return Ok(context.active_tools()),
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items,
        _ => return Err(wrong("tools", "a list")),
    };
    let mut tools: Vec<ToolSpec> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for spec in specs(context, item, &format!("tools[{at}]"), choice)? {
            let is_there = |other: &ToolSpec| other.name() == spec.name();
            if !tools.iter().any(is_there) {
                tools.push(spec);
            }
        }
    }
    if tools.len() > MOST_TOOLS {
        let detail = format!("these are {} tools, more than {MOST_TOOLS}", tools.len());
        return Err(ToolError::new(ErrorKind::TooMany, detail));
    }
    Ok(tools)
}

/// The name of a tool or group in a request.
pub(super) fn name(given: &Value) -> Option<&str> {
    given.as_str().or_else(|| given["name"].as_str())
}

/// A tool or group of the kernel's by its name, or a tool of the face's own.
fn specs(
    context: TurnContext<'_>,
    given: &Value,
    at: &str,
    choice: ToolChoice,
) -> Result<Vec<ToolSpec>, ToolError> {
    let name =
        name(given).ok_or_else(|| wrong(at, "the name of a tool, or an object with a name"))?;
    if let Some(tool) = context.tool(name) {
        return Ok(vec![context.sent(&tool)]);
    }
    let group = context.tool_group(name);
    if given.is_string() && !group.is_empty() {
        return Ok(group.iter().map(|tool| context.sent(tool)).collect());
    }
    let schema = &given["input_schema"];
    let is_name = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if choice == ToolChoice::Any && is_name && schema.is_object() {
        return Ok(vec![ToolSpec::Function {
            name: name.to_owned(),
            description: given["description"].as_str().unwrap_or_default().to_owned(),
            schema: schema.clone(),
            strict: None,
        }]);
    }
    let name: String = name.chars().take(64).collect();
    let fault = ToolError::new(
        ErrorKind::UnknownTool,
        format!("{at}: there is no tool {name:?}"),
    );
    Err(match context.near_names(&name).as_slice() {
        [] => fault.hint("block_read(\"capabilities\") lists them"),
        near => fault.hint(format!("did you mean {}?", near.join(", "))),
    })
}
