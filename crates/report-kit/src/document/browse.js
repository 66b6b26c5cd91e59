// Shows the items of a browser that have every word of its search box. What it shows is the text of elements, and no more.
for (const browser of document.querySelectorAll(".browser")) {
  const { columns, tones, texts, items } = JSON.parse(browser.querySelector("script").textContent);
  const box = browser.querySelector(".search");
  const field = box.querySelector("input");
  const all = box.querySelector("button");
  const told = box.querySelector("output");
  const list = browser.querySelector("ol");
  const more = browser.querySelector(".more");
  const STEP = 50;
  const every = items.map((_, index) => index);
  const byId = new Map(items.map((item, index) => [item[1], index]));
  let found = every;
  let haystacks = null;

  const element = (parent, name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const link = (parent, index) => {
    const [name, id] = items[index];
    if (id === null) return element(parent, "span", "", name);
    const made = element(parent, "a", "", name);
    made.setAttribute("href", "#" + id);
    return made;
  };
  // Links are no words of an item: they would find it under the names of others.
  const words = (value) => (value === null || Array.isArray(value) ? "" : String(value));

  const showText = (entry, [index, start, end]) => {
    const [text, total, marks] = texts[index];
    const bounds = new Set([0, start, end, text.length]);
    for (const [from, to] of marks) bounds.add(from).add(to);
    const places = Array.from(bounds).sort((a, b) => a - b);
    const box = element(entry, "div", "text");
    // An item's own part is framed, unless it is all there is.
    const whole = start === 0 && end === text.length;
    const own = whole || start === end ? null : document.createElement("span");
    for (let at = 0; at + 1 < places.length; at += 1) {
      const [from, to] = [places[at], places[at + 1]];
      const mark = marks.find((mark) => mark[0] <= from && to <= mark[1]);
      const inside = own && start <= from && to <= end;
      if (inside && from === start) {
        own.className = "own";
        box.append(own);
      }
      element(inside ? own : box, "span", mark ? tones[mark[2]] : "", text.slice(from, to));
    }
    if (total !== null) element(box, "span", "cut", " [cut: the first 20000 of " + total + " characters]");
  };
  const showItem = (index) => {
    const [name, id, place, values] = items[index];
    const entry = element(list, "li", "");
    if (id !== null) entry.id = id;
    element(entry, "b", "", name);
    const facts = element(entry, "dl", "");
    values.forEach((value, column) => {
      if (value === null || (Array.isArray(value) && value.length === 0)) return;
      const pair = element(facts, "div", "");
      element(pair, "dt", "", columns[column]);
      const shown = element(pair, "dd", "", Array.isArray(value) ? undefined : String(value));
      if (Array.isArray(value)) {
        value.forEach((other, at) => {
          if (at > 0) shown.append(" ");
          link(shown, other);
        });
      }
    });
    if (place === null) return;
    showText(entry, place);
    const [text, start, end] = place;
    const own = texts[text][0].slice(...(start === end ? [0] : [start, end]));
    if (navigator.clipboard) entry.querySelector("b").after(copyButton("Copy text", () => own));
  };
  const showMore = () => {
    const start = list.childElementCount;
    for (const index of found.slice(start, start + STEP)) showItem(index);
    more.hidden = list.childElementCount >= found.length;
  };
  const show = (some) => {
    found = some;
    list.replaceChildren();
    showMore();
    told.textContent = found === every ? "" : found.length + " of " + items.length;
    all.hidden = found === every;
  };
  const search = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length === 0) return show(every);
    if (haystacks === null) {
      const lower = texts.map(([text]) => text.toLowerCase());
      haystacks = items.map(([name, , place, values]) => [
        [name].concat(values.map((value, column) => columns[column] + " " + words(value))).join(" ").toLowerCase(),
        place === null ? "" : lower[place[0]],
      ]);
    }
    show(every.filter((index) => wanted.every((word) => haystacks[index].some((text) => text.includes(word)))));
  };
  // A link to an item leads there, whatever is shown at the moment.
  const follow = () => {
    const index = byId.get(location.hash.slice(1));
    if (index === undefined) return;
    field.value = "";
    show([index]);
    list.firstElementChild.scrollIntoView();
  };
  field.addEventListener("input", search);
  more.addEventListener("click", showMore);
  all.addEventListener("click", () => {
    field.value = "";
    show(every);
    field.focus();
  });
  addEventListener("hashchange", follow);
  browser.querySelector(".unscripted").hidden = true;
  box.hidden = false;
  show(every);
  follow();
}
