//! The lists of the guides: commands of a conversation, and the configuration of a client.

use test_support::Guide;

use crate::program::{Place, finish, start};

#[test]
fn every_slash_command_of_the_guide_is_one() {
    let (guide, place) = (Guide::read("hermitcrab"), Place::new());
    let told = guide.text().split("own commands: ").nth(1).unwrap();
    let told = told.split(". ").next().unwrap();
    let named: Vec<_> = told.split('`').skip(1).step_by(2).collect();
    assert_eq!(named.len(), 12, "{named:?}");
    let help = place.fed(b"/help\n", &["chat"]).exits(0).stdout;
    for command in named {
        assert!(
            help.contains(&format!("\n{command} ")) || help.contains(command),
            "{command}"
        );
    }
}

#[test]
fn the_configuration_of_the_guide_is_the_printed_one() {
    let place = Place::new();
    let mut command = place.bare(&["mcp", "--write", "--print-config"]);
    let printed = finish(start(&mut command)).exits(0);
    let here = Guide::read("hermitcrab-mcp").blocks("json")[0].replace(
        "/home/you/.cargo/bin/hermitcrab",
        env!("CARGO_BIN_EXE_hermitcrab"),
    );
    assert_eq!(printed.stdout, here);
}
