"use strict";
// The state of the table lives in the address: a filtered, sorted view or an opened cell can be linked to.
// Text from runs only ever enters the page as text nodes.
const data = JSON.parse(document.getElementById("data").textContent);
for (const cell of data.cells) {
  cell.metrics = Object.fromEntries((cell.metrics || []).map((value, place) => [data.metrics[cell.benchmark][place], value]));
  cell.notes ||= {};
  cell.reason = data.shared[cell.reason];
  cell.run = data.shared[cell.run].replace("SEED", cell.seed);
  cell.job = data.shared[cell.job];
  for (const claim of cell.claims || []) Object.assign(claim, { source: data.shared[claim.source], reason: data.shared[claim.reason] });
  if (cell.record) Object.assign(cell.record, { limits: data.shared[cell.record.limits], engine: data.shared[cell.record.engine], made_by: data.shared[cell.record.made_by] || {} });
}
const form = document.getElementById("filters"), rows = document.getElementById("rows");
const panel = document.getElementById("panel"), more = document.getElementById("more");
const CHOICES = ["verdict", "method", "dataset", "split"], PIECE = 200;
const cells = data.cells.slice(0, data.planned), metricNames = [...new Set(Object.values(data.metrics).flat())];
// A cell's own first metric, where none is chosen, is that of its dataset in the matrix; where all have one, it is shown.
const firsts = [...new Set(cells.map(cell => data.first_metrics[cell.dataset]))], alone = firsts.length === 1 ? firsts[0] : "";
let state = {}, view = [], shown = 0, listed = "", remarkNumbers = new Map();

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}
const chip = (verdict, kind = "v") => make("span", { class: `chip ${kind}-${verdict}` },
  make("b", { "aria-hidden": "true" }, (kind === "v" ? data.symbols : data.claim_symbols)[verdict]), ` ${verdict}`);
const figure = (value, digits = 4) => typeof value === "number" ? value.toFixed(digits) : "–";
const size = bytes => typeof bytes !== "number" ? "–" : bytes < 1024 ? `${bytes} B`
  : bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB` : bytes < 1073741824 ? `${(bytes / 1048576).toFixed(1)} MiB` : `${(bytes / 1073741824).toFixed(2)} GiB`;
const places = (value, digits) => value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const seconds = value => typeof value === "number" ? `${places(value, value < 10 ? 2 : 1)} s` : "–";
// What a text quotes is code.
const coded = text => make("span", {}, ...text.split(/`([^`]+)`/).map((part, at) => at % 2 ? make("code", {}, part) : part));
// The records of different times tell a moment in different ways.
const moment = text => Number.isNaN(Date.parse(text)) ? text : `${new Date(text).toISOString().slice(0, 19).replace("T", " ")} UTC`;
const resource = (cell, name) => cell.record ? cell.record.resources[name] : undefined;
const nameOf = cell => `${cell.method} on ${cell.dataset}, ${cell.split}, seed ${cell.seed}`;

// What the notes say of a metric: those of its name, and those of no metric's name but of its setting and kind.
const settingOf = name => `${name.split(" ")[0]}/${name.split("/")[1]}`;
const remarks = (cell, metric) => Object.entries(cell.notes).filter(([name]) => name === metric || !metricNames.includes(name) && settingOf(name) === settingOf(metric))
  .map(([name, note]) => `${name.split("/")[0]}: ${note}`).join("; ");
const together = () => { const metric = state.metric || alone; return data.metric_sets.find(members => members.includes(metric)) || [metric]; };
// A remark is numbered at its first number, and stands in words below the table: for every reader, and on paper.
function score(cell, metric) {
  const told = cell.metrics[metric] === undefined ? "" : remarks(cell, metric);
  if (told && !remarkNumbers.has(told)) {
    remarkNumbers.set(told, remarkNumbers.size + 1);
    document.getElementById("cell-notes").append(make("li", { id: `cell-note-${remarkNumbers.size}` }, told));
  }
  const number = remarkNumbers.get(told);
  return make("span", {}, figure(cell.metrics[metric]), told ? make("sup", {}, make("a", { href: `#cell-note-${number}`, "aria-label": `Note ${number}` }, `[${number}]`)) : null);
}
const metricOf = (cell, metric) => metric || data.first_metrics[cell.dataset];
const scoreColumn = metric => ({ title: metric || "score", number: true, value: cell => cell.metrics[metricOf(cell, metric)],
  cell: cell => make("span", {}, metric || cell.metrics[metricOf(cell)] === undefined ? null : make("small", {}, `${metricOf(cell).replace("/", " / ")} `), score(cell, metricOf(cell, metric))) });

// A long name breaks between its parts, not within one.
const breakable = name => make("span", {}, ...name.split(/(?<=[:,/=])/).flatMap(word => [word, make("wbr")]));

const COLUMNS = {
  verdict: { title: "verdict", value: cell => cell.verdict, cell: cell => chip(cell.verdict) },
  method: { title: "method", class: "name", value: cell => cell.method, cell: cell => make("span", {}, breakable(cell.method), cell.control ? " " : "", cell.control ? make("span", { class: "tag" }, "control") : "") },
  dataset: { title: "dataset", class: "name", value: cell => cell.dataset, cell: cell => breakable(cell.dataset) },
  split: { title: "split", class: "name", value: cell => cell.split, cell: cell => breakable(cell.split) },
  seed: { title: "seed", number: true, value: cell => cell.seed },
  score: null,
  wall: { title: "wall", number: true, value: cell => resource(cell, "wall_s"), cell: cell => seconds(resource(cell, "wall_s")) },
  memory: { title: "peak memory", number: true, value: cell => resource(cell, "peak_bytes"), cell: cell => size(resource(cell, "peak_bytes")) },
  key: { title: "key", value: cell => cell.key, cell: cell => make("button", { class: "open key", "aria-label": `Evidence of ${nameOf(cell)}` }, cell.key.slice(0, 12) || "–") },
  reason: { title: "reason", value: cell => cell.reason, class: "reason", cell: cell => cell.verdict === "ok" ? "" : coded(cell.reason.slice(0, 300)) },
};
// A metric stands beside the same one of the other settings; `score` is the first, `score2` the next.
const columns = () => Object.fromEntries(Object.entries(COLUMNS).flatMap(([name, column]) => name !== "score" ? [[name, column]]
  : together().map((metric, at) => [at ? `score${at + 1}` : "score", scoreColumn(metric)])));
const text = cells.map(cell => [cell.verdict, cell.method, cell.dataset, cell.split, cell.seed, cell.key, cell.reason, cell.benchmark].join(" ").toLowerCase());

function readState() {
  state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}
function writeState(change) {
  const next = { ...state, ...change };
  const query = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== "" && value !== undefined));
  history.replaceState(null, "", `#${query}`);
  apply();
}
function compareValues(one, other) {
  const empty = value => value === undefined || value === null || value === "";
  if (empty(one) || empty(other)) return empty(one) - empty(other);
  const order = typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en");
  return state.order === "desc" ? -order : order;
}
// The table is made anew only where another view is asked for: what has the focus keeps it.
function apply() {
  readState();
  const wanted = JSON.stringify(["q", "metric", "sort", "order", ...CHOICES].map(name => state[name] || ""));
  if (wanted !== listed) list();
  listed = wanted;
  openFrom(state);
}
function list() {
  for (const name of ["q", "metric", ...CHOICES]) form.elements[name].value = state[name] || (name === "metric" ? alone : "");
  const words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  view = cells.map((cell, place) => place).filter(place => {
    const cell = cells[place];
    return CHOICES.every(name => !state[name] || String(cell[name]) === state[name]) && words.every(word => text[place].includes(word));
  });
  const present = columns(), sorted = present[state.sort];
  if (sorted) {
    const value = new Map(view.map(place => [place, sorted.value(cells[place])]));
    view.sort((one, other) => compareValues(value.get(one), value.get(other)) || one - other);
  }
  document.getElementById("heads").replaceChildren(...Object.entries(present).map(([name, column]) => make("th", {
    scope: "col", class: column.number ? "number" : "",
    "aria-sort": state.sort !== name ? "none" : state.order === "desc" ? "descending" : "ascending",
  }, make("button", { type: "button", onclick: () => { writeState({ sort: name, order: state.sort === name && state.order !== "desc" ? "desc" : "asc" }); document.querySelectorAll("#heads button")[Object.keys(columns()).indexOf(name)].focus(); } }, column.title.replace("/", " / ")))));
  rows.replaceChildren();
  document.getElementById("cell-notes").replaceChildren();
  remarkNumbers = new Map();
  shown = 0;
  showPiece();
  document.getElementById("shown").textContent = `${view.length.toLocaleString("en")} of ${cells.length.toLocaleString("en")} cells match.`;
}
// The rows in view, in their order, with every metric that their benchmarks have.
function csv() {
  const chosen = view.map(place => cells[place]), metrics = [...new Set(chosen.flatMap(cell => data.metrics[cell.benchmark]))];
  const field = value => value === undefined || value === null ? "" : /[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
  const names = ["verdict", "benchmark", "method", "dataset", "split", "seed", "key", "reason"], used = ["wall_s", "peak_bytes"];
  const lines = chosen.map(cell => [...names.map(name => cell[name]), ...used.map(name => resource(cell, name)), ...metrics.map(name => cell.metrics[name])]);
  return [[...names, ...used, ...metrics], ...lines].map(values => `${values.map(field).join(",")}\r\n`).join("");
}
function download() {
  const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
  make("a", { href: address, download: "cells.csv" }).click();
  URL.revokeObjectURL(address);
}
function showPiece() {
  const piece = view.slice(shown, shown + PIECE), present = Object.values(columns());
  rows.append(...piece.map(place => {
    const cell = cells[place];
    return make("tr", { "data-place": place }, ...present.map(column =>
      make("td", { class: column.class || (!column.number ? "" : column.value(cell) === undefined ? "number none" : "number"), "data-label": column.title.replace("/", " / ") }, column.cell ? column.cell(cell) : String(column.value(cell)))));
  }));
  shown += piece.length;
  more.replaceChildren(shown < view.length ? make("button", { type: "button", onclick: showPiece }, `Show more (${(view.length - shown).toLocaleString("en")} left)`) : "");
}

// What is empty is left out: a list of no warnings says nothing.
const empty = value => [undefined, "", "[]", "{}", "null"].includes(value);
function facts(pairs) {
  return make("dl", { class: "facts" }, ...pairs.filter(pair => !empty(pair[1])).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}
function grid(head, body) {
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": head.join(", ") }, make("table", { class: "plain" }, make("thead", {}, make("tr", {}, ...head.map((title, place) => make("th", { scope: "col", class: place ? "value" : "" }, title)))),
    make("tbody", {}, ...body.map(row => make("tr", {}, ...row.map((value, place) => make("td", { class: place ? "value" : "reason" }, value)))))));
}
function copier(words, what) {
  const button = make("button", { type: "button", class: "copy", "aria-label": `Copy ${what}`, onclick: () => {
    const tell = word => { button.textContent = word; setTimeout(() => { button.textContent = "Copy"; }, 2000); };
    // a browser may refuse; the text can still be selected by hand
    navigator.clipboard.writeText(words).then(() => tell("Copied"), () => tell("Not allowed"));
  } }, "Copy");
  return button;
}
const hash = value => make("code", { class: "hash" }, value);
const part = (title, ...children) => children.some(child => child) ? [make("h3", {}, title), ...children.filter(child => child)] : [];
const plain = value => typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);

function scoreGrid(cell) {
  const names = Object.keys(cell.metrics).filter(name => cell.metrics[name] !== undefined), kinds = [...new Set(names.map(name => name.split("/")[1] || ""))].sort().reverse();
  const told = value => value === undefined ? "" : value === null ? "undefined" : String(value);
  const noted = new Map();
  for (const [name, note] of Object.entries(cell.notes)) noted.set(note, [...noted.get(note) || [], name]);
  return [grid(["metric", ...kinds], [...new Set(names.map(name => name.split("/")[0]))].map(base => [base, ...kinds.map(kind => told(cell.metrics[kind ? `${base}/${kind}` : base]))])),
    noted.size ? make("ul", { class: "hint" }, ...[...noted].map(([note, metrics]) => make("li", {}, `${metrics.join(", ")}: ${note}`))) : null];
}
function claimGrid(cell) {
  const reasons = [...new Set(cell.claims.filter(claim => claim.verdict !== "reproduced").map(claim => `${claim.verdict}: ${claim.reason}`))];
  return [grid(["metric", "published", "ours", "difference", "verdict"], cell.claims.map(claim => [claim.metric.split("/")[0], claim.published,
    claim.ours === null ? "–" : String(claim.ours), claim.difference === null ? "–" : claim.difference ? claim.difference.toExponential(1) : "0", chip(claim.verdict, "c")])),
    reasons.length ? make("ul", { class: "hint" }, ...reasons.map(reason => make("li", {}, coded(reason)))) : null,
    make("p", { class: "hint" }, `Published in: ${[...new Set(cell.claims.map(claim => claim.source))].join("; ")}`)];
}

function commands(cell) {
  const audit = `harness audit ${cell.reference ? "--reference " : ""}${cell.key.slice(0, 12)}`;
  return [[cell.run, "runs it again"], ...cell.key ? [[audit, "audits it"], [`${audit} --replay 1`, "repeats it"]] : []];
}
// The five things that every number rests on, each by its digest and its place.
function rests(cell) {
  const record = cell.record, made = data.methods[cell.accelerator ? `${cell.job.method} ${cell.accelerator}` : cell.job.method], log = record.files["log.txt"];
  const now = made && made.image === cell.pins.image, place = path => location.protocol === "file:" && data.root ? make("a", { href: `${data.root}${path}` }, path) : make("code", {}, path);
  const kind = (name, ...children) => [name, make("div", { "data-evidence": name }, ...children)];
  const joined = values => values.flatMap((value, at) => [at ? ", " : "", value]);
  return facts([
    kind("record", hash(record.digest), ` of key ${cell.key.slice(0, 12)}`),
    kind("log", log ? hash(log[0]) : "none", log ? ` of ${log[1].toLocaleString("en")} bytes; ` : "; ", cell.reference ? make("span", {}, "of a reference result it is not kept; it is made again by ", make("code", {}, `harness audit --reference ${cell.key.slice(0, 12)} --replay 1`)) : "its end stands below"),
    kind("code", ...made ? [...joined(made.folders.map(place)), "; tree ", hash(made.code), now ? "" : "; the run is of an earlier image, and not of this code"] : ["is not whole here; image ", hash(cell.pins.image)]),
    kind("lock", ...made ? joined(made.locks.map(([path, sum]) => make("span", {}, place(path), " ", hash(sum)))) : ["is not whole here"]),
    kind("split", hash(cell.pins.split), ` of ${cell.split}, seed ${cell.seed}; dataset ${cell.dataset} `, hash(cell.pins.dataset)),
  ]);
}
const opener = cell => make("a", { href: `#cell=${cell.key.slice(0, 16)}`, class: "key" }, cell.key.slice(0, 12));
function runsOf(number) {
  const own = data.numbers[number].map(place => data.cells[place]), methods = new Map();
  for (const cell of own) methods.set(cell.job.method, [...methods.get(cell.job.method) || [], cell]);
  return [make("p", {}, "What this number rests on. A key opens the whole evidence of its run, the log included."), ...[...methods].flatMap(([name, runs]) => [make("h3", {}, name), rests(runs[0]), runs.length > 1 ? make("p", { class: "hint" }, "That is the first run. The others have the same code and lock, where their image is the same:") : null,
    runs.length > 1 ? grid(["run", "seed", "verdict", "record", "log", "split"], runs.map(cell => [make("span", {}, opener(cell), ` ${cell.dataset}, ${cell.split}`), String(cell.seed), chip(cell.verdict), hash(cell.record.digest.slice(0, 12)), hash((cell.record.files["log.txt"] || [""])[0].slice(0, 12)), hash(cell.pins.split.slice(0, 12))])) : make("p", {}, opener(runs[0]))])].filter(Boolean);
}
function evidence(cell) {
  const record = cell.record, image = cell.pins && data.images[cell.pins.image], used = record ? record.resources : {}, limits = record ? record.limits : {};
  const other = Object.entries(used).filter(([name]) => !["wall_s", "cpu_s", "peak_bytes", "reported"].includes(name));
  return [
    make("p", {}, chip(cell.verdict), " ", coded(cell.reason), state.runs ? make("span", {}, " ", make("a", { href: `#runs=${state.runs}` }, "back to all runs of this number")) : ""),
    ...part("Rests on", record ? rests(cell) : null),
    ...part("Commands", ...commands(cell).map(([command, what]) => make("div", { class: "command" }, make("pre", {}, command), copier(command, `the command that ${what}`))),
      make("p", { class: "hint" }, "The first takes original data from the network, or with ", make("code", {}, "--mirror DIR"), " from a folder.")),
    ...part("Scores", ...Object.keys(cell.metrics).length ? scoreGrid(cell) : [make("p", { class: "hint" }, !record ? "No run, no scores." : cell.verdict === "ok" ? coded("No fresh scores: run `harness score`.") : "No valid predictions, so no scores.")]),
    ...part("Published", ...cell.claims ? claimGrid(cell) : []),
    ...part("Resources", record ? facts([["wall clock", `${seconds(used.wall_s)} of ${limits.seconds.toLocaleString("en")} s`], ["CPU", seconds(used.cpu_s)], ["peak memory", `${size(used.peak_bytes)} of ${size(limits.memory_bytes)}`], ...other.map(([name, value]) => [name.replaceAll("_", " "), plain(value)]), ["attempts", plain(record.attempts)], ["started", moment(record.started)], ["finished", moment(record.finished)]]) : null),
    ...part("Reported by the method", record && used.reported && Object.keys(used.reported).length ? facts(Object.entries(used.reported).map(([name, value]) => [name.replaceAll("_", " "), plain(value)])) : null),
    ...part("Job", facts([["benchmark", cell.benchmark], ...Object.entries(cell.job).map(([name, value]) => [name.replaceAll("_", " "), plain(value)]), ["job key", cell.key ? hash(cell.key) : ""]]),
      cell.pins ? facts([["image tree", hash(cell.pins.image)], ["dataset", hash(cell.pins.dataset)], ["split", hash(cell.pins.split)]]) : null),
    ...part("Image and engine", record ? facts([...Object.entries(image || {}).map(([name, value]) => [name.replaceAll("_", " "), hash(value)]), ...Object.entries(record.engine).map(([name, value]) => [`engine ${name.replaceAll("_", " ")}`, plain(value)]), ["harness", record.harness_version], ...Object.entries(record.made_by).map(([name, value]) => [`made by ${name}`, Array.isArray(value) ? value.join(" ") : hash(value)])]) : null),
    ...part("Files", record ? make("p", { class: "hint" }, cell.folder ? `In ${cell.folder}` : "Of a reference result the files are not kept, but their digests are.") : null, record ? grid(["file", "bytes", "sha256"], Object.entries(record.files).map(([name, [sum, bytes]]) => [name, bytes.toLocaleString("en"), hash(sum)])) : null),
    ...part("Log", record && !cell.reference ? make("pre", { class: "log", tabindex: 0 }, cell.log || "(empty)") : null),
  ];
}
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
// A link from elsewhere may name a key that is not of this page, or the beginning of several.
const unclear = (wanted, named) => named.length
  ? [counted(named.length, "cell"), [make("p", {}, "All of their keys begin with ", hash(wanted), ":"), make("ul", {}, ...named.map(cell => make("li", {}, opener(cell), ` ${nameOf(cell)}`)))]]
  : ["No such cell", [make("p", {}, "No key of this page begins with ", hash(wanted), "."), make("p", { class: "hint" }, "The page is of plan ", make("code", {}, data.plan), ". ", make("code", {}, "harness show KEY"), " knows every run of its machine and every reference result.")]];
const noNumber = runs => ["No such number", [make("p", {}, "No number of this page has the place ", hash(runs), "."), make("p", { class: "hint" }, "They are counted anew whenever a page is made: a key leads to the same run for good.")]];
function openFrom({ cell: wanted, runs }) {
  if (!wanted && !runs) { if (panel.open) panel.close(); return; }
  const named = wanted ? data.cells.filter((one, place) => one.key ? one.key.startsWith(wanted) : wanted === `cell-${place}`) : [];
  const [title, body] = named.length === 1 ? [breakable(nameOf(named[0])), evidence(named[0])] : wanted ? unclear(wanted, named) : Array.isArray(data.numbers[runs]) ? [counted(data.numbers[runs].length, "run"), runsOf(runs)] : noNumber(runs);
  document.getElementById("panel-title").replaceChildren(title);
  document.getElementById("panel-body").replaceChildren(...body);
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
}

for (const name of CHOICES)
  form.elements[name].append(make("option", { value: "" }, "all"), ...[...new Set(cells.map(cell => cell[name]))].sort().map(value => make("option", { value }, value)));
form.elements.metric.append(...(alone ? [] : [make("option", { value: "" }, "each row's own")]), ...metricNames.map(value => make("option", { value }, value)));
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("input", event => writeState({ [event.target.name]: event.target.value }));
// The browser's own reset would choose the first metric afterwards, which the table does not show.
form.addEventListener("reset", event => { event.preventDefault(); writeState(Object.fromEntries(["q", "metric", "sort", "order", ...CHOICES].map(name => [name, ""]))); });
document.getElementById("csv").addEventListener("click", download);
rows.addEventListener("click", event => {
  const row = event.target.closest("tr");
  if (!row || event.target.closest("a")) return;
  row.querySelector(".open").focus();
  writeState({ cell: cells[row.dataset.place].key || `cell-${row.dataset.place}`, runs: "" });
});
// A number opens its runs; the view of the table, which the address holds too, stays as it is.
addEventListener("click", event => {
  const link = event.target.closest?.('a[href^="#runs="], a[href^="#cell="]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const wanted = Object.fromEntries(new URLSearchParams(link.hash.slice(1)));
  writeState({ cell: "", ...wanted });
});
panel.addEventListener("click", event => { if (event.target === panel || event.target.closest(".close")) panel.close(); });
panel.addEventListener("close", () => { if (state.cell || state.runs) writeState({ cell: "", runs: "" }); });
addEventListener("hashchange", () => {
  const plainAnchor = document.getElementById(location.hash.slice(1));
  if (plainAnchor) return;
  apply();
  if (!state.cell && !state.runs) document.getElementById("cells").scrollIntoView();
});
new IntersectionObserver(seen => { if (seen[0].isIntersecting && shown < view.length) showPiece(); }, { rootMargin: "600px" }).observe(more);
apply();
// the table has grown since the browser went to the place it was asked for; a filtered view lies far down
(document.getElementById(location.hash.slice(1)) || (["q", "sort", ...CHOICES].some(name => state[name]) ? document.getElementById("cells") : null))?.scrollIntoView({ behavior: "instant" });
