"use strict";
// Lets a reader sort long tables by a column and choose rows by their status. Without it every row is shown, in the page's order.
for (const table of document.querySelectorAll("table.long")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const value = (row, column) => row.cells[column].textContent.trim();
  const button = (label) => {
    const made = document.createElement("button");
    made.type = "button";
    made.append(label);
    return made;
  };

  heads.forEach((head, column) => {
    const sorter = button("");
    sorter.append(...head.childNodes);
    head.append(sorter);
    sorter.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const number = (row) => Number.parseFloat(value(row, column));
      const known = (row) => (head.classList.contains("number") ? !Number.isNaN(number(row)) : value(row, column) !== "");
      const order = (a, b) => {
        const difference = head.classList.contains("number")
          ? number(a) - number(b)
          : value(a, column).localeCompare(value(b, column), "en", { numeric: true });
        return down ? -difference : difference;
      };
      // Rows without a value come last, whichever way.
      const sorted = rows.filter(known).sort(order).concat(rows.filter((row) => !known(row)));
      body.append(...sorted);
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });

  // A column of statuses has one badge in each row, of a few sorts.
  const status = (row, column) => {
    const badges = row.cells[column].querySelectorAll(".badge bdi");
    return badges.length === 1 ? badges[0].textContent : null;
  };
  const column = heads.findIndex((_, column) => {
    const sorts = new Set(rows.map((row) => status(row, column)));
    return !sorts.has(null) && sorts.size > 1 && sorts.size <= 8;
  });
  if (column < 0) continue;
  const filter = document.createElement("div");
  filter.className = "filter";
  filter.setAttribute("role", "group");
  filter.setAttribute("aria-label", "Show rows with " + heads[column].textContent);
  const choices = ["", ...new Set(rows.map((row) => status(row, column)))];
  const chips = choices.map((choice) => {
    const found = rows.filter((row) => choice === "" || status(row, column) === choice);
    const chip = button((choice || "all") + " " + found.length);
    chip.setAttribute("aria-pressed", String(choice === ""));
    chip.addEventListener("click", () => {
      for (const row of rows) row.hidden = !found.includes(row);
      for (const other of chips) other.setAttribute("aria-pressed", String(other === chip));
    });
    return chip;
  });
  filter.append(...chips);
  table.before(filter);
}
