//! A forgotten `--universe` does not begin a second run in the built-in one.

use crate::runs::Place;
use crate::sql;

#[test]
fn a_database_of_another_universe_asks_which_is_meant() {
    let place = Place::new();
    let forest = place.popper(&["universe", "random", "--seed", "3"]);
    assert_eq!(forest.code, Some(2), "`universe` has no --db");
    let made: crate::process::Ran =
        crate::process::fresh(place.path(), &["universe", "random", "--seed", "3"])
            .output()
            .unwrap()
            .into();
    let text = made.stdout.replace("random_", "forest_");
    std::fs::write(place.path().join("forest.json"), text).unwrap();
    let begun = place.run(&["--iterations", "1", "--universe", "forest.json"]);
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    let id = sql::column(&place.db(), "SELECT universe_id FROM runs").remove(0);
    for flags in [
        &["--iterations", "1"] as &[&str],
        &["--iterations", "1", "--new-run"],
    ] {
        let forgotten = place.run(flags);
        let line = format!(
            "popper: popper.db holds runs of {id}; give --universe FILE, or --universe kinetic_grid\n"
        );
        assert_eq!((forgotten.code, forgotten.stderr), (Some(2), line));
        assert_eq!(sql::count(&place.db(), "runs"), 1);
    }
    let meant = place.run(&["--iterations", "1", "--universe", "kinetic_grid"]);
    assert_eq!(meant.code, Some(0), "{}", meant.stderr);
    assert_eq!(sql::count(&place.db(), "runs"), 2);
    // From now on the built-in one is among them.
    let again = place.run(&["--iterations", "1"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(sql::count(&place.db(), "runs"), 2);
}
