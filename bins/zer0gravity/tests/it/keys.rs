//! The order of keys in JSON as it is written: `serde_json` sorts what it reads.

/// Every path of keys of a pretty-printed list of objects, in the order they are written, one list for each object.
pub fn paths(pretty: &str) -> Vec<Vec<String>> {
    let mut objects = Vec::new();
    // Keys of the objects around, with their indent.
    let mut around: Vec<(usize, String)> = Vec::new();
    for line in pretty.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if indent == 2 && text.starts_with('{') {
            objects.push(Vec::new());
        }
        let key = text
            .strip_prefix('"')
            .and_then(|rest| rest.split_once("\": "));
        let Some((key, _)) = key else {
            continue;
        };
        around.retain(|(outer, _)| *outer < indent);
        around.push((indent, key.to_owned()));
        let path: Vec<_> = around.iter().map(|(_, key)| key.as_str()).collect();
        let path = path.join(".");
        let object: &mut Vec<String> = objects.last_mut().unwrap();
        if !object.contains(&path) {
            object.push(path);
        }
    }
    objects
}

/// Fails the test unless what is found is of the list, in its order.
#[track_caller]
pub fn assert_in_order(found: &[String], list: &[&str]) {
    let place = |path: &String| {
        let at = list.iter().position(|known| known == path);
        at.unwrap_or_else(|| panic!("{path} is not in the list"))
    };
    let places: Vec<_> = found.iter().map(place).collect();
    assert!(places.is_sorted(), "{found:#?}");
}
