//! The file of the servers that the person has added, with the tools that the person allows.

use std::path::{Path, PathBuf, absolute};
use std::{io, thread};

use bin_support::shortened;
use durable::{Disk, LockError};
use hermitcrab_kernel::toolbox::{ServerName, ServerTool, tool_name};
use pscale_blocks::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data_dir::{ATTEMPTS, DataDir, POLL};
use crate::error::Error;
use crate::key_file::key_variables;
use crate::plain_file;

/// The name of the file in the data directory.
const FILE: &str = "servers.json";
/// The ending of the lock next to it, which a change of the file holds.
const LOCK: &str = "json.lock";

/// The version of its format.
const SCHEMA: u32 = 1;

/// The servers of an instance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServersFile {
    schema_version: u32,
    pub servers: Vec<ServerEntry>,
}

/// A server: its command, and the tools that the person allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerEntry {
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables that it gets in addition to those of every program.
    pub env: Vec<String>,
    pub tools: Vec<AllowedTool>,
}

/// A tool in the form in which the person allowed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedTool {
    pub name: String,
    /// The hash of name, description and schema.
    pub sha256: String,
}

impl AllowedTool {
    pub fn of(tool: &ServerTool) -> Self {
        Self {
            name: tool.name.clone(),
            sha256: tool.sha256(),
        }
    }
}

impl ServerEntry {
    /// Returns a server without tools.
    ///
    /// # Errors
    /// A variable is the key of a model provider, or is not a name.
    pub fn new(name: &ServerName, command: &[String], env: &[String]) -> Result<Self, Error> {
        let mut command = command.to_vec();
        if let Some(program) = command.first_mut()
            && program.contains('/')
            && let Ok(path) = absolute(&*program)
            && let Some(path) = path.to_str()
        {
            // A chat may begin in another folder. A name without a slash is searched in PATH.
            path.clone_into(program);
        }
        let entry = Self {
            name: name.to_string(),
            command,
            env: env.to_vec(),
            tools: Vec::new(),
        };
        entry.check()?;
        Ok(entry)
    }

    fn check(&self) -> Result<ServerName, Error> {
        let name = self.name.parse::<ServerName>().map_err(Error::Tool)?;
        for variable in &self.env {
            let mut bytes = variable.bytes();
            let begins = (bytes.next()).is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
            if !begins || !bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_') {
                let variable = variable.clone();
                return Err(Error::ServerVariable { variable });
            }
            if key_variables().contains(variable) {
                let variable = variable.clone();
                return Err(Error::ServerKey { variable });
            }
        }
        if self.command.is_empty() {
            return Err(Error::ServerCommand {
                name: self.name.clone(),
            });
        }
        Ok(name)
    }

    /// Returns the tool with this name, if the person allows it.
    pub fn tool(&self, name: &str) -> Option<&AllowedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Allows a tool in its current form. One that was allowed before keeps its place.
    ///
    /// # Errors
    /// Another allowed tool has the same name for the model, which could not tell them apart.
    pub fn allow(&mut self, tool: &ServerTool) -> Result<(), Error> {
        let named = tool_name(&self.name, &tool.name);
        for other in &mut self.tools {
            if other.name == tool.name {
                *other = AllowedTool::of(tool);
                return Ok(());
            }
        }
        let mut allowed = self.tools.iter();
        if let Some(other) = allowed.find(|other| tool_name(&self.name, &other.name) == named) {
            return Err(Error::SameServerTool {
                tool: shortened(&tool.name, 64),
                other: shortened(&other.name, 64),
                named,
            });
        }
        self.tools.push(AllowedTool::of(tool));
        Ok(())
    }
}

impl ServersFile {
    pub fn path(data: &DataDir) -> PathBuf {
        data.path().join(FILE)
    }

    /// Reads the file. A file that does not exist has no servers.
    ///
    /// # Errors
    /// The file cannot be read, is not in this format, or is of a newer program.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = plain_file::read_text(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        let Some(text) = text else {
            return Ok(Self {
                schema_version: SCHEMA,
                servers: Vec::new(),
            });
        };
        let faulty = |why: String| Error::ServersFile {
            path: path.to_owned(),
            why,
        };
        let json: Value = serde_json::from_str(&text).map_err(|error| faulty(error.to_string()))?;
        if let Some(version) = json["schema_version"].as_u64()
            && version > u64::from(SCHEMA)
        {
            return Err(Error::from(StoreError::Newer {
                path: path.to_owned(),
                found: version,
                known: SCHEMA,
            }));
        }
        let file: Self = serde_json::from_value(json).map_err(|error| faulty(error.to_string()))?;
        for (at, entry) in file.servers.iter().enumerate() {
            entry.check().map_err(|error| faulty(error.to_string()))?;
            if file.servers[..at]
                .iter()
                .any(|other| other.name == entry.name)
            {
                return Err(faulty(format!("{} is there twice", entry.name)));
            }
        }
        Ok(file)
    }

    /// Reads the file, changes it and replaces it in one step. No other process changes it meanwhile; one that does is waited
    /// for, about two seconds.
    ///
    /// # Errors
    /// Those of [`Self::read`] and of `change`, after which the file is as before; it cannot be locked or written.
    pub fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let failed = |source| Error::Write {
            path: path.to_owned(),
            source,
        };
        let disk = Disk::private(".servers-");
        disk.make_folder(path.parent().unwrap_or(Path::new(".")))
            .map_err(failed)?;
        let lock = path.with_extension(LOCK);
        let mut locked = disk.lock(&lock);
        for _ in 0..ATTEMPTS {
            if !matches!(locked, Err(LockError::Held { .. })) {
                break;
            }
            thread::sleep(POLL);
            locked = disk.lock(&lock);
        }
        let _lock = locked.map_err(|error| Error::Write {
            path: lock,
            source: error.into(),
        })?;
        let mut file = Self::read(path)?;
        let changed = change(&mut file)?;
        let mut text =
            serde_json::to_string_pretty(&file).map_err(|error| failed(io::Error::other(error)))?;
        text.push('\n');
        disk.replace(path, text.as_bytes()).map_err(failed)?;
        Ok(changed)
    }

    /// Returns the server with this name.
    ///
    /// # Errors
    /// [`Error::NoServer`].
    pub fn server(&mut self, name: &ServerName) -> Result<&mut ServerEntry, Error> {
        let found = self
            .servers
            .iter_mut()
            .find(|entry| entry.name == name.as_str());
        found.ok_or_else(|| Error::NoServer {
            name: name.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(env: &[&str]) -> Result<ServerEntry, Error> {
        let env: Vec<_> = env.iter().copied().map(str::to_owned).collect();
        ServerEntry::new(&"notes".parse().unwrap(), &["x".to_owned()], &env)
    }

    #[test]
    fn no_variable_is_the_key_of_a_provider() {
        assert!(entry(&["NOTES_TOKEN", "_A1"]).is_ok());
        for key in [
            "HERMITCRAB_API_KEY",
            "POPPER_API_KEY",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
        ] {
            let error = entry(&[key]).unwrap_err();
            assert!(matches!(error, Error::ServerKey { .. }), "{error}");
        }
        for bad in ["", "A=B", "1A", "A B"] {
            let error = entry(&[bad]).unwrap_err();
            assert!(matches!(error, Error::ServerVariable { .. }), "{error}");
        }
    }

    #[test]
    fn a_tool_that_is_allowed_again_keeps_its_place_and_one_name_is_one_tool() {
        let mut entry = entry(&[]).unwrap();
        let tool = |name: &str, text: &str| ServerTool::new(name, text, serde_json::json!({}));
        for name in ["del note", "find", &"x".repeat(80)] {
            entry.allow(&tool(name, "")).unwrap();
        }
        let before = entry.clone();
        for same in ["del/note", "del_note", &format!("{}y", "x".repeat(79))] {
            let error = entry.allow(&tool(same, "")).unwrap_err();
            assert!(matches!(error, Error::SameServerTool { .. }), "{error}");
        }
        assert_eq!(entry, before);
        entry.allow(&tool("del note", "other words")).unwrap();
        let names = entry.tools.iter().map(|tool| tool.name.len());
        assert_eq!(names.collect::<Vec<_>>(), [8, 4, 80]);
        assert_ne!(entry.tools[0], before.tools[0]);
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_faults_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        assert!(ServersFile::read(&path).unwrap().servers.is_empty());
        let written = ServersFile::change(&path, |file| {
            file.servers.push(entry(&["A"])?);
            Ok(file.servers.clone())
        });
        assert_eq!(ServersFile::read(&path).unwrap().servers, written.unwrap());
        let row = r#"{"name": "a", "command": ["x"], "env": [], "tools": []}"#;
        let key = row.replace("[]", r#"["OPENAI_API_KEY"]"#);
        let bad_name = row.replace(r#""a""#, r#""A__""#);
        for servers in [
            "5",
            "[{}]",
            &format!("[{row}, {row}]"),
            &format!("[{bad_name}]"),
            &format!("[{key}]"),
        ] {
            let text = format!(r#"{{"schema_version": 1, "servers": {servers}}}"#);
            std::fs::write(&path, text).unwrap();
            let error = ServersFile::read(&path).unwrap_err();
            assert!(matches!(error, Error::ServersFile { .. }), "{error}");
        }
        std::fs::write(&path, r#"{"schema_version": 2}"#).unwrap();
        let error = ServersFile::read(&path).unwrap_err();
        assert!(error.to_string().contains("newer hermitcrab"), "{error}");
    }
}
