"use strict";
// Without this script a matrix is a plain table in the order of names; with it, its heads sort and its kinds can be chosen.
for (const controls of document.querySelectorAll(".matrix-kinds")) {
  const table = document.getElementById(controls.dataset.of), [body] = table.tBodies, heads = [...table.tHead.rows[0].cells];
  const byName = [...body.rows], choice = controls.querySelector("select");
  const kind = () => choice?.value === "defined" ? "defined" : "published";
  const sort = (place, order) => {
    const value = row => place ? Number(row.cells[place].dataset[kind()] ?? NaN) : byName.indexOf(row);
    const sign = order === "descending" ? -1 : 1;
    // what has no value comes last in either order
    const inOrder = [...byName].sort((one, other) => {
      const [left, right] = [value(one), value(other)];
      return Number.isNaN(left) || Number.isNaN(right) ? Number.isNaN(left) - Number.isNaN(right) : sign * (left - right);
    });
    body.append(...inOrder);
    heads.forEach((head, at) => head.setAttribute("aria-sort", at === place ? order : "none"));
  };
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", place ? "none" : "ascending");
    // the first click shows the highest values, or the first names
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort"), first = place ? "descending" : "ascending", second = place ? "ascending" : "descending";
      sort(place, now === first ? second : first);
    });
  });
  choice?.addEventListener("change", () => {
    table.dataset.kind = choice.value;
    const sorted = heads.findIndex(head => head.getAttribute("aria-sort") !== "none");
    sort(sorted, heads[sorted].getAttribute("aria-sort"));
  });
  controls.addEventListener("submit", event => event.preventDefault());
  controls.hidden = false;
}
