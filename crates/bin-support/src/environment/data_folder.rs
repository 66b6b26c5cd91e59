use std::ffi::OsString;
use std::path::PathBuf;

/// The folder for the data of this user's programs, each in a folder of its name, with the variable that names it. `None` if
/// the environment does not name one.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' environment is read"
)]
pub fn data_folder() -> Option<(PathBuf, &'static str)> {
    data_folder_of(std::env::consts::OS, |name| std::env::var_os(name))
}

/// The folder by the rules of `system`. A relative path depends on the working directory, so it is ignored.
fn data_folder_of(
    system: &str,
    get: impl Fn(&str) -> Option<OsString>,
) -> Option<(PathBuf, &'static str)> {
    let folder = |name, inside: &str| {
        let path = get(name).map(PathBuf::from);
        let path = path.filter(|path| path.has_root())?;
        Some((path.join(inside), name))
    };
    match system {
        "windows" => folder("APPDATA", ""),
        "macos" => folder("HOME", "Library/Application Support"),
        _ => folder("XDG_DATA_HOME", "").or_else(|| folder("HOME", ".local/share")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_where_the_system_has_them() {
        let all = [("HOME", "/h"), ("XDG_DATA_HOME", "/x"), ("APPDATA", "/a")];
        let only_home = [("HOME", "/h"), ("XDG_DATA_HOME", "x"), ("APPDATA", "")];
        let folder = |system, variables: [(&str, &str); 3]| {
            let get = |name: &str| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let (path, variable) = data_folder_of(system, get)?;
            Some((path.to_str().unwrap().to_owned(), variable))
        };
        let is = |path: &str, variable| Some((path.to_owned(), variable));
        assert_eq!(folder("linux", all), is("/x/", "XDG_DATA_HOME"));
        assert_eq!(folder("linux", only_home), is("/h/.local/share", "HOME"));
        assert_eq!(
            folder("macos", all),
            is("/h/Library/Application Support", "HOME")
        );
        assert_eq!(folder("windows", all), is("/a/", "APPDATA"));
        assert_eq!(folder("windows", only_home), None);
    }
}
