// Lets a reader sort long tables by a column and choose rows by their statuses. Without it every row is shown, in the page's order.
for (const table of document.querySelectorAll("table.long")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const names = heads.map((head) => head.textContent.trim());
  const value = (row, column) => row.cells[column].textContent.trim();
  const button = (...content) => {
    const made = document.createElement("button");
    made.type = "button";
    made.append(...content);
    return made;
  };

  heads.forEach((head, column) => {
    const sorter = button(...head.childNodes);
    head.append(sorter);
    sorter.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const number = (row) => Number.parseFloat(value(row, column));
      const known = (row) => (head.classList.contains("number") ? Number.isFinite(number(row)) : value(row, column) !== "");
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
  const chosen = new Map();
  const show = () => {
    for (const row of rows) row.hidden = Array.from(chosen).some(([column, choice]) => status(row, column) !== choice);
  };
  const groups = heads.map((_, column) => {
    const sorts = new Set(rows.map((row) => status(row, column)));
    if (sorts.has(null) || sorts.size < 2 || sorts.size > 8) return null;
    const group = document.createElement("div");
    group.className = "filter";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Show rows with " + names[column]);
    const chips = ["", ...sorts].map((choice) => {
      const count = rows.filter((row) => choice === "" || status(row, column) === choice).length;
      const chip = button((choice || "all") + " " + count);
      chip.setAttribute("aria-pressed", String(choice === ""));
      chip.addEventListener("click", () => {
        if (choice === "") chosen.delete(column);
        else chosen.set(column, choice);
        for (const other of chips) other.setAttribute("aria-pressed", String(other === chip));
        show();
      });
      return chip;
    });
    group.append(names[column], ...chips);
    return group;
  });
  table.parentElement.before(...groups.filter(Boolean));
}
