//! Other programs whose tools the model may use, by the Model Context Protocol.
//!
//! They are hostile: each has limits of time and size, few variables, and tools that the person allows one by one.

mod file;
mod process;
mod running;
mod source;

use crate::data_dir::DataDir;
use crate::error::Error;

pub use file::{ServerEntry, ServersFile};
pub use running::RunningServer;
pub use source::{McpSource, START_LIMIT};

/// Returns the servers of a data directory of which a tool is allowed. None is started yet.
///
/// # Errors
/// The file of the servers cannot be read.
pub fn sources(data: &DataDir) -> Result<Vec<McpSource>, Error> {
    let path = ServersFile::path(data);
    let file = ServersFile::read(&path)?;
    let used = file.servers.iter().filter(|entry| !entry.tools.is_empty());
    let sources = used.map(|entry| {
        let name = entry.name.parse().map_err(Error::Tool)?;
        Ok(McpSource::new(name, path.clone()))
    });
    sources.collect()
}
