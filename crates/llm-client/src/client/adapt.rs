//! Fits a request to the model it goes to: what the model does not take is dropped or changed with a warning, or
//! refused.

use std::borrow::Cow;

use llm_types::{Block, BlockKind, Message, Request, Role, Target, Thinking, ToolChoice, Warning};

use crate::Error;
use crate::models::{Model, ModelThinking};
use crate::provider::{Capabilities, StructuredMode};

/// The minimum number of thinking tokens.
const LEAST_BUDGET: u32 = 1024;

struct Adapter<'a> {
    model: &'a str,
    warnings: Vec<Warning>,
}

impl Adapter<'_> {
    /// A warning that `field` was changed.
    fn changed(&mut self, field: &str, how: &str) {
        let message = format!("{how} (model {})", self.model);
        self.warnings.push(Warning::new(field, message));
    }
}

/// `request` for `target`: thoughts go back only to the model that had them, and fields of reasoning only to the
/// server they came from.
pub(crate) fn retarget(request: &mut Cow<'_, Request>, target: &Target) {
    if request.model != target.model {
        request.to_mut().model.clone_from(&target.model);
    }
    let is_foreign = |message: &Message| message.content.iter().any(|it| foreign(it, target));
    if request.messages.iter().any(is_foreign) {
        let messages = &mut request.to_mut().messages;
        for message in messages.iter_mut().filter(|message| is_foreign(message)) {
            strip_foreign(message, target);
        }
    }
}

/// Whether the block is from another model, or from another server.
fn foreign(block: &Block, target: &Target) -> bool {
    block
        .origin
        .as_ref()
        .is_some_and(|origin| origin.provider != target.provider || origin.model != target.model)
}

fn strip_foreign(message: &mut Message, target: &Target) {
    let stays = |block: &Block| {
        !matches!(
            block.kind,
            BlockKind::Thinking { .. } | BlockKind::RedactedThinking
        ) || !foreign(block, target)
    };
    // The assistant object as it came may hold reasoning in fields that we do not know by name.
    message.raw = None;
    let before = message.content.len();
    message.content.retain(stays);
    if message.content.is_empty() && before > 0 {
        message.content.push(Block::text("(no content)"));
    }
}

/// Fits `request` to its model, of which the table may have a row.
pub(crate) fn adapt(
    request: &mut Cow<'_, Request>,
    caps: &Capabilities,
    row: Option<&Model>,
) -> Result<Vec<Warning>, Error> {
    let model = match row {
        Some(row) if row.id == request.model => Cow::Borrowed(row.id.as_str()),
        _ => Cow::Owned(request.model.clone()),
    };
    let mut adapter = Adapter {
        model: &model,
        warnings: Vec::new(),
    };
    length(request, row, &mut adapter);
    tools(request, caps, row, &mut adapter)?;
    sampling(request, caps, row, &mut adapter);
    thinking(request, caps, row, &mut adapter)?;
    effort(request, caps, row, &mut adapter);
    format(request, caps, row, &mut adapter);
    let prefilled = request.messages.last().is_some_and(is_prefill);
    if prefilled && row.is_some_and(|row| !row.prefill) {
        return Err(Error::refused(
            "messages",
            format!("the last one is the assistant's, and {model} does not continue it"),
        ));
    }
    Ok(adapter.warnings)
}

/// Whether the last message is the start of an answer that the model continues. A turn with calls of the provider's own
/// tools does not count: the model paused in it and resumes it.
fn is_prefill(last: &Message) -> bool {
    let runs = |block: &Block| {
        matches!(
            block.kind,
            BlockKind::ServerToolUse { .. } | BlockKind::ServerToolResult { .. }
        )
    };
    last.role == Role::Assistant && !last.content.iter().any(runs)
}

fn length(request: &mut Cow<'_, Request>, row: Option<&Model>, adapter: &mut Adapter<'_>) {
    let most = row.and_then(|row| row.max_output).unwrap_or(u32::MAX);
    if let Some(asked) = request.max_tokens
        && asked > most
    {
        request.to_mut().max_tokens = Some(most);
        adapter.changed(
            "max_tokens",
            &format!("{asked} is cut to {most}, the most of this model"),
        );
    }
}

fn tools(
    request: &mut Cow<'_, Request>,
    caps: &Capabilities,
    row: Option<&Model>,
    adapter: &mut Adapter<'_>,
) -> Result<(), Error> {
    if !request.tools.is_empty() && !caps.tools {
        return Err(Error::refused("tools", "this server takes none"));
    }
    let forced = matches!(request.tool_choice, ToolChoice::Any | ToolChoice::Tool(_));
    if forced && row.is_some_and(|row| !row.forced_tools) {
        return Err(Error::refused(
            "tool_choice",
            format!("{} cannot be made to call a tool; use Auto", request.model),
        ));
    }
    if let ToolChoice::Auto { parallel: Some(_) } = request.tool_choice
        && !caps.parallel_tools
    {
        request.to_mut().tool_choice = ToolChoice::Auto { parallel: None };
        adapter.changed("tool_choice.parallel", "not taken, left out");
    }
    Ok(())
}

fn sampling(
    request: &mut Cow<'_, Request>,
    caps: &Capabilities,
    row: Option<&Model>,
    adapter: &mut Adapter<'_>,
) {
    let mut asked = request.sampling;
    let sampled = row.is_none_or(|row| row.sampling);
    let takes = caps.sampling && sampled;
    let dropped = [
        (
            "sampling.temperature",
            !takes && asked.temperature.take().is_some(),
        ),
        ("sampling.top_p", !takes && asked.top_p.take().is_some()),
        (
            "sampling.top_k",
            !(caps.top_k && sampled) && asked.top_k.take().is_some(),
        ),
        ("sampling.seed", !caps.seed && asked.seed.take().is_some()),
    ];
    for (field, _) in dropped.iter().filter(|(_, set)| *set) {
        adapter.changed(field, "not taken, left out");
    }
    if dropped.iter().any(|(_, set)| *set) {
        request.to_mut().sampling = asked;
    }
}

fn thinking(
    request: &mut Cow<'_, Request>,
    caps: &Capabilities,
    row: Option<&Model>,
    adapter: &mut Adapter<'_>,
) -> Result<(), Error> {
    use ModelThinking as Kind;
    let most = request
        .max_tokens
        .or(caps.default_max_tokens)
        .unwrap_or(u32::MAX);
    if request.thinking == Thinking::Unset {
        return Ok(());
    }
    if !caps.thinking {
        request.to_mut().thinking = Thinking::Unset;
        adapter.changed("thinking", "this server has no field for it, left out");
        return Ok(());
    }
    let kind = row.map(|row| row.thinking);
    let (fit, how) = match (request.thinking, kind) {
        (Thinking::Off, Some(Kind::AdaptiveOnly)) => {
            (Thinking::Unset, "cannot be switched off, left out")
        }
        (Thinking::Adaptive | Thinking::Budget(_), Some(Kind::None)) => {
            (Thinking::Unset, "not supported, left out")
        }
        (Thinking::Adaptive, Some(Kind::Budget)) if most > LEAST_BUDGET => (
            Thinking::Budget((most / 2).max(LEAST_BUDGET)),
            "adaptive became a budget of half of max_tokens",
        ),
        (Thinking::Adaptive, Some(Kind::Budget)) => (
            Thinking::Unset,
            "max_tokens leaves no room for a budget, left out",
        ),
        (Thinking::Budget(_), Some(Kind::Adaptive | Kind::AdaptiveOnly)) => {
            (Thinking::Adaptive, "a budget became adaptive")
        }
        (Thinking::Budget(budget), _) if budget < LEAST_BUDGET || budget >= most => {
            return Err(Error::refused(
                "thinking",
                format!("a budget of {budget} is not from {LEAST_BUDGET} to below max_tokens"),
            ));
        }
        (fits, _) => (fits, ""),
    };
    if fit != request.thinking {
        request.to_mut().thinking = fit;
        adapter.changed("thinking", how);
    }
    Ok(())
}

fn effort(
    request: &mut Cow<'_, Request>,
    caps: &Capabilities,
    row: Option<&Model>,
    adapter: &mut Adapter<'_>,
) {
    let Some(asked) = &request.effort else {
        return;
    };
    let known = row.map(|row| row.effort.as_slice()).unwrap_or_default();
    let fits = caps.effort && (known.is_empty() || known.contains(asked));
    if !fits {
        let how = format!("{asked:?} is not taken, left out");
        request.to_mut().effort = None;
        adapter.changed("effort", &how);
    }
}

/// The schema of the reply always reaches the model: where the server or the model has no form for it, in the system
/// text.
fn format(
    request: &mut Cow<'_, Request>,
    caps: &Capabilities,
    row: Option<&Model>,
    adapter: &mut Adapter<'_>,
) {
    let Some(format) = &request.format else {
        return;
    };
    let native = match row {
        Some(row) if !row.structured => StructuredMode::None,
        _ => caps.structured,
    };
    if native == StructuredMode::Schema {
        return;
    }
    let instruction = Block::text(format!(
        "Answer with one JSON value and nothing else: no explanation before or after it, no code fence. It must follow this JSON Schema:\n{}",
        format.schema
    ));
    let request = request.to_mut();
    request.system.push(instruction);
    if native == StructuredMode::None {
        request.format = None;
    }
    adapter.changed("format", "written into the system text");
}
