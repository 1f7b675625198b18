"use strict";
// The page's own script. Everything that came from a model is put in as text; nothing is fetched.

(() => {
  /** @type {(id: string) => any} An element of any kind. */
  const byId = (id) => document.getElementById(id);
  const KEPT = "equipoise-reviews";
  const LONGEST = 20000;
  const PAGE = 50;
  let index, runs, worst, links, table;
  let reviews = {};
  let found = null;
  let searches = 0;

  // Building.

  const given = (children) => children.filter((child) => child !== null && child !== undefined);
  // Takes the place of what an element holds; what is null is left out, which replaceChildren would write.
  const fill = (place, ...children) => place.replaceChildren(...given(children));

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...given(children).map((child) => (child instanceof Node ? child : String(child))));
    return node;
  }

  function button(label, run, attributes = {}) {
    return make("button", { type: "button", class: "button", ...attributes, on: { click: run } }, label);
  }

  function text(content, attributes = {}) {
    const whole = content === null || content === undefined ? "" : typeof content === "string" ? content : JSON.stringify(content, null, 2);
    const node = make("div", { class: "text", dir: "auto", ...attributes });
    node.textContent = whole.length > LONGEST ? whole.slice(0, LONGEST) : whole || "(nothing)";
    if (whole.length <= LONGEST) return node;
    const more = button(`Show all ${whole.length.toLocaleString("en")} characters`, () => { node.textContent = whole; more.remove(); });
    return make("div", {}, node, more);
  }

  function say(words) {
    byId("status").textContent = words;
    setTimeout(() => { if (byId("status").textContent === words) byId("status").textContent = ""; }, 4000);
  }

  const shown = (value) => (value === null || value === undefined ? "-" : typeof value === "number" ? String(Math.round(value * 100) / 100).replace("-", "\u2212") : String(value));
  // A score, a lean or a mean of scores: all with one decimal.
  const tenths = (value) => (typeof value === "number" ? value.toFixed(1).replace("-", "\u2212") : shown(value));

  // Unpacking.

  async function unpack(id) {
    const packed = atob(byId(id).textContent);
    const bytes = new Uint8Array(packed.length);
    for (let place = 0; place < packed.length; place++) bytes[place] = packed.charCodeAt(place);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  const latest = new Map();
  async function chunk(number) {
    if (!latest.has(number)) {
      latest.set(number, unpack(`chunk-${number}`).then((whole) => whole.split("\n")));
      if (latest.size > 24) latest.delete(latest.keys().next().value);
    }
    return latest.get(number);
  }

  async function load(run) {
    return JSON.parse((await chunk(run.chunk))[run.line]);
  }

  // Tables of many rows, of which a page is shown. A column has an id, a name and the value by which it is sorted.

  function dataTable(place, columns, rows, label, isShown = (_) => true, by = null) {
    let [sorted, down, page, left] = [by, true, 0, rows];

    function arrange() {
      const found = rows.filter(isShown);
      left = sorted ? ordered(found, sorted.value, down) : found;
    }

    function sortBy(column) {
      const first = column.kind === "number";
      if (sorted !== column) [sorted, down] = [column, first];
      else if (down === first) down = !down;
      else sorted = null;
      page = 0;
      arrange();
      draw();
      place.querySelector(`[data-column="${column.id}"]`).focus();
    }

    function head(column) {
      const aria = sorted === column ? { "aria-sort": down ? "descending" : "ascending" } : {};
      return make("th", { scope: "col", class: column.kind, ...aria }, make("button", { type: "button", "data-column": column.id, on: { click: () => sortBy(column) } }, column.name));
    }

    function line(item) {
      const cells = columns.map((column) => make("td", { class: column.kind }, column.cell ? column.cell(item) : shown(column.value(item))));
      return make("tr", item === current ? { class: "current" } : {}, ...cells);
    }

    function pager(pages) {
      const turn = (to) => () => { page = to; draw(); };
      return make("nav", { class: "pager", "aria-label": `Pages of ${label}` },
        button("Previous", turn(page - 1), { disabled: page === 0 }),
        make("span", {}, `Page ${page + 1} of ${pages}`),
        button("Next", turn(page + 1), { disabled: page + 1 >= pages }));
    }

    function draw() {
      const pages = Math.max(1, Math.ceil(left.length / PAGE));
      const table = make("table", { "aria-label": label, class: "cards sorts" },
        make("thead", {}, make("tr", {}, ...columns.map(head))),
        make("tbody", {}, ...left.slice(page * PAGE, (page + 1) * PAGE).map(line)));
      fill(place, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, cards(table)), pages > 1 ? pager(pages) : null);
    }

    arrange();
    return { draw, filter: () => { page = 0; arrange(); draw(); return left.length; }, order: () => left };
  }

  let current = null;

  // Runs.

  function unfold() {
    const columns = index.columns;
    runs = columns.id.map((_, place) => {
      const run = { place };
      for (const name of Object.keys(columns)) run[name] = columns[name][place];
      run.about = index.results[run.result];
      return run;
    });
    worst = [...runs].sort((one, other) => good(one.score, one.about) - good(other.score, other.about));
    links = new Map();
    for (const run of runs) if (!links.has(link(run))) links.set(link(run), run);
  }

  // How good a score is, the least first: those that are best near zero are worst far from it; none is last.
  const good = (score, about) => (score === null || score === undefined ? Number.MAX_VALUE : { high: score, low: -score, even: -Math.abs(score) }[about.best]);
  // A score in the unit of the headline, and what that is on the rubric's scale.
  const scored = (run) => (run.score === null ? null : `${tenths(run.score)} ${run.about.unit}${run.level ? ` (${run.level})` : ""}`);
  // A score in its colour: the deeper the higher, in two hues where zero is the middle of the scale.
  function chip(score, about) {
    if (score === null || score === undefined) return "-";
    const share = about.unit === "%" ? score / 100 : 0.5 + score / 200;
    const step = Math.round(20 * Math.min(1, Math.max(0, share)));
    return make("span", { class: `chip ${about.unit === "%" ? "shade" : "diverging"}-${step}` }, tenths(score));
  }
  // An area or a language as people write it.
  const named = (run, slug) => (Object.hasOwn(run.about.names, slug) ? run.about.names[slug] : slug);
  const link = (run) => `${run.about.key}/${nth(run)}`;
  // A run's id within its results: its case, its asker cue if it has one, and its number.
  const nth = (run) => [run.id, run.asker, run.run].filter(Boolean).join("/");
  // Who asks, as people write it.
  const asker = (run) => (run.asker ? run.asker.replace("asker_", "").replaceAll("_", " ") : index.columns.asker && "nobody");
  const group = (run) => run.id.slice(run.language.length + 1);
  const href = (run) => `#run=${encodeURIComponent(link(run))}`;
  const anchor = (run, label) => make("a", { href: href(run) }, label);

  /** @type {[string, string, (run: any) => string][]} */
  const FILTERS = [
    ["suite", "Suite", (run) => run.about.suite],
    ["model", "Model", (run) => run.about.model],
    ["language", "Language", (run) => run.language],
    ["area", "Area", (run) => run.area],
    ["outcome", "Outcome", (run) => run.outcome],
    ["asker", "Asked as from", asker],
  ];

  function filters() {
    const place = byId("filters");
    const search = make("input", { type: "search", id: "search", autocomplete: "off", placeholder: "Words in questions, replies, verdicts", on: { input: later(lookUp, 250) } });
    place.append(make("label", { class: "wide" }, "Search", search));
    for (const [name, label, value] of FILTERS) {
      const values = new Map(runs.map((run) => [value(run), named(run, value(run))]).filter(([one]) => one).sort(([, one], [, other]) => one.localeCompare(other, "en")));
      if (values.size < 2) continue;
      const select = make("select", { id: `filter-${name}`, on: { change: refilter } }, make("option", { value: "" }, "all"), ...[...values].map(([one, label]) => make("option", { value: one }, label)));
      place.append(make("label", {}, label, select));
    }
    const ranges = [["least", "Score from"], ["most", "to"], ...(runs.some((run) => run.apart) ? [["apart", "Evaluators apart by"]] : [])];
    for (const [id, label] of ranges) {
      place.append(make("label", {}, label, make("input", { type: "number", step: "any", id, on: { input: later(refilter, 150) } })));
    }
    place.append(button("Clear", clear));
  }

  function later(run, milliseconds) {
    let waiting;
    return () => { clearTimeout(waiting); waiting = setTimeout(run, milliseconds); };
  }

  const number = (id) => ((byId(id)?.value ?? "") === "" ? null : Number(byId(id).value));

  /** @type {(run: any) => boolean} */
  let wanted = () => true;
  function refilter() {
    const selected = FILTERS.map(([name, , value]) => [byId(`filter-${name}`)?.value, value]).filter(([chosen]) => chosen);
    const [least, most, apart] = ["least", "most", "apart"].map(number);
    wanted = (run) =>
      (found === null || found.has(run.place)) &&
      selected.every(([chosen, value]) => value(run) === chosen) &&
      (least === null || (run.score !== null && run.score >= least)) &&
      (most === null || (run.score !== null && run.score <= most)) &&
      (apart === null || (run.apart !== null && run.apart >= apart));
    const left = table.filter();
    byId("count").textContent = `${left.toLocaleString("en")} of ${runs.length.toLocaleString("en")} runs`;
  }

  function clear() {
    for (const field of byId("filters").querySelectorAll("input, select")) field.value = "";
    found = null;
    searches++;
    refilter();
  }

  async function lookUp() {
    const own = ++searches;
    const words = byId("search").value.trim().toLowerCase();
    found = null;
    if (words) {
      const hits = new Set();
      const quoted = JSON.stringify(words).slice(1, -1);
      const starts = new Map();
      for (const run of runs) {
        if (!starts.has(run.chunk)) starts.set(run.chunk, []);
        starts.get(run.chunk).push(run);
        if (`${run.id} ${run.area} ${run.question}`.toLowerCase().includes(words)) hits.add(run.place);
      }
      for (const [number, inside] of starts) {
        const lines = await chunk(number);
        if (own !== searches) return;
        for (const run of inside) if (lines[run.line].toLowerCase().includes(quoted)) hits.add(run.place);
        byId("count").textContent = `Searching: ${Math.round((100 * (number + 1)) / index.chunks)} %`;
      }
      found = hits;
    }
    refilter();
  }

  function listRuns() {
    const columns = [
      { id: "question", name: "Question and reply", kind: "text", value: (run) => run.question, cell: (run) => make("div", {}, make("div", { dir: "auto" }, anchor(run, run.question)), make("div", { dir: "auto", class: "begins" }, run.reply)) },
      { id: "suite", name: "Suite", value: (run) => run.about.suite },
      { id: "model", name: "Model", value: (run) => run.about.model },
      { id: "language", name: "Language", value: (run) => named(run, run.language) },
      { id: "area", name: "Area", value: (run) => named(run, run.area) },
      { id: "asker", name: "Asked as from", value: asker },
      { id: "run", name: "Run", kind: "number", value: (run) => run.run },
      { id: "outcome", name: "Outcome", value: (run) => run.outcome },
      { id: "score", name: "Score", kind: "number", value: (run) => run.score ?? undefined, cell: (run) => chip(run.score, run.about) },
      { id: "apart", name: "Evaluators apart", kind: "number", value: (run) => run.apart ?? undefined },
    ];
    const one = (value) => new Set(runs.map(value)).size < 2;
    const left = columns.filter((column) => !(["suite", "model", "asker", "run", "apart"].includes(column.id) && one(column.value)));
    table = dataTable(byId("runs"), left, worst, "Runs", (run) => wanted(run));
  }

  // Questions of a result.

  const drawnQuestions = new Set();
  function questions(article) {
    const place = Number(article.dataset.place);
    if (drawnQuestions.has(place)) return;
    drawnQuestions.add(place);
    const own = runs.filter((run) => run.result === place && !run.asker);
    const languages = [...new Set(own.map((run) => run.language))];
    const groups = new Map();
    for (const run of own) {
      const name = group(run);
      if (!groups.has(name)) groups.set(name, { name, area: named(run, run.area), question: run.question, scores: { __proto__: null }, first: { __proto__: null } });
      const item = groups.get(name);
      item.scores[run.language] ??= [];
      item.scores[run.language].push(run.score);
      item.first[run.language] ??= run;
    }
    const mean = (scores) => { const valid = (scores ?? []).filter((score) => score !== null); return valid.length ? valid.reduce((sum, score) => sum + score, 0) / valid.length : undefined; };
    /** @type {any[]} */
    const columns = [
      { id: "question", name: "Question", kind: "text", value: (item) => item.question, cell: (item) => make("span", { dir: "auto" }, item.question) },
      { id: "area", name: "Area", value: (item) => item.area },
      ...languages.map((language, at) => ({
        id: `language-${at}`, name: named(own[0], language), kind: "number", value: (item) => mean(item.scores[language]),
        cell: (item) => (item.first[language] ? anchor(item.first[language], tenths(mean(item.scores[language]))) : ""),
      })),
    ];
    if (languages.length > 1) {
      const gap = (item) => { const means = languages.map((language) => mean(item.scores[language])).filter((value) => value !== undefined); return means.length > 1 ? Math.max(...means) - Math.min(...means) : undefined; };
      columns.push({ id: "gap", name: "Gap", kind: "number", value: gap });
    }
    const whole = (item) => good(mean(Object.values(item.scores).flat()), own[0].about);
    const items = [...groups.values()].sort((one, other) => whole(one) - whole(other));
    dataTable(article.querySelector(".questions"), columns, items, "Questions by language").draw();
  }

  // One run.

  const facts = (pairs) => make("dl", { class: "facts" }, ...pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, shown(value)))));

  function message(said, who) {
    const usage = said.usage ? `${said.usage.input} tokens in, ${said.usage.output} out` : null;
    const notes = [usage, said.latency ? `${said.latency} s` : null, said.finish_reason ? `ended: ${said.finish_reason}` : null, said.blocked ? `blocked: ${said.blocked}` : null].filter(Boolean);
    const kind = ["user", "assistant", "system"].includes(said.role) ? said.role : "other";
    return make("div", { class: `message ${kind}` },
      make("div", { class: "who" }, make("span", {}, who), ...notes.map((note) => make("span", {}, note))),
      said.reasoning ? make("details", {}, make("summary", {}, "Reasoning"), text(said.reasoning)) : null,
      text(said.content));
  }

  function conversation(messages) {
    let turn = 0;
    const asked = messages.filter((said) => said.role === "user").length;
    return make("div", {}, ...messages.map((said) => {
      if (said.role === "user") turn++;
      return message(said, asked > 1 && turn > 0 ? `${said.role}, turn ${turn} of ${asked}` : said.role);
    }));
  }

  // What was said, without the question where the heading has it word for word.
  function said(data) {
    const all = data.run.subject_transcript ?? [];
    const messages = all.filter((item, at) => at > 0 || item.role !== "user" || item.content !== data.about.question || item.conversation);
    const labels = [...new Set(messages.map((item) => item.conversation ?? ""))];
    if (!labels.some(Boolean)) return conversation(messages);
    return make("div", { class: "beside", tabindex: "0", role: "region", "aria-label": "Sides of the pair" }, ...labels.map((label) => side(label, messages.filter((item) => (item.conversation ?? "") === label), data.about.details)));
  }

  const spaced = (value) => (typeof value === "string" && /^[a-z0-9]+(_[a-z0-9]+)+$/.test(value) ? value.replaceAll("_", " ") : value);

  // One conversation of a pair, below those details of the question whose names end in its label.
  function side(label, messages, details) {
    const own = Object.entries(details).filter(([name, value]) => name.endsWith(`_${label}`) && !messages.some((item) => item.content === value));
    return make("section", {}, make("h4", {}, `Side ${label}`), facts(own.map(([name, value]) => [name.slice(0, -label.length - 1).replaceAll("_", " "), spaced(value)])), conversation(messages));
  }

  function listed(item, left = []) {
    const rows = Object.entries(item).filter(([name, value]) => !left.includes(name) && value !== null && value !== undefined && value !== "" && !(typeof value === "object" && !Object.keys(value).length));
    return make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name.replaceAll("_", " ")), make("dd", { dir: "auto" }, typeof value === "object" ? JSON.stringify(value, null, 1) : String(value))]));
  }

  const ELSEWHERE = ["subject_transcript", "evaluator_transcripts", "verdicts", "details", "labels"];

  // How a run ended, large: its score with its place on the rubric's scale, or its outcome.
  function ended(run) {
    const level = run.level ? `${run.level}${run.outcome === "scored" ? "" : `, ${run.outcome}`}` : run.score === null ? null : run.outcome;
    return make("section", { class: "ended-so" },
      make("p", { class: "large" }, run.score === null ? run.outcome : tenths(run.score), run.score === null ? null : make("span", {}, ` ${run.about.unit}`)),
      make("p", { class: "level" }, level),
      facts([["counts in", run.score === null ? null : run.about.counts], ["evaluators apart", run.apart]]));
  }

  function verdicts(data) {
    const given = data.run.verdicts ?? [];
    return make("section", {}, make("h3", {}, "Verdict"),
      data.run.error ? make("p", { class: "banner" }, data.run.error) : null,
      ...given.map((verdict) => make("div", { class: "verdict" }, make("h4", {}, verdict.evaluator ?? "evaluator"), listed({ ...verdict, facts: tallied(verdict.facts) }, ["evaluator", ...(verdict.attempts === 1 ? ["attempts"] : [])]))));
  }

  // How many of an evaluator's findings are of each kind; the findings that most agree on stand below, one by one.
  function tallied(found) {
    const counts = new Map();
    for (const one of Object.values(found ?? {})) counts.set(one, (counts.get(one) ?? 0) + 1);
    const all = Object.keys(found ?? {}).length;
    return [...counts].map(([one, count]) => `${count} of ${all} ${String(one).replaceAll("_", " ")}`).join(", ");
  }

  // The key facts of the question, each with how most evaluators find it stated.
  function keyFacts(data) {
    const given = data.about.details.facts ?? [];
    const stated = data.run.details.facts ?? {};
    const words = (fact) => (fact.id in stated ? (stated[fact.id] ?? "evaluators divided").replace("_", " ") : "not judged");
    const item = (fact) => make("li", {}, make("strong", {}, words(fact)), ` (${fact.by ? `contested: ${fact.by}` : fact.status}) `, make("span", { dir: "auto" }, fact.text));
    return given.length ? make("section", { class: "key-facts" }, make("h3", {}, "Key facts, as the reply states them"), make("ul", {}, ...given.map(item))) : null;
  }

  function asked(data) {
    const all = data.run.evaluator_transcripts ?? [];
    return all.length ? make("details", {}, make("summary", {}, `Conversations with evaluators (${all.length})`), ...all.map((item) => make("section", {}, make("h4", {}, item.evaluator), conversation(item.messages)))) : null;
  }

  function more(data, run) {
    const names = ["subject_sampling", "subject_system_prompt", "evaluator_sampling", "evaluator_system_prompt", "endpoints", "response_models"];
    return make("div", {},
      make("details", { class: "more" }, make("summary", {}, "Everything else about this run"), listed(data.run, ELSEWHERE), listed(data.run.details, ["facts"]), listed(data.about, ELSEWHERE), listed(data.about.labels), listed(data.about.details, ["facts"])),
      make("details", { class: "more" }, make("summary", {}, "Request settings"), listed(Object.fromEntries(names.map((name) => [name, run.about.settings[name]])))));
  }

  let opened = 0;
  let drawn = null;
  async function open(run, stays = false) {
    const own = ++opened;
    current = run;
    drawn = null;
    if (queue && queue.runs[queue.at] !== run) queue = null;
    const place = byId("run");
    place.setAttribute("aria-label", `Run ${link(run)}`);
    const others = runs.filter((other) => other.result === run.result && group(other) === group(run) && other.asker === run.asker && other.run === run.run && other.place !== run.place);
    const [data, ...beside] = await Promise.all([run, ...others].map(load));
    if (own !== opened) return;
    const isPair = (data.run.subject_transcript ?? []).some((item) => item.conversation);
    fill(place, 
      queue ? progress() : way(run),
      make("h2", { dir: "auto" }, run.question),
      facts([["suite", run.about.suite], ["model", run.about.model], ["language", named(run, run.language)], ["area", named(run, run.area)], ["asked as from", asker(run)], ["run", run.run]]),
      make("div", { class: isPair ? "answer pair" : "answer" },
        make("section", {}, make("h3", {}, "Reply"), said(data), keyFacts(data)),
        make("div", { class: "judged" }, ended(run), verdicts(data), form(run), asked(data))),
      others.length ? make("section", {}, make("h3", {}, "The same question in other languages"),
        make("div", { class: "beside languages", tabindex: "0", role: "region", "aria-label": "Languages side by side" }, ...others.map((other, at) => make("section", {}, make("h4", {}, anchor(other, named(other, other.language)), `: ${other.outcome}${other.score === null ? "" : `, ${scored(other)}`}`), said(beside[at]))))) : null,
      more(data, run));
    drawn = run;
    table.draw();
    place.focus({ preventScroll: true });
    if (!stays) scrollTo(0, 0);
  }

  // The runs of the list that this one was opened from, and the way back to it.
  function way(run) {
    const order = from.startsWith("#lowest") ? lowestOf(chosen(from)) : table.order();
    const at = order.indexOf(run);
    const step = (by, label, rel) => { const next = at < 0 ? undefined : order[at + by]; return next ? make("a", { class: "button", href: href(next), rel, on: { click: (event) => { instead(event, next); } } }, label) : null; };
    return make("nav", { class: "tools", "aria-label": "Runs" },
      make("a", { class: "button", href: from, id: "back", on: { click: back } }, `Back to ${WORDS[from.slice(1).split("=")[0]] ?? "the list"}`),
      step(-1, "Previous run", "prev"), step(1, "Next run", "next"), at < 0 ? null : make("span", { class: "note" }, `${(at + 1).toLocaleString("en")} of ${order.length.toLocaleString("en")}`),
      kinds().has(run.about.kind) && !run.asker ? make("a", { class: "button", href: questionLink(run.about.kind, run.id) }, "All models on this question") : null,
      button("Copy link", () => copy(run)), button("Keys (?)", help));
  }

  // Another run takes the place of this one in the browser's history, so that its way back leads to the list.
  function instead(event, run) {
    event?.preventDefault();
    event?.stopPropagation();
    history.replaceState(history.state, "", href(run));
    show();
  }

  function back(event) {
    if (!depth) return;
    event.preventDefault();
    event.stopPropagation();
    history.go(-depth);
  }

  async function copy(run) {
    const address = location.href.split("#")[0] + href(run);
    try {
      await navigator.clipboard.writeText(address);
      say("Link copied");
    } catch {
      // Without leave to use the clipboard the address bar has it.
      history.replaceState(null, "", href(run));
      say("The link is in the address bar");
    }
  }

  // Models side by side on one question.

  const COLUMNS = 4;
  const sides = { kind: "", chosen: new Map(), list: null, run: 1 };
  const questionLink = (kind, id) => `#question=${encodeURIComponent(`${kind}/${id}`)}`;

  // The suites with several results, by their kind, and the results shown in columns, the first four unless others are chosen.
  function kinds() {
    const all = new Map();
    index.results.forEach((about, place) => { all.set(about.kind, [...(all.get(about.kind) ?? []), place]); });
    return new Map([...all].filter(([, places]) => places.length > 1));
  }
  const chosenOf = (kind) => sides.chosen.get(kind) ?? kinds().get(kind).slice(0, COLUMNS);

  const meanOf = (values) => { const valid = values.filter((value) => value !== null && value !== undefined); return valid.length ? valid.reduce((sum, value) => sum + value, 0) / valid.length : undefined; };
  const rangeOf = (values) => { const valid = values.filter((value) => value !== undefined); return valid.length > 1 ? Math.max(...valid) - Math.min(...valid) : undefined; };
  const declined = (run) => run.outcome === "refused" || run.outcome === "blocked";

  // The questions of a suite, each with the runs of the chosen results in their order.
  function questionsOf(kind) {
    const chosen = chosenOf(kind);
    const items = new Map();
    for (const run of runs) {
      const column = chosen.indexOf(run.result);
      if (column < 0 || run.asker) continue;
      if (!items.has(run.id)) items.set(run.id, { kind, id: run.id, first: run, runs: chosen.map(() => []) });
      items.get(run.id).runs[column].push(run);
    }
    for (const item of items.values()) {
      // A refusal is no answer: it has a mark of its own, and does not move the models apart.
      item.scores = item.runs.map((own) => meanOf(own.filter((run) => !declined(run)).map((run) => run.score)));
      item.refused = item.runs.map((own) => (own.length ? own.filter(declined).length / own.length : undefined));
      item.leans = item.runs.map((own) => meanOf(own.map((run) => run.lean)));
    }
    return [...items.values()];
  }

  function listQuestions(kind) {
    const chosen = chosenOf(kind);
    const items = questionsOf(kind);
    const about = index.results[chosen[0]];
    const question = (item) => make("a", { href: questionLink(kind, item.id), dir: "auto" }, item.first.question);
    const refusals = (item, at) => { const many = item.runs[at].filter(declined).length; return many ? make("span", { class: "chip o-refused" }, many === item.runs[at].length ? "refused" : `${many} of ${item.runs[at].length} refused`) : null; };
    const leaning = (item, at) => (item.leans[at] && item.scores[at] !== undefined ? make("span", { class: "note" }, `lean ${item.leans[at] > 0 ? "+" : ""}${tenths(item.leans[at])}`) : null);
    const cell = (item, at) => make("span", { class: "answered" }, item.scores[at] === undefined ? null : chip(item.scores[at], about), refusals(item, at), leaning(item, at));
    const apart = { id: "apart", name: "Scores apart", kind: "number", value: (item) => rangeOf(item.scores) };
    const columns = [
      { id: "question", name: "Question", kind: "text", value: (item) => item.first.question, cell: question },
      { id: "language", name: "Language", value: (item) => named(item.first, item.first.language) },
      { id: "area", name: "Area", value: (item) => named(item.first, item.first.area) },
      ...chosen.map((place, at) => ({ id: `model-${at}`, name: index.results[place].model, kind: "number model", value: (item) => item.scores[at], cell: (item) => cell(item, at) })),
      apart,
      { id: "refused", name: "Refusals apart", kind: "number", value: (item) => rangeOf(item.refused), cell: (item) => { const range = rangeOf(item.refused); return range ? `${shown(100 * range)} pp` : "-"; } },
      { id: "leans", name: "Leans apart", kind: "number", value: (item) => rangeOf(item.leans) },
    ].filter((column) => column.id !== "leans" || items.some((item) => item.leans.some((lean) => lean !== undefined)))
      .filter((column) => column.id !== "language" || new Set(items.map((item) => item.first.language)).size > 1);
    sides.kind = kind;
    sides.list = dataTable(byId("sides-list"), columns, items, "Questions", () => true, apart);
    sides.list.draw();
    showChoice(kind);
  }

  function showChoice(kind) {
    const select = make("select", { id: "sides-suite", on: { change: (event) => listQuestions(event.target.value) } },
      ...[...kinds()].map(([name, places]) => make("option", { value: name, selected: name === kind }, index.results[places[0]].suite)));
    fill(byId("questions-of"), make("label", {}, "Suite", select), choice(kind, () => listQuestions(kind)));
  }

  // Which models have a column; a fifth one has to wait until another is left out.
  function choice(kind, then) {
    const [places, chosen] = [kinds().get(kind), chosenOf(kind)];
    const box = (place) => {
      const is = chosen.includes(place);
      const input = make("input", { type: "checkbox", checked: is, disabled: is ? chosen.length < 3 : chosen.length >= COLUMNS, on: { change: () => { sides.chosen.set(kind, places.filter((other) => (other === place ? !is : chosen.includes(other)))); then(); } } });
      return make("label", { class: "choice" }, input, index.results[place].model);
    };
    return places.length > 2 ? make("fieldset", { class: "models-shown" }, make("legend", {}, `Models, at most ${COLUMNS}`), ...places.map(box)) : null;
  }

  function showSides() {
    if (!sides.list) listQuestions([...kinds().keys()][0]);
  }

  async function compareOn(name) {
    const own = ++opened;
    const kind = [...kinds().keys()].find((one) => name.startsWith(`${one}/`));
    const place = byId("asked");
    if (kind !== undefined && kind !== sides.kind) listQuestions(kind);
    const item = kind === undefined ? undefined : sides.list.order().find((one) => one.id === name.slice(kind.length + 1));
    if (!item) return fill(place, make("p", {}, "The question of this link is not in this page. ", make("a", { href: "#sides" }, "All questions")));
    const numbers = [...new Set(item.runs.flat().map((run) => run.run))].sort((one, other) => one - other);
    if (!numbers.includes(sides.run)) sides.run = numbers[0];
    const chosen = chosenOf(kind);
    const columns = item.runs.map((all) => all.find((run) => run.run === sides.run));
    const data = await Promise.all(columns.map((run) => run && load(run)));
    if (own !== opened) return;
    const again = () => { listQuestions(kind); compareOn(name); };
    const others = sides.list.order().filter((one) => group(one.first) === group(item.first) && one !== item);
    place.setAttribute("aria-label", `Question ${item.id}`);
    fill(place, wayOn(item),
      make("h2", { dir: "auto" }, item.first.question),
      facts([["suite", item.first.about.suite], ["language", named(item.first, item.first.language)], ["area", named(item.first, item.first.area)], ["scores apart", rangeOf(item.scores)]]),
      others.length ? make("p", { class: "tools" }, "Also in ", ...others.map((one) => make("a", { href: questionLink(kind, one.id) }, named(one.first, one.first.language)))) : null,
      make("div", { class: "fields" }, choice(kind, again),
        numbers.length > 1 ? make("div", { class: "tools", role: "group", "aria-label": "Run" }, ...numbers.map((one) => button(`Run ${one}`, () => { sides.run = one; compareOn(name); }, { "aria-pressed": String(one === sides.run) }))) : null),
      make("div", { class: "beside models", tabindex: "0", role: "region", "aria-label": "Models side by side" }, ...columns.map((run, at) => reply(run, data[at], index.results[chosen[at]]))));
    place.focus({ preventScroll: true });
  }

  // One model's column: score, outcome, lean and reasons above what it replied.
  function reply(run, data, about) {
    if (!run) return make("section", {}, make("h3", {}, about.model), make("p", { class: "note" }, "This run is not among its results."));
    const reasons = (data.run.verdicts ?? []).map((verdict) => make("div", { class: "reason" }, make("b", {}, `${verdict.evaluator ?? "evaluator"}${verdict.score === null || verdict.score === undefined ? "" : `: ${shown(verdict.score)}`}`), excerpt(reason(verdict) ?? "")));
    const messages = data.run.subject_transcript ?? [];
    const isOne = messages.filter((item) => item.role === "user").length === 1;
    return make("section", {}, make("h3", {}, anchor(run, about.model)),
      make("p", { class: "found" }, chip(run.score, run.about), make("span", {}, run.outcome), run.level ? make("span", { class: "note" }, run.level) : null, run.lean === null || run.lean === undefined ? null : make("span", { class: "note" }, `lean ${shown(run.lean)}`)),
      data.run.error ? make("p", { class: "banner" }, data.run.error) : null, ...reasons,
      ...(isOne ? messages.filter((item) => item.role === "assistant").map((item) => make("div", { class: "message assistant" }, text(item.content))) : [said(data)]));
  }

  // The questions of the list that this one was opened from.
  function wayOn(item) {
    const order = sides.list.order();
    const at = order.indexOf(item);
    const step = (by, label, rel) => { const next = order[at + by]; return next ? make("a", { class: "button", rel, href: questionLink(item.kind, next.id), on: { click: (event) => { event.preventDefault(); event.stopPropagation(); history.replaceState(history.state, "", questionLink(item.kind, next.id)); show(); } } }, label) : null; };
    return make("nav", { class: "tools", "aria-label": "Questions" },
      make("a", { class: "button", href: "#sides", id: "all-questions" }, "Back to the questions"),
      step(-1, "Previous question (k)", "prev"), step(1, "Next question (j)", "next"),
      make("span", { class: "note" }, `${(at + 1).toLocaleString("en")} of ${order.length.toLocaleString("en")}`), button("Keys (?)", help));
  }

  function keysBeside(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select")) return;
    const to = { j: "[rel=next]", s: "[rel=next]", k: "[rel=prev]", Escape: "#all-questions" }[event.key];
    if (to) byId("asked").querySelector(to)?.click();
    else if (event.key === "?") help();
    else return;
    event.preventDefault();
  }

  // Reviews.

  const mark = (run) => [run.about.name, run.about.model, run.about.started, nth(run)].join("\n");
  const marked = (review) => [review.suite, review.model, review.started, review.run].join("\n");

  function levels(run) {
    const { low, high } = run.about.scale;
    return run.judged !== null && high - low <= 20 ? Array.from({ length: high - low + 1 }, (_, step) => low + step) : [];
  }

  function form(run) {
    const known = reviews[mark(run)];
    const note = make("textarea", { id: "review-note", dir: "auto", on: { change: () => { if (reviews[mark(run)]) decide(run, reviews[mark(run)].verdict, reviews[mark(run)].score, false); } } });
    note.value = known?.note ?? "";
    const choice = (verdict, label) => button(label, () => decide(run, verdict, null), { "aria-pressed": String(known?.verdict === verdict && known.score === null), "aria-keyshortcuts": verdict[0] });
    const score = (level) => button(level, () => decide(run, agrees(run, level), level), { "aria-pressed": String(known?.score === level), "aria-label": `I give it ${level}`, ...(level <= 9 && level >= 0 ? { "aria-keyshortcuts": level } : {}) });
    return make("fieldset", { class: "review" }, make("legend", {}, "Is the verdict right?"),
      make("div", { class: "choices" }, choice("right", "Right (r)"), choice("wrong", "Wrong (w)"), known ? button("Remove my mark", () => { delete reviews[mark(run)]; keep(); open(run, true); }) : null),
      levels(run).length ? make("div", { class: "choices", role: "group", "aria-label": "Or give your own score" }, make("span", { class: "note" }, "Or your own score:"), ...levels(run).map(score)) : null,
      make("label", {}, "Note (n)", note));
  }

  // One's own score agrees with the evaluators' mean if it is the nearest level to it.
  const agrees = (run, level) => (Math.abs(level - run.judged) <= 0.5 ? "right" : "wrong");

  function decide(run, verdict, score, goesOn = true) {
    // A second key, or click, must not mark a run that is not shown yet.
    if (run !== drawn) return;
    const before = reviews[mark(run)];
    reviews[mark(run)] = { suite: run.about.name, model: run.about.model, started: run.about.started, run: nth(run), verdict, score, note: byId("review-note").value, reviewer: before?.reviewer ?? "", at: new Date().toISOString() };
    keep();
    if (!goesOn) return;
    undone.push({ run, before, at: queue?.at });
    if (!queue) { say(`Kept in this browser: ${verdict}`); open(run, true); } else step(1, `Marked ${verdict}`);
  }

  // A review: some runs, one after the other.

  const undone = [];
  let queue = null;

  function step(by, words = "") {
    queue.at = Math.max(0, queue.at + by);
    if (queue.at < queue.runs.length) {
      say([words, `run ${queue.at + 1} of ${queue.runs.length}`].filter(Boolean).join("; "));
      return instead(null, queue.runs[queue.at]);
    }
    const marks = queue.runs.filter((run) => reviews[mark(run)]).length;
    say(`Done: ${marks} of ${queue.runs.length} runs marked`);
    byId("review-done").textContent = `Done: ${marks} of ${queue.runs.length} runs marked. Save the marks as a file.`;
    addEventListener("hashchange", () => byId("save").focus(), { once: true });
    history.go(-depth);
  }

  function undo() {
    const last = undone.pop();
    if (!last) return say("Nothing to undo");
    if (last.before) reviews[mark(last.run)] = last.before;
    else delete reviews[mark(last.run)];
    keep();
    if (queue && last.at !== undefined) { queue.at = last.at; say("Undone"); return instead(null, last.run); }
    say("Undone");
    if (last.run === current) open(last.run, true);
  }

  function progress() {
    const done = queue.runs.filter((run) => reviews[mark(run)]).length;
    return make("div", { class: "progress" },
      make("label", {}, `Run ${queue.at + 1} of ${queue.runs.length}, ${done} marked`, make("progress", { max: queue.runs.length, value: done })),
      make("div", { class: "tools" }, button("Undo (u)", undo, { disabled: !undone.length }), button("Skip (s)", () => step(1)), button("Keys (?)", help), make("a", { class: "button", href: "#review", on: { click: back } }, "Stop (Esc)")));
  }

  // The same order for everyone, so that several people mark the same runs: by a hash of the run's name (FNV-1a).
  function hash(name) {
    let value = 0x811c9dc5;
    for (const character of name) value = Math.imul(value ^ character.codePointAt(0), 0x01000193) >>> 0;
    return value;
  }

  const ORDERS = {
    sample: ["a random sample, the same for every reviewer", (run) => hash(`${nth(run)}/${run.about.model}`)],
    worst: ["the lowest scores", (run) => good(run.score, run.about)],
    apart: ["evaluators furthest apart", (run) => -(run.apart ?? -1)],
    listed: ["as listed under Transcripts, filters and all", null],
  };

  function starter() {
    const of = make("select", { id: "review-of" }, make("option", { value: "" }, "all results"), ...index.results.map((about, place) => make("option", { value: place }, `${about.model}: ${about.suite}`)));
    const which = make("select", { id: "review-which" }, ...Object.entries(ORDERS).map(([name, [label]]) => make("option", { value: name }, label)));
    const many = make("input", { id: "review-many", type: "number", min: "1", step: "1", value: "20" });
    const begin = () => {
      const open = (which.value === "listed" ? table.order() : worst.filter((run) => !run.asker)).filter((run) => (of.value === "" || run.result === Number(of.value)) && run.score !== null && !reviews[mark(run)]);
      const order = ORDERS[which.value][1];
      if (order) open.sort((one, other) => order(one) - order(other));
      const chosen = open.slice(0, Math.max(1, Math.floor(Number(many.value)) || 20));
      if (!chosen.length) return say("No run with a score is left to mark");
      queue = { runs: chosen, at: 0 };
      undone.length = 0;
      byId("review-done").textContent = "";
      followed = true;
      location.hash = href(chosen[0]);
    };
    fill(byId("review-start"), make("label", {}, "Runs of", of), make("label", {}, "Which", which), make("label", {}, "How many", many), button("Start (Enter)", begin, { id: "start" }), button("Keys (?)", help));
    byId("review-start").addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.matches("input, select")) begin(); });
  }

  function help() {
    byId("keys").showModal();
  }

  const KEYS = {
    r: () => decide(current, "right", null),
    w: () => decide(current, "wrong", null),
    n: () => byId("review-note").focus(),
    u: undo,
    s: () => (queue ? step(1) : byId("run").querySelector("[rel=next]")?.click()),
    j: () => (queue ? step(1) : byId("run").querySelector("[rel=next]")?.click()),
    k: () => (queue ? step(-1) : byId("run").querySelector("[rel=prev]")?.click()),
    "?": help,
    Escape: () => byId("run").querySelector("#back, .progress a").click(),
  };

  // Keys count only within the run, so that they take nothing from the browser or a screen reader elsewhere.
  function keys(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || !drawn) return;
    if (event.target.matches("input, textarea, select")) {
      if (event.key === "Escape") byId("run").focus({ preventScroll: true });
      return;
    }
    const level = levels(current).find((one) => String(one) === event.key);
    const act = level === undefined ? KEYS[event.key] ?? KEYS[event.key.toLowerCase()] : () => decide(current, agrees(current, level), level);
    if (!act) return;
    event.preventDefault();
    act();
  }

  function keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify(Object.values(reviews)));
    } catch {
      say("This browser keeps nothing for this page: save the reviews as a file");
    }
    showReviews();
  }

  const FIELDS = { suite: "string", model: "string", started: "string", run: "string", verdict: "string", note: "string", reviewer: "string", at: "string" };
  const isReview = (item) => item && typeof item === "object" && Object.entries(FIELDS).every(([name, kind]) => typeof item[name] === kind) && ["right", "wrong"].includes(item.verdict) && (item.score === null || typeof item.score === "number");

  function take(items) {
    const good = items.filter(isReview);
    for (const item of good) reviews[marked(item)] = Object.fromEntries([...Object.keys(FIELDS), "score"].map((name) => [name, item[name]]));
    return good.length;
  }

  function recall() {
    reviews = {};
    take(index.reviews);
    try {
      take(JSON.parse(localStorage.getItem(KEPT) ?? "[]"));
    } catch {
      // What another page left there is not ours to read.
    }
  }

  function showReviews() {
    const place = byId("reviews");
    const every = Object.values(reviews);
    const here = new Map(runs.map((run) => [mark(run), run]));
    const own = every.filter((item) => here.has(marked(item)));
    const right = own.filter((item) => item.verdict === "right").length;
    const reviewer = make("input", { id: "reviewer", autocomplete: "name", value: own[0]?.reviewer ?? "" });
    const file = make("input", { type: "file", id: "load", accept: ".json,application/json", on: { change: restore } });
    const rows = own.map((item) => { const run = here.get(marked(item)); return make("tr", {}, make("td", { class: "text" }, make("span", { dir: "auto" }, anchor(run, run.question))), make("td", {}, item.model), make("td", {}, named(run, run.language)), make("td", {}, item.verdict), make("td", { class: "number" }, shown(item.score)), make("td", { class: "text", dir: "auto" }, item.note)); });
    fill(place, 
      make("p", {}, own.length ? `${own.length} reviews: ${right} verdicts right, ${own.length - right} wrong.` : "No reviews yet."),
      make("div", { class: "tools review" }, make("label", {}, "Your name, for the file", reviewer), button("Save as a file", () => save(own, reviewer.value), { id: "save", disabled: !own.length }), make("label", {}, "Load a file", file)),
      ...(own.length ? [make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Reviews" }, cards(make("table", { class: "cards" }, make("thead", {}, make("tr", {}, ...["Question", "Model", "Language", "Verdict", "Score", "Note"].map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows))))] : []));
  }

  function save(items, reviewer) {
    const content = { format: "equipoise-reviews", version: 1, reviews: items.map((item) => ({ ...item, reviewer: reviewer || item.reviewer })) };
    const address = URL.createObjectURL(new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: "application/json" }));
    make("a", { href: address, download: "reviews.json" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  async function restore(event) {
    try {
      const content = JSON.parse(await event.target.files[0].text());
      if (content.format !== "equipoise-reviews" || content.version !== 1) throw new Error();
      const taken = take(content.reviews);
      keep();
      say(`${taken} reviews loaded`);
    } catch {
      say("This is not a file of reviews");
    }
  }

  // The lowest answers of a result, one a question.

  const MOST = 10;
  const chosen = (fragment) => { const key = decoded(fragment.slice(1)).split("=").slice(1).join("="); return index.results.find((one) => one.key === key) ?? index.results[0]; };

  function lowestOf(about) {
    const one = new Map();
    for (const run of worst) if (run.about === about && run.score !== null && !run.asker && !one.has(run.id)) one.set(run.id, run);
    return [...one.values()].slice(0, MOST);
  }

  const EXCERPT = 420;
  const excerpt = (content) => { const whole = typeof content === "string" ? content : JSON.stringify(content ?? ""); return text(whole.length > EXCERPT ? `${whole.slice(0, EXCERPT)}\u2026` : whole); };
  const reason = (verdict) => Object.entries(verdict).filter(([name, value]) => typeof value === "string" && !["evaluator", "error"].includes(name)).map(([, value]) => value).sort((one, other) => other.length - one.length)[0] ?? verdict.error;

  let listing = 0;
  async function lowest() {
    const own = ++listing;
    const about = chosen(location.hash);
    const shownRuns = lowestOf(about);
    const none = shownRuns.length ? [] : [make("p", {}, "No answer of these results has a score of its own, so none is lower than another.")];
    byId("lowest-note").hidden = !shownRuns.length;
    byId("lowest-title").textContent = about?.best === "even" ? "Farthest from even: ten answers" : "Lowest ten answers";
    const select = make("select", { id: "lowest-result", on: { change: (event) => { location.hash = `#lowest=${encodeURIComponent(event.target.value)}`; } } }, ...index.results.map((one) => make("option", { value: one.key, selected: one === about }, `${one.model}: ${one.suite}`)));
    fill(byId("lowest-of"), make("label", {}, "Results", select), ...none);
    const data = await Promise.all(shownRuns.map(load));
    if (own !== listing) return;
    fill(byId("lowest-runs"), ...shownRuns.map((run, at) => {
      const replies = (data[at].run.subject_transcript ?? []).filter((item) => item.role === "assistant").slice(-2);
      const reasons = (data[at].run.verdicts ?? []).map((verdict) => [verdict.evaluator, reason(verdict)]).filter(([, words]) => words);
      return make("li", {}, make("h2", { dir: "auto" }, anchor(run, run.question)),
        facts([["score", scored(run)], ["outcome", run.outcome], ["language", named(run, run.language)], ["area", named(run, run.area)], ["run", run.run]]),
        ...replies.map((reply) => make("div", { class: "message assistant" }, excerpt(reply.content))),
        ...reasons.map(([evaluator, words]) => make("div", { class: "reason" }, make("b", {}, evaluator ?? "evaluator"), excerpt(words))));
    }));
  }

  // Views, by the fragment of the address.

  const WORDS = { __proto__: null, sides: "the questions", question: "the question", lowest: "the lowest ten", transcripts: "the transcripts", result: "the model", models: "the models", review: "the review", overview: "the overview" };
  const decoded = (at) => { try { return decodeURIComponent(at); } catch { return ""; } };
  const left = new Map();
  let here = null;
  let from = "#transcripts";
  let followed = false;
  let depth = 0;

  // Where a view was left: how far it was scrolled, and which link had the focus.
  function leave() {
    if (here === null || here === location.hash) return;
    const isRun = here.startsWith("#run=");
    const focused = document.activeElement?.closest("a")?.getAttribute("href");
    left.set(here, { top: scrollY, link: focused });
    if (!isRun) from = here || "#overview";
    if (!location.hash.startsWith("#run=")) return;
    // How many steps back the list is; 0 where a run was opened by its address.
    if (!history.state?.depth) history.replaceState({ depth: isRun ? depth && depth + 1 : 1 }, "");
    depth = history.state.depth;
  }

  // Back on a view, the focus returns to the link of the run that was shown last, else to the one that was followed.
  function arrive(section, cameFrom) {
    const known = followed ? undefined : left.get(location.hash);
    followed = false;
    scrollTo(0, known?.top ?? 0);
    if (!known) return;
    const anchors = [...section.querySelectorAll("a")];
    const to = [cameFrom, known.link].map((href) => href && anchors.find((one) => one.getAttribute("href") === href)).find(Boolean);
    to?.focus({ preventScroll: true });
    to?.scrollIntoView({ block: "nearest" });
  }

  async function show() {
    leave();
    const cameFrom = here?.startsWith("#run=") && current ? href(current) : null;
    here = location.hash;
    const at = decoded(here.slice(1));
    const [kind, name] = at.includes("=") ? [at.slice(0, at.indexOf("=")), at.slice(at.indexOf("=") + 1)] : [at, ""];
    const view = { __proto__: null, run: "opened", result: "models", question: "beside" }[kind] ?? (byId(kind)?.matches(".view") ? kind : "overview");
    const tab = view === "opened" ? (queue ? "review" : { "#result": "models", "#question": "sides" }[from.split("=")[0]] ?? from.slice(1).split("=")[0]) : view === "beside" ? "sides" : view;
    for (const section of document.querySelectorAll(".view")) section.classList.toggle("shown", section.id === view);
    /** @type {NodeListOf<HTMLElement>} */
    const tabs = document.querySelectorAll("[data-view]");
    for (const anchor of tabs) {
      if (anchor.dataset.view === tab) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
    if (view === "opened") {
      followed = false;
      const run = links.get(name);
      if (run) return open(run);
      fill(byId("run"), make("p", {}, "The run of this link is not in this page. ", make("a", { href: "#transcripts" }, "All transcripts")));
      return say("The run of this link is not in this page");
    }
    queue = null;
    if (view === "models") {
      const articles = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".result"))];
      const one = articles.find((article) => article.dataset.key === name) ?? articles[0];
      for (const article of articles) article.classList.toggle("shown", article === one);
      if (one) questions(one);
    }
    if (view === "lowest") await lowest();
    if (view === "sides") showSides();
    if (view === "beside") await compareOn(name);
    if (here !== location.hash) return;
    arrive(byId(view), cameFrom);
  }

  async function start() {
    document.documentElement.classList.add("scripted");
    lay();
    byId("overview").classList.add("shown");
    index = JSON.parse(await unpack("index"));
    unfold();
    recall();
    listRuns();
    filters();
    refilter();
    showReviews();
    starter();
    history.scrollRestoration = "manual";
    document.addEventListener("click", (event) => { const to = /** @type {Element} */ (event.target).closest("a[href^='#']")?.getAttribute("href"); followed = to !== undefined && to !== location.hash; });
    byId("run").addEventListener("keydown", keys);
    byId("asked")?.addEventListener("keydown", keysBeside);
    byId("close-keys").addEventListener("click", () => byId("keys").close());
    addEventListener("hashchange", show);
    // What another window has kept is taken over: otherwise the next mark here would undo it.
    addEventListener("storage", (event) => { if (event.key === KEPT) { recall(); showReviews(); } });
    await show();
    document.documentElement.classList.add("ready");
  }

  start();
})();
