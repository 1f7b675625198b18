"use strict";
// Labels are kept by row: the same reply of two results, drawn in pairs, has one id and two draws.
const data = JSON.parse(document.getElementById("data").textContent);
/** @type {(id: string) => any} An element of any kind. */
const at = (id) => document.getElementById(id);
const names = { key: "equipoise-sheet", format: data.format, version: data.version };
const empty = Object.fromEntries(data.fields.map((field) => [field.name, ""]));
const labels = data.rows.map(() => ({ ...empty, note: "" }));
const first = data.fields[0].name;
const languages = [...new Set(data.rows.map((row) => row.language))];
/** @type {Set<string> | null} The languages that the person reads; null until they are chosen. */
let read = data.asks_languages ? null : new Set(languages);
let place = 0;

const keyOf = (row) => `${row.draw}\n${row.id}`;
const rowAt = new Map(data.rows.map((row, index) => [keyOf(row), index]));
const storage = `${names.key}:${data.person}:${data.rows.length ? data.rows.map(keyOf).sort()[0] : ""}`;

// What is kept, and files.

const saved = () => ({
  format: names.format,
  version: names.version,
  person: at("person").value.trim(),
  ...(data.asks_languages && read ? { languages: [...read] } : {}),
  rows: data.rows.map((row, index) => ({ id: row.id, draw: row.draw, ...labels[index] })),
});

function keep() {
  try {
    localStorage.setItem(storage, JSON.stringify(saved()));
  } catch {
    at("state").textContent = "This browser keeps nothing: save to a file before you close the page.";
  }
}

const isText = (value) => typeof value === "string";
const isRow = (row) => isText(row?.id) && isText(row.draw) && (row.note === undefined || isText(row.note)) && data.fields.every(({ name }) => row[name] === undefined || isText(row[name]));
const isSheet = (found) => found?.format === names.format && found.version === names.version && Array.isArray(found.rows) && found.rows.every(isRow);
const isOfOther = (found) => Boolean(data.person && found.person && found.person !== data.person);

// All of a file's labels are taken, or none.
function take(found) {
  if (!isSheet(found)) return -1;
  if (isOfOther(found)) return -2;
  let taken = 0;
  for (const row of found.rows) {
    const index = rowAt.get(keyOf(row));
    if (index === undefined) continue;
    labels[index] = { ...empty, note: row.note ?? "" };
    for (const { name, choices } of data.fields)
      if (choices.some((choice) => choice.value === row[name])) labels[index][name] = row[name];
    taken += 1;
  }
  if (isText(found.person) && found.person && !data.person) at("person").value = found.person;
  const known = Array.isArray(found.languages) ? languages.filter((code) => found.languages.includes(code)) : [];
  if (data.asks_languages && known.length) read = new Set(known);
  return taken;
}

function save() {
  const person = at("person").value.trim();
  if (!person) {
    at("state").textContent = "Give a name or pseudonym first: it tells the sheets of several people apart.";
    at("person").focus();
    return;
  }
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(saved(), null, 1)}\n`], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${person.replace(/[^\p{L}\p{N}_-]+/gu, "-")}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  at("state").textContent = `Saved ${link.download}.`;
}

async function open() {
  const [file] = at("open").files;
  if (!file) return;
  let taken = -1;
  try {
    taken = take(JSON.parse(await file.text()));
  } catch {
    taken = -1;
  }
  at("open").value = "";
  at("state").textContent =
    taken > 0 ? `Opened ${file.name}.` : taken === -2 ? `${file.name} is another person's: nothing was taken.` : taken === 0 ? `${file.name} is of other replies.` : `${file.name} is not a saved sheet.`;
  if (taken > 0) {
    keep();
    begin();
    blank();
  }
}

// What cannot be read is put aside, so that the next label does not write over it, and told.
function recall() {
  let known = null;
  let taken = -1;
  try {
    known = localStorage.getItem(storage);
    if (!known) return;
    taken = take(JSON.parse(known));
  } catch {
    taken = -1;
  }
  if (taken > 0) at("state").textContent = "Your labels from before are here.";
  if (!known || taken > 0) return;
  try {
    localStorage.setItem(`${storage}:damaged`, known);
  } catch {
    // Nothing more can be kept.
  }
  at("state").textContent = "The labels that this browser kept are damaged and were not taken: open the file that you saved last.";
}

// Which languages the person reads: asked at the first reply, and again by the button.

const isRead = (row) => read?.has(row.language) ?? false;

function nameOf(code) {
  try {
    return `${new Intl.DisplayNames([code], { type: "language" }).of(code)} (${code})`;
  } catch {
    return code;
  }
}

function askLanguages() {
  const group = at("readable").querySelector("fieldset");
  group.replaceChildren(group.firstElementChild);
  for (const code of languages) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "checkbox", value: code, checked: !read || read.has(code) });
    label.append(input, nameOf(code));
    group.append(label);
  }
  at("readable").hidden = false;
  at("main").hidden = true;
  at("readable").querySelector("button").focus();
}

function choose(event) {
  event.preventDefault();
  const chosen = [...at("readable").querySelectorAll("input:checked")].map((input) => input.value);
  if (!chosen.length) {
    at("state").textContent = "Choose at least one language.";
    return;
  }
  read = new Set(chosen);
  keep();
  begin();
  if (!isRead(data.rows[place])) blank();
}

// Shows the replies, or asks for the languages first.
function begin() {
  if (!read) {
    askLanguages();
    return;
  }
  at("readable").hidden = true;
  at("main").hidden = false;
  at("languages").hidden = !data.asks_languages;
  if (data.rows.length) show();
}

// What is shown.

function fields() {
  for (const field of data.fields) {
    const group = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = field.name === first ? field.title : `${field.title} (optional)`;
    group.className = field.name;
    group.append(legend, ...field.choices.map((choice) => button(field.name, choice)));
    for (const note of field.notes) {
      const line = document.createElement("p");
      line.className = "keys";
      line.textContent = note;
      group.append(line);
    }
    at("fields").append(group);
  }
}

function button(name, { value, key, meaning }) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const text = document.createElement("span");
  Object.assign(input, { type: "radio", name, value });
  label.dataset.key = key;
  text.textContent = [key === value ? "" : `${key}:`, value.replaceAll("_", " "), meaning && `\u2013 ${meaning}`].filter(Boolean).join(" ");
  input.addEventListener("change", () => put(name, value));
  label.append(input, text);
  return label;
}

const isFilled = (label) => data.fields.every(({ name }) => label[name]);

// The next reply follows once every field is filled; a label that is changed later stays in sight.
function put(name, value) {
  const wasFilled = isFilled(labels[place]);
  labels[place][name] = value;
  keep();
  if (wasFilled || !isFilled(labels[place])) show();
  else if (data.rows.slice(place + 1).some(isRead)) move(1);
  else blank();
}

function clear() {
  Object.assign(labels[place], empty);
  keep();
  show();
}

function show() {
  const row = data.rows[place];
  const shown = data.rows.flatMap((each, index) => (isRead(each) ? [index] : []));
  const done = shown.filter((index) => labels[index][first]).length;
  at("where").textContent = `Reply ${shown.indexOf(place) + 1} of ${shown.length}`;
  at("language").textContent = row.language;
  for (const id of ["question", "reply"]) {
    at(id).textContent = row[id];
    at(id).lang = row.language;
  }
  /** @type {NodeListOf<HTMLInputElement>} */
  const inputs = document.querySelectorAll("#fields input");
  for (const input of inputs) input.checked = input.value === labels[place][input.name];
  at("note").value = labels[place].note;
  at("bar").max = shown.length;
  at("bar").value = done;
  at("count").textContent = `${done} of ${shown.length} labelled`;
}

function move(step) {
  let next = place + step;
  while (data.rows[next] && !isRead(data.rows[next])) next += step;
  if (data.rows[next]) place = next;
  scrollTo(0, 0);
  show();
}

function blank() {
  const order = data.rows.map((_, index) => (place + 1 + index) % data.rows.length);
  const found = order.find((index) => isRead(data.rows[index]) && !labels[index][first]);
  if (found === undefined) at("state").textContent = "Every reply is labelled: save to a file.";
  else place = found;
  scrollTo(0, 0);
  show();
}

// Keys.

const keys = {
  ArrowLeft: () => move(-1),
  ArrowRight: () => move(1),
  Enter: () => move(1),
  u: blank,
  s: save,
  n: () => at("note").focus(),
  0: clear,
};

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const inText = target.matches("textarea, input:not([type=radio])");
  if (inText && event.key === "Escape") target.blur();
  if (inText || event.ctrlKey || event.metaKey || event.altKey || at("main").hidden) return;
  if (event.key === "Enter" && target.matches("button")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const choices = [.../** @type {NodeListOf<HTMLLabelElement>} */ (document.querySelectorAll("#fields label"))];
  const choice = choices.find((label) => label.dataset.key === key);
  const input = /** @type {HTMLInputElement | undefined} */ (choice?.firstChild);
  const action = input ? () => put(input.name, input.value) : keys[key];
  if (!action) return;
  event.preventDefault();
  action();
});

at("note").addEventListener("input", () => {
  labels[place].note = at("note").value;
  keep();
});
at("person").addEventListener("input", keep);
at("save").addEventListener("click", save);
at("open").addEventListener("change", open);
at("previous").addEventListener("click", () => move(-1));
at("next").addEventListener("click", () => move(1));
at("blank").addEventListener("click", blank);
at("clear").addEventListener("click", clear);
at("languages").addEventListener("click", askLanguages);
at("readable").addEventListener("submit", choose);

// What another window with the same sheet has kept is taken over: otherwise the next label here would undo it.
addEventListener("storage", (event) => {
  if (event.key !== storage || !event.newValue) return;
  let taken = -1;
  try {
    taken = take(JSON.parse(event.newValue));
  } catch {
    taken = -1;
  }
  if (taken < 0) at("state").textContent = "Another window with this sheet kept something that cannot be read.";
  begin();
});

fields();
at("person").value = data.person;
at("person").readOnly = Boolean(data.person);
recall();
begin();
if (read && (labels[0]?.[first] || !isRead(data.rows[0]))) blank();
document.documentElement.classList.add("ready");
