use std::ffi::OsString;

/// The variables that every other program gets.
const PLAIN: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];

/// The environment of a program that is not trusted with keys: `PATH`, `HOME`, `LANG`, `TZ` and these variables, as far as the
/// process has them.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' environment is read"
)]
pub fn child_environment(names: &[String]) -> Vec<(String, OsString)> {
    let names = PLAIN
        .iter()
        .copied()
        .chain(names.iter().map(String::as_str));
    names
        .filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)))
        .collect()
}
