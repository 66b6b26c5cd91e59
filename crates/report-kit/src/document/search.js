// Hides the entries of a list that do not have every word of the search box. Reads text, sets `hidden`, and no more.
for (const list of document.querySelectorAll(".list")) {
  const box = list.querySelector(".search");
  const field = box.querySelector("input");
  const told = box.querySelector("output");
  const entries = Array.from(list.querySelectorAll("li"));
  let texts = null;
  const search = () => {
    texts = texts || entries.map((entry) => entry.textContent.toLowerCase());
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    entries.forEach((entry, index) => {
      const found = words.every((word) => texts[index].includes(word));
      entry.hidden = !found;
      shown += found ? 1 : 0;
    });
    told.textContent = words.length ? shown + " of " + entries.length : "";
  };
  field.addEventListener("input", search);
  // A link to an entry that is hidden at the moment must still lead there.
  addEventListener("hashchange", () => {
    const target = linked();
    if (target && target.hidden && list.contains(target)) {
      field.value = "";
      search();
      target.scrollIntoView();
    }
  });
  box.hidden = false;
}
