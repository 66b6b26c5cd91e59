//! No module that several stages use imports the one that decides.

use std::fs;
use std::path::Path;

/// The modules below `decide`.
const BELOW: [&str; 7] = [
    "bitslice",
    "conserved",
    "counterexample.rs",
    "json",
    "law",
    "proof",
    "universe",
];

fn sources(path: &Path) -> Vec<(String, String)> {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        return entries
            .flat_map(|entry| sources(&entry.unwrap().path()))
            .collect();
    }
    let name = path.display().to_string();
    vec![(name, fs::read_to_string(path).unwrap())]
}

#[test]
fn p42_what_others_use_does_not_import_decide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for module in BELOW {
        for (name, text) in sources(&root.join(module)) {
            let mut code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let line = code.find(|line| line.contains("decide::"));
            assert_eq!(line, None, "{name}");
        }
    }
}
