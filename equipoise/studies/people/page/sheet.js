"use strict";
// Labels are kept by row: the same reply of two results, drawn in pairs, has one id and two draws.
const data = JSON.parse(document.getElementById("data").textContent);
/** @type {(id: string) => any} An element of any kind. */
const at = (id) => document.getElementById(id);
const names = { key: "equipoise-sheet", format: data.format, version: data.version };
const empty = Object.fromEntries(data.fields.map((field) => [field.name, ""]));
const labels = data.rows.map(() => ({ ...empty, note: "" }));
const first = data.fields[0].name;
let place = 0;

const keyOf = (row) => `${row.draw}\n${row.id}`;
const rowAt = new Map(data.rows.map((row, index) => [keyOf(row), index]));
const storage = `${names.key}:${data.person}:${data.rows.length ? data.rows.map(keyOf).sort()[0] : ""}`;

// What is kept, and files.

const saved = () => ({
  format: names.format,
  version: names.version,
  person: at("person").value.trim(),
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
    blank();
    show();
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
  text.textContent = [key === value ? "" : `${key}:`, value.replaceAll("_", " "), meaning && `- ${meaning}`].filter(Boolean).join(" ");
  input.addEventListener("change", () => put(name, value));
  label.append(input, text);
  return label;
}

function put(name, value) {
  labels[place][name] = value;
  keep();
  show();
}

function clear() {
  Object.assign(labels[place], empty);
  keep();
  show();
}

function show() {
  const row = data.rows[place];
  const done = labels.filter((label) => label[first]).length;
  at("where").textContent = `Reply ${place + 1} of ${data.rows.length}`;
  at("language").textContent = row.language;
  for (const id of ["question", "reply"]) {
    at(id).textContent = row[id];
    at(id).lang = row.language;
  }
  /** @type {NodeListOf<HTMLInputElement>} */
  const inputs = document.querySelectorAll("#fields input");
  for (const input of inputs) input.checked = input.value === labels[place][input.name];
  at("note").value = labels[place].note;
  at("bar").max = data.rows.length;
  at("bar").value = done;
  at("count").textContent = `${done} of ${data.rows.length} labelled`;
}

function move(step) {
  place = Math.min(Math.max(place + step, 0), data.rows.length - 1);
  at("reply").scrollTop = 0;
  show();
}

function blank() {
  const order = data.rows.map((_, index) => (place + 1 + index) % data.rows.length);
  const found = order.find((index) => !labels[index][first]);
  if (found === undefined) {
    at("state").textContent = "Every reply is labelled: save to a file.";
    return;
  }
  place = found;
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
  if (inText || event.ctrlKey || event.metaKey || event.altKey) return;
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
  show();
});

fields();
at("person").value = data.person;
at("person").readOnly = Boolean(data.person);
recall();
if (labels[0]?.[first]) blank();
if (data.rows.length) show();
document.documentElement.classList.add("ready");
