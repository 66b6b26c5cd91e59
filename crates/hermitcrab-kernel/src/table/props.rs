//! The props of a face, and the methods of the page's bar.

use serde_json::{Map, Value};

use super::rows::table;
use super::{Access, Args, Effect};
use crate::{ErrorKind, ToolError};

/// A method that a face or the bar of the page calls.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prop {
    /// The name, such as `blockRead` or `fs.list`.
    pub name: String,
    /// The name of the tool that it calls; `None`: the program answers by itself.
    pub tool: Option<String>,
    /// The arguments, in order.
    pub args: Vec<PropArg>,
    /// The JSON schema of its arguments, by name.
    pub schema: Value,
    /// The effect of a call.
    pub effect: Effect,
    /// The callers.
    pub who: Access,
}

/// An argument of a [`Prop`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PropArg {
    /// The name in the schema.
    pub name: String,
    /// Whether a call may leave it out.
    pub is_optional: bool,
}

impl PropArg {
    /// An argument as the table has it, such as `path?`.
    pub(super) fn of(arg: &str) -> Self {
        let name = arg.trim_end_matches('?');
        Self {
            name: name.to_owned(),
            is_optional: name.len() < arg.len(),
        }
    }
}

impl Prop {
    /// The arguments of a call by their names, without those that are null. They are checked where the program answers by
    /// itself: a tool checks its input when it runs.
    ///
    /// # Errors
    /// There are too many, or one does not follow the schema.
    pub fn input(&self, args: Vec<Value>) -> Result<Value, ToolError> {
        let (given, most) = (args.len(), self.args.len());
        if given > most {
            let detail = format!("{given} arguments, at most {most} are taken");
            return Err(ToolError::new(ErrorKind::BadArguments, detail));
        }
        let names = self.args.iter().map(|arg| arg.name.clone());
        let named: Map<String, Value> = names
            .zip(args)
            .filter(|(_, value)| !value.is_null())
            .collect();
        if self.tool.is_some() {
            return Ok(named.into());
        }
        Ok(Args::check(named.into(), &self.schema)?.into_value())
    }
}

/// All props, in the order of the table.
pub fn props() -> &'static [Prop] {
    &table().props
}

/// The prop with this name.
pub fn prop(name: &str) -> Option<&'static Prop> {
    props().iter().find(|prop| prop.name == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_have_the_names_of_the_table() {
        let read = prop("blockRead").unwrap();
        assert_eq!(read.tool.as_deref(), Some("block_read"));
        let named = read.input(vec![json!("memory"), Value::Null]).unwrap();
        assert_eq!(named, json!({"name": "memory"}));
        let many = read.input(vec![Value::Null; 4]).unwrap_err();
        assert_eq!(many.kind, ErrorKind::BadArguments);
        assert_eq!(prop("block_read"), None);
    }

    #[test]
    fn arguments_that_no_tool_checks_follow_the_schema() {
        let say = prop("send").unwrap();
        assert_eq!(
            say.input(vec![json!("Hi.")]).unwrap(),
            json!({"text": "Hi."})
        );
        for (name, args, detail) in [
            ("send", vec![], "text is missing"),
            (
                "send",
                vec![json!(3)],
                "text is a text, here it is a number",
            ),
            (
                "callLLM",
                vec![json!(7)],
                "messages is a list, here it is a number",
            ),
            (
                "blockSave",
                vec![json!("memory"), json!("0"), json!("x")],
                "rev is missing",
            ),
        ] {
            let fault = prop(name).unwrap().input(args).unwrap_err();
            assert_eq!(
                (&fault.kind, &*fault.detail),
                (&ErrorKind::BadArguments, detail)
            );
        }
        let messages = vec![json!([{"role": "user", "content": "Hi."}])];
        prop("callLLM").unwrap().input(messages).unwrap();
        // Any JSON is a state.
        for state in [json!(null), json!(3), json!(["x", {"y": [1]}])] {
            prop("state.set").unwrap().input(vec![state]).unwrap();
        }
    }
}
