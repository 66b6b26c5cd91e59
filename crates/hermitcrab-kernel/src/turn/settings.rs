use llm_client::ToolSpec;
use pscale_blocks::EditAuthor;
use pscale_blocks::store::Origins;

use super::request::{system, tools_of};
use crate::BrainRequest;
use crate::conversation::window::Window;
use crate::dispatch::TurnContext;
use crate::prompt::Phase;

/// The differences between a turn of the conversation, a boot, and a request of a face.
pub(crate) struct TurnSettings {
    pub prompt: TurnPrompt,
    /// The author of what its tools write; `None` is the model that answers.
    pub by: Option<EditAuthor>,
    /// The most rounds.
    pub rounds: u32,
    /// The most attempts to repair a shell.
    pub repairs: u32,
    /// Whether tools are off in the last round.
    pub last_without_tools: bool,
    /// Whether the first reply without calls is the answer, whatever ends it. Then a pause is a round, and requests of this kind
    /// are made one after the other. Otherwise the kernel asks for more, in words that the model reads.
    pub takes_any_reply: bool,
}

impl TurnSettings {
    /// The settings of a turn of the conversation, or of a boot.
    pub fn of_conversation(context: TurnContext<'_>, phase: Phase) -> Self {
        let budgets = context.config.settings.budgets;
        let (rounds, repairs) = match phase {
            Phase::Call => (budgets.rounds, 5),
            Phase::Boot { .. } => (budgets.boot_rounds, 3),
        };
        Self {
            prompt: TurnPrompt::Blocks(phase),
            by: None,
            rounds,
            repairs,
            last_without_tools: false,
            takes_any_reply: false,
        }
    }

    /// The settings of a request of a face. Without `by` it is one request, and calls in the reply are not run.
    pub fn of_face(
        context: TurnContext<'_>,
        request: BrainRequest,
        by: Option<EditAuthor>,
    ) -> Self {
        let runs_tools = by.is_some();
        let most = context.config.settings.budgets.rounds;
        Self {
            prompt: TurnPrompt::Given(request),
            by,
            rounds: if runs_tools { most } else { 1 },
            repairs: u32::MAX,
            last_without_tools: runs_tools,
            takes_any_reply: true,
        }
    }
}

/// The instructions and the tools of a turn's requests.
pub(crate) enum TurnPrompt {
    /// The text of the blocks and the active tools, as they are when the request is made.
    Blocks(Phase),
    /// The same for each request: this one has no messages.
    Given(BrainRequest),
}

impl TurnPrompt {
    /// The tools of a request that is made now.
    pub fn tools(&self, context: TurnContext<'_>) -> Vec<ToolSpec> {
        match self {
            Self::Blocks(phase) => tools_of(context, *phase),
            Self::Given(request) => request.tools.clone(),
        }
    }

    /// The request that sends `window`, and the places outside that its instructions may come from. Those that a face gives come from
    /// where its messages come from.
    pub fn request(&self, context: TurnContext<'_>, window: Window) -> (BrainRequest, Origins) {
        let (mut request, from) = match self {
            Self::Blocks(phase) => {
                let prompt = system(context, *phase);
                let request = BrainRequest {
                    system: prompt.blocks(),
                    tools: self.tools(context),
                    face: context.config.face,
                    ..BrainRequest::default()
                };
                (request, prompt.from)
            }
            Self::Given(request) => {
                let mut request = request.clone();
                request.system.extend(window.system);
                (request, Origins::default())
            }
        };
        request.messages = window.messages;
        (request, from)
    }
}
