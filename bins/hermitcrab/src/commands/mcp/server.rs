use bin_support::mcp::{no_method, no_tool, quoted, without_keys};
use hermitcrab_kernel::{ErrorKind, ToolError};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

use super::blocks::ServedBlocks;
use super::face::{self, ServedFace};
use super::{orient, resources, tools};

/// The text that a client receives when it connects.
const INSTRUCTIONS: &str = "Blocks are trees of short texts, addressed by digits: 0.3.1 is a node. The prompt `orient` \
    explains them and names all blocks; without prompts, begin with block_list. Read a block's head before its nodes.";

/// The name of the only prompt.
const ORIENT: &str = "orient";

/// The server of one client.
pub struct Server {
    blocks: ServedBlocks,
    face: Option<ServedFace>,
}

impl Server {
    pub fn new(blocks: ServedBlocks, face: Option<ServedFace>) -> Self {
        Self { blocks, face }
    }

    /// Returns the face for a client that can show it.
    fn face(&self, context: &RequestContext<RoleServer>) -> Option<&ServedFace> {
        let shown = face::is_shown_by(&context.client_capabilities()?);
        self.face.as_ref().filter(|_| shown)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("hermitcrab", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = tools::list(self.blocks.can_write());
        tools.extend(self.face(&context).map(|_| face::tool()));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(face) = self.face(&context)
            && request.name == face::TOOL
        {
            return Ok(face.described().into());
        }
        let client = client_name(&context);
        let result = tools::call(&request.name, request.arguments, &self.blocks, &client);
        result.map(Into::into).ok_or_else(|| {
            let names = tools::names(self.blocks.can_write());
            no_tool(&request.name, &names)
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let found = self.blocks.with(resources::list).flatten();
        let mut found = found.map_err(|fault| refusal(&fault))?;
        found.extend(self.face(&context).map(|_| face::resource()));
        Ok(ListResourcesResult::with_all_items(found))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(face) = self.face(&context)
            && request.uri == face::URI
        {
            let contents = face.contents().map_err(|fault| refusal(&fault))?;
            return Ok(ReadResourceResult::new(vec![contents]).into());
        }
        let found = self
            .blocks
            .with(|store| resources::read(&request.uri, store))
            .flatten();
        let text = without_keys(&found.map_err(|fault| refusal(&fault))?);
        let contents = ResourceContents::text(text, request.uri).with_mime_type(resources::JSON);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new(ORIENT, Some(orient::DESCRIPTION), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != ORIENT {
            let asked = quoted(&request.name);
            let message = format!("no prompt {asked}; there is {ORIENT}");
            return Err(ErrorData::invalid_params(message, None));
        }
        let can_write = self.blocks.can_write();
        let text = self
            .blocks
            .with(|store| orient::text(store, can_write))
            .flatten();
        let text = without_keys(&text.map_err(|fault| refusal(&fault))?);
        let messages = vec![PromptMessage::new_text(Role::User, text)];
        Ok(GetPromptResult::new(messages)
            .with_description(orient::DESCRIPTION)
            .into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(no_method(&request))
    }
}

/// Returns the protocol error for a failed request. A failed tool call has another form.
fn refusal(fault: &ToolError) -> ErrorData {
    let message = without_keys(&fault.to_string());
    let data = Some(json!({"error": fault.kind}));
    match fault.kind {
        ErrorKind::NoBlock | ErrorKind::NotFound => ErrorData::resource_not_found(message, data),
        ErrorKind::Io | ErrorKind::Corrupt | ErrorKind::ReadOnly => {
            ErrorData::internal_error(message, data)
        }
        _ => ErrorData::invalid_params(message, data),
    }
}

/// Returns the name of the client, which the log of a block shows as that of a model.
fn client_name(context: &RequestContext<RoleServer>) -> String {
    let name = context.client_info().map(|client| client.name);
    let name = quoted(name.unwrap_or_default().trim());
    if name.is_empty() {
        "unnamed MCP client".to_owned()
    } else {
        name
    }
}
