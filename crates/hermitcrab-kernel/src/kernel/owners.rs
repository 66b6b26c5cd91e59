use std::sync::Arc;

use llm_client::Timer;

use crate::conversation::{ConversationRecord, HistoryBlocks};
use crate::dispatch::TurnContext;
use crate::faces::FaceManager;
use crate::prompt::Identity;
use crate::spending::SpendMeter;
use crate::storage::FileStore;
use crate::toolbox::Toolbox;
use crate::{Brain, KernelConfig};

/// The parts that all clones of a kernel share: one of each owner.
pub(super) struct Owners {
    pub config: KernelConfig,
    pub brain: Arc<dyn Brain>,
    pub clock: Arc<dyn Timer>,
    pub files: Arc<FileStore>,
    pub identity: Identity,
    /// Lines for the person about the start.
    pub notices: Vec<String>,
    /// Locked for one turn at a time.
    pub record: tokio::sync::Mutex<ConversationRecord>,
    pub history: HistoryBlocks,
    pub toolbox: Toolbox,
    pub faces: FaceManager,
    pub spending: SpendMeter,
}

impl Owners {
    /// The parts that a turn borrows, next to the locked record.
    pub fn context(&self) -> TurnContext<'_> {
        TurnContext {
            config: &self.config,
            brain: &*self.brain,
            clock: &*self.clock,
            files: &self.files,
            identity: &self.identity,
            history: &self.history,
            toolbox: &self.toolbox,
            faces: &self.faces,
            spending: &self.spending,
        }
    }
}
