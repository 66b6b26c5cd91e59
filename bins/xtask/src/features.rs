//! `cargo xtask features`: every library for users compiles without features and with each of them alone.

use serde_json::{Value, json};

use crate::workspace::{Workspace, finish};
use crate::{Error, Exit};

/// Checks each library that has features.
pub fn run(workspace: &Workspace) -> Result<Exit, Error> {
    for (package, features) in libraries(&workspace.packages) {
        for feature in std::iter::once("").chain(features) {
            let label = if feature.is_empty() { "none" } else { feature };
            eprintln!("xtask: {package}, features: {label}");
            let mut check = workspace.cargo(&["check", "--locked", "--quiet", "--lib"]);
            check.args(["--package", package, "--no-default-features"]);
            check.args(["--features", feature]);
            finish(&mut check)?;
        }
    }
    Ok(Exit::Done)
}

/// The published libraries of the workspace that have features, each with the names of its features but `default`.
fn libraries(packages: &[Value]) -> Vec<(&str, Vec<&str>)> {
    packages
        .iter()
        .filter(|package| package["publish"] != json!([]))
        .filter_map(|package| {
            let features = package["features"].as_object()?.keys();
            let features: Vec<_> = features
                .map(String::as_str)
                .filter(|name| *name != "default")
                .collect();
            (!features.is_empty()).then_some((package["name"].as_str()?, features))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_of_each_package_is_named_once() {
        let packages = [
            json!({"name": "a", "features": {"default": ["x"], "x": [], "y": ["x"]}}),
            json!({"name": "b", "features": {}}),
            json!({"name": "private", "features": {"x": []}, "publish": []}),
        ];
        assert_eq!(libraries(&packages), [("a", vec!["x", "y"])]);
    }
}
