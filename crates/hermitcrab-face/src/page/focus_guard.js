// A face can take the keyboard by `focus()`, from a dialog of the page, too: what the person types there would go to it. What is not
// displayed cannot have the focus, but by `top.focus.call(window)`, which nothing can take away. So faces are not displayed while the
// person answers the page or types into it, which is enough against a face that means no harm, and what no face may see, a key, is
// asked for when there is none (key.js).

/** What the person is at; faces are covered as long as there is one. */
const reasons = new Set();

/** Keeps the faces out of sight until `uncover`. @param {unknown} reason */
export function cover(reason) {
  reasons.add(reason);
  show();
}

export function uncover(reason) {
  if (reasons.delete(reason)) show();
}

function show() {
  document.getElementById('stage').classList.toggle('covered', reasons.size > 0);
}

/** A face may take the focus in the instant before it is covered: it does not keep it. */
function holdFocus(place) {
  place.addEventListener('focusout', ({ target, relatedTarget }) => {
    if (relatedTarget !== null) return;
    setTimeout(() => {
      const taken = document.activeElement instanceof HTMLIFrameElement;
      if (taken && reasons.has(place) && target.isConnected) target.focus();
    });
  });
}

/** Shows a dialog over covered faces, until it is closed. @param {HTMLDialogElement} dialog */
export function modal(dialog) {
  document.body.append(dialog);
  holdFocus(dialog);
  cover(dialog);
  dialog.addEventListener('close', () => uncover(dialog));
  dialog.showModal();
}

/** Covers the faces as long as the person is in a text field of `place`. @param {HTMLElement} place */
export function typing(place) {
  const isField = (node) => place.contains(node) && node.matches('input, textarea, select');
  holdFocus(place);
  let field = null;
  place.addEventListener('focusin', ({ target }) => {
    field = isField(target) ? target : null;
    if (field) cover(place);
    else uncover(place);
  });
  place.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget !== null && !place.contains(relatedTarget)) uncover(place);
  });
  // A field that goes away with its panel tells nothing. One that a face has just taken the focus from is still there.
  new MutationObserver(() => place.contains(field) || uncover(place))
    .observe(place, { childList: true, subtree: true });
}
