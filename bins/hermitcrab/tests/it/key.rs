//! Keys are stored separately, never shown, and never read from the command line.

use crate::model::KEY;
use crate::program::{DATA, Place};

#[cfg(unix)]
fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_key_from_stdin_is_kept_in_a_file_of_its_own() {
    let place = Place::new();
    let set = ["key", "set", "--file"];
    let ran = place.fed(format!("{KEY}\n").as_bytes(), &set).exits(0);
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    assert_eq!(
        place.read("data/keys.env"),
        format!("ANTHROPIC_API_KEY='{KEY}'\n")
    );
    #[cfg(unix)]
    {
        assert_eq!(mode(&place.path("data/keys.env")), 0o600);
        assert_eq!(mode(&place.path(DATA)), 0o700);
    }
    // The file keeps the key of a second provider, and a new key replaces the old one of its provider.
    for (key, provider) in [("sk-or-other-0000", "openrouter"), ("newer", "anthropic")] {
        let arguments = [&set[..], &["--provider", provider]].concat();
        place.fed(key.as_bytes(), &arguments).exits(0);
    }
    assert_eq!(
        place.read("data/keys.env"),
        "ANTHROPIC_API_KEY='newer'\nOPENROUTER_API_KEY='sk-or-other-0000'\n"
    );
    let status = place.json(&["key", "status"]);
    let kept: Vec<_> = status["keys"].as_array().unwrap().iter().collect();
    let kept: Vec<_> = kept.iter().map(|key| key["in_file"] == true).collect();
    assert_eq!(kept, [true, true, false]);
    place.run(&["key", "clear"]).exits(0);
    assert_eq!(place.names(DATA), [""; 0]);
    let ran = place.run(&["key", "clear"]).exits(0);
    assert!(ran.stdout.contains("no key was kept"), "{}", ran.stdout);
}

#[test]
fn status_says_where_and_never_what() {
    let place = Place::new();
    insta::assert_snapshot!(place.run(&["key", "status"]).exits(0).stdout);
    let mut command = place.command(&["key", "status"]);
    command.env("ANTHROPIC_API_KEY", KEY);
    place.file(".env", "OPENAI_API_KEY=sk-from-a-file-0000\n");
    #[cfg(unix)]
    place.private(".env");
    let ran = crate::program::finish(crate::program::start(&mut command)).exits(0);
    insta::assert_snapshot!(ran.stdout);
    insta::assert_json_snapshot!(place.json(&["key", "status"]));
}

#[test]
fn what_is_no_key_or_comes_the_wrong_way_is_refused_without_being_repeated() {
    let place = Place::new();
    for (stdin, arguments, words) in [
        (
            KEY,
            &["key", "set"][..],
            &["keyring", "ANTHROPIC_API_KEY"][..],
        ),
        ("", &["key", "set", KEY], &["command line", "stdin"]),
        ("", &["key", "set", "--file", KEY], &["command line"]),
        ("", &["key", "set", "--file"], &["empty"]),
        ("sk secret", &["key", "set", "--file"], &["white space"]),
        ("sk-se'cret", &["key", "set", "--file"], &["quote"]),
        (&"x".repeat(1025), &["key", "set", "--file"], &["longer"]),
        (
            KEY,
            &["key", "set", "--file", "--provider", "offline"],
            &["needs no key"],
        ),
    ] {
        let ran = place.fed(stdin.as_bytes(), arguments).exits(2).tells(words);
        for secret in [KEY, "secret", "cret"] {
            assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
        }
    }
    assert!(!place.path(DATA).exists());
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place
        .fed(KEY.as_bytes(), &["key", "set", "--file"])
        .exits(0);
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(place.path("data/keys.env"), open).unwrap();
    let ran = place.run(&["key", "status"]).exits(0);
    ran.tells(&["keys.env", "chmod 600"]);
}
