"use strict";
// The element that the address names. An address that somebody typed may be no encoded text, such as `#100%`.
const linked = () => {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    return null;
  }
};
// Unfolds whatever a link leads into, and closes the list of contents behind it.
const unfold = () => {
  const target = linked();
  if (target === null || target.checkVisibility()) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
for (const contents of document.querySelectorAll("nav details")) {
  const close = () => {
    contents.open = false;
  };
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a")) close();
  });
  contents.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  document.addEventListener("click", (event) => {
    if (!contents.contains(event.target)) close();
  });
}
