//! L1 in a browser: a face calls the prop of a row that a test added.

use hermitcrab_kernel::table;
use test_support::browser;

use super::home::{FACE, Home};
use crate::server::table::ROW;

#[test]
fn a_face_calls_the_prop_of_an_added_row() {
    table::add_row(ROW).unwrap();
    browser::run(async |browser| {
        let jsx = "function Tides(props) {
          const [text, say] = React.useState('');
          React.useEffect(() => { props.look.out('Husum').catch((fault) => say(`${fault.error}: ${fault.message}`)); }, []);
          return <p id='tides'>{text}</p>;
        }";
        let home = Home::with_face(jsx).await;
        browser.open(&home.url).await;
        // The call went to the program and to the host: no page has this skill.
        let answer = "unavailable: look_out needs an open page";
        let is_told = format!("document.querySelector('#tides').textContent === {answer:?}");
        browser.in_frame_until(FACE, &is_told).await;
        home.close().await;
    });
}
