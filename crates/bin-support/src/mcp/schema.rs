//! The schema of a tool's arguments, in as few tokens as it takes.

use rmcp::model::JsonObject;
use rmcp::schemars::JsonSchema;
use rmcp::schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the schema of what a type accepts, without references, titles, and formats such as `uint64`.
pub(super) fn of<A: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<A>();
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    // The description is that of the tool.
    schema.remove("description");
    shorten(&mut schema);
    schema
}

/// Removes titles and formats. A property of such a name stays: only schemas are searched.
fn shorten(schema: &mut JsonObject) {
    schema.remove("title");
    schema.remove("format");
    // What may be left out has no value then.
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties
                    .values_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(shorten);
            }
            ("items" | "additionalProperties", Value::Object(inner)) => shorten(inner),
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                all.iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(shorten);
            }
            _ => {}
        }
    }
}
