"use strict";
// The page's own script. Everything that came from a model is put in as text; nothing is fetched.

(() => {
  const byId = (id) => document.getElementById(id);
  const KEPT = "equipoise-reviews";
  const LONGEST = 20000;
  const PAGE = 50;
  let index, runs, links, table;
  let reviews = {};
  let found = null;
  let searches = 0;

  // Building.

  function make(tag, given = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
    return node;
  }

  function button(label, run, given = {}) {
    return make("button", { type: "button", class: "button", ...given, on: { click: run } }, label);
  }

  function text(content, given = {}) {
    const whole = content === null || content === undefined ? "" : typeof content === "string" ? content : JSON.stringify(content, null, 2);
    const node = make("div", { class: "text", dir: "auto", ...given });
    node.textContent = whole.length > LONGEST ? whole.slice(0, LONGEST) : whole || "(nothing)";
    if (whole.length <= LONGEST) return node;
    const more = button(`Show all ${whole.length.toLocaleString("en")} characters`, () => { node.textContent = whole; more.remove(); });
    return make("div", {}, node, more);
  }

  function say(words) {
    byId("status").textContent = words;
    setTimeout(() => { if (byId("status").textContent === words) byId("status").textContent = ""; }, 4000);
  }

  const shown = (value) => (value === null || value === undefined ? "-" : typeof value === "number" ? String(Math.round(value * 100) / 100) : String(value));

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

  // Tables, by table-core.

  function dataTable(place, columns, rows, label, isShown) {
    const cells = Object.fromEntries(columns.map((column) => [column.id, column]));
    let state = {};
    const core = TableCore.createTable({
      data: rows,
      columns: columns.map((column) => ({
        id: column.id,
        accessorFn: column.value,
        enableGlobalFilter: column === columns[0],
        sortUndefined: "last",
        sortingFn: "alphanumeric" in column ? "alphanumeric" : "auto",
      })),
      state,
      onStateChange: (update) => { change(typeof update === "function" ? update(state) : update); },
      globalFilterFn: (row) => isShown(row.original),
      getCoreRowModel: TableCore.getCoreRowModel(),
      getSortedRowModel: TableCore.getSortedRowModel(),
      getFilteredRowModel: TableCore.getFilteredRowModel(),
      getPaginationRowModel: TableCore.getPaginationRowModel(),
      autoResetPageIndex: false,
      renderFallbackValue: null,
    });
    state = { ...core.initialState, pagination: { pageIndex: 0, pageSize: PAGE } };
    core.setOptions((options) => ({ ...options, state }));

    function change(next) {
      state = next;
      core.setOptions((options) => ({ ...options, state }));
      draw();
    }

    function head(header) {
      const column = cells[header.column.id];
      const sorted = header.column.getIsSorted();
      const aria = sorted ? { "aria-sort": sorted === "asc" ? "ascending" : "descending" } : {};
      const sort = make("button", { type: "button", "data-column": column.id, on: { click: () => { header.column.toggleSorting(); place.querySelector(`[data-column="${column.id}"]`).focus(); } } }, column.name);
      return make("th", { scope: "col", class: column.kind, ...aria }, sort);
    }

    function draw() {
      const page = core.getRowModel().rows;
      const total = core.getFilteredRowModel().rows.length;
      const pages = Math.max(1, core.getPageCount());
      const body = page.map((row) => make("tr", isCurrent(row.original) ? { class: "current" } : {}, ...columns.map((column) => make("td", { class: column.kind }, column.cell ? column.cell(row.original) : shown(column.value(row.original))))));
      const at = state.pagination.pageIndex;
      const pager = pages < 2 ? null : make("nav", { class: "pager", "aria-label": `Pages of ${label}` },
        button("Previous", () => core.setPageIndex(at - 1), { disabled: at === 0 }),
        make("span", {}, `Page ${at + 1} of ${pages}`),
        button("Next", () => core.setPageIndex(at + 1), { disabled: at + 1 >= pages }));
      const made = make("table", { "aria-label": label, class: "cards sorts" }, make("thead", {}, make("tr", {}, ...core.getHeaderGroups()[0].headers.map(head))), make("tbody", {}, ...body));
      place.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, cards(made)), ...(pager ? [pager] : []));
      return total;
    }

    return {
      draw,
      filter: () => { change({ ...state, globalFilter: {}, pagination: { ...state.pagination, pageIndex: 0 } }); return core.getFilteredRowModel().rows.length; },
      order: () => core.getSortedRowModel().rows.map((row) => row.original),
    };
  }

  let current = null;
  const isCurrent = (item) => current !== null && item === current;

  // On a narrow screen a table is a list of cards, on which each value has the head of its column.

  function cards(table) {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    table.setAttribute("role", "table");
    for (const part of table.querySelectorAll("thead, tbody")) part.setAttribute("role", "rowgroup");
    for (const row of table.rows) {
      row.setAttribute("role", "row");
      [...row.cells].forEach((cell, at) => {
        const isHead = cell.tagName === "TH";
        cell.setAttribute("role", isHead ? (cell.closest("thead") ? "columnheader" : "rowheader") : "cell");
        if (!isHead) cell.dataset.label = heads[at];
      });
    }
    return table;
  }

  // Runs.

  function unfold() {
    const columns = index.columns;
    runs = columns.id.map((id, place) => {
      const run = { place };
      for (const name of Object.keys(columns)) run[name] = columns[name][place];
      run.about = index.results[run.result];
      return run;
    });
    links = new Map();
    for (const run of runs) if (!links.has(link(run))) links.set(link(run), run);
  }

  // An area or a language as people write it.
  const named = (run, slug) => run.about.names[slug] ?? slug;
  const link = (run) => `${run.about.key}/${run.id}/${run.run}`;
  const group = (run) => run.id.slice(run.language.length + 1);
  const href = (run) => `#run=${encodeURIComponent(link(run))}`;
  const anchor = (run, label) => make("a", { href: href(run) }, label);

  const FILTERS = [
    ["suite", "Suite", (run) => run.about.suite],
    ["model", "Model", (run) => run.about.model],
    ["language", "Language", (run) => run.language],
    ["area", "Area", (run) => run.area],
    ["outcome", "Outcome", (run) => run.outcome],
  ];

  function filters() {
    const place = byId("filters");
    const search = make("input", { type: "search", id: "search", autocomplete: "off", placeholder: "Words in questions, replies, verdicts", on: { input: later(lookUp, 250) } });
    place.append(make("label", { class: "wide" }, "Search", search));
    for (const [name, label, value] of FILTERS) {
      const values = new Map(runs.map((run) => [value(run), named(run, value(run))]).filter(([one]) => one).sort(([, one], [, other]) => one.localeCompare(other, "en")));
      const select = make("select", { id: `filter-${name}`, on: { change: refilter } }, make("option", { value: "" }, "all"), ...[...values].map(([one, label]) => make("option", { value: one }, label)));
      place.append(make("label", {}, label, select));
    }
    for (const [id, label] of [["least", "Score from"], ["most", "to"], ["apart", "Evaluators apart by"]]) {
      place.append(make("label", {}, label, make("input", { type: "number", step: "any", id, on: { input: later(refilter, 150) } })));
    }
    place.append(button("Clear", clear));
  }

  function later(run, milliseconds) {
    let waiting;
    return () => { clearTimeout(waiting); waiting = setTimeout(run, milliseconds); };
  }

  const number = (id) => (byId(id).value === "" ? null : Number(byId(id).value));

  let wanted = () => true;
  function refilter() {
    const selected = FILTERS.map(([name, , value]) => [byId(`filter-${name}`).value, value]).filter(([chosen]) => chosen);
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
      { id: "question", name: "Question", kind: "text", value: (run) => run.question, cell: (run) => make("span", { dir: "auto" }, anchor(run, run.question)) },
      { id: "suite", name: "Suite", value: (run) => run.about.suite },
      { id: "model", name: "Model", value: (run) => run.about.model },
      { id: "language", name: "Language", value: (run) => named(run, run.language) },
      { id: "area", name: "Area", value: (run) => named(run, run.area) },
      { id: "run", name: "Run", kind: "number", value: (run) => run.run },
      { id: "outcome", name: "Outcome", value: (run) => run.outcome },
      { id: "score", name: "Score", kind: "number", value: (run) => run.score ?? undefined },
      { id: "apart", name: "Evaluators apart", kind: "number", value: (run) => run.apart ?? undefined },
    ];
    const one = (value) => new Set(runs.map(value)).size < 2;
    const left = columns.filter((column) => !(["suite", "model", "run", "apart"].includes(column.id) && one(column.value)));
    table = dataTable(byId("runs"), left, runs, "Runs", (run) => wanted(run));
  }

  // Questions of a result.

  const drawnQuestions = new Set();
  function questions(article) {
    const place = Number(article.dataset.place);
    if (drawnQuestions.has(place)) return;
    drawnQuestions.add(place);
    const own = runs.filter((run) => run.result === place);
    const languages = [...new Set(own.map((run) => run.language))];
    const groups = new Map();
    for (const run of own) {
      const name = group(run);
      if (!groups.has(name)) groups.set(name, { name, area: named(run, run.area), question: run.question, scores: {}, first: {} });
      const item = groups.get(name);
      (item.scores[run.language] ??= []).push(run.score);
      item.first[run.language] ??= run;
    }
    const mean = (scores) => { const valid = (scores ?? []).filter((score) => score !== null); return valid.length ? valid.reduce((sum, score) => sum + score, 0) / valid.length : undefined; };
    const columns = [
      { id: "question", name: "Question", kind: "text", value: (item) => item.question, cell: (item) => make("span", { dir: "auto" }, item.question) },
      { id: "area", name: "Area", value: (item) => item.area },
      ...languages.map((language, at) => ({
        id: `language-${at}`, name: own[0].about.names[language] ?? language, kind: "number", value: (item) => mean(item.scores[language]),
        cell: (item) => (item.first[language] ? anchor(item.first[language], shown(mean(item.scores[language]))) : ""),
      })),
    ];
    if (languages.length > 1) {
      const gap = (item) => { const means = languages.map((language) => mean(item.scores[language])).filter((value) => value !== undefined); return means.length > 1 ? Math.max(...means) - Math.min(...means) : undefined; };
      columns.push({ id: "gap", name: "Gap", kind: "number", value: gap });
    }
    dataTable(article.querySelector(".questions"), columns, [...groups.values()], "Questions by language", () => true).draw();
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

  function said(data) {
    const messages = data.run.subject_transcript ?? [];
    const labels = [...new Set(messages.map((item) => item.conversation ?? ""))];
    if (!labels.some(Boolean)) return conversation(messages);
    return make("div", { class: "beside", tabindex: "0", role: "region", "aria-label": "Sides of the pair" }, ...labels.map((label) => side(label, messages.filter((item) => (item.conversation ?? "") === label), data.about.details)));
  }

  // One conversation of a pair, below those details of the question whose names end in its label.
  function side(label, messages, details) {
    const own = Object.entries(details).filter(([name, value]) => name.endsWith(`_${label}`) && !messages.some((item) => item.content === value));
    return make("section", {}, make("h4", {}, `Side ${label}`), facts(own.map(([name, value]) => [name.slice(0, -label.length - 1).replaceAll("_", " "), value])), conversation(messages));
  }

  function listed(item, left = []) {
    const rows = Object.entries(item).filter(([name, value]) => !left.includes(name) && value !== null && value !== undefined && value !== "" && !(typeof value === "object" && !Object.keys(value).length));
    return make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name.replaceAll("_", " ")), make("dd", { dir: "auto" }, typeof value === "object" ? JSON.stringify(value, null, 1) : String(value))]));
  }

  const ELSEWHERE = ["subject_transcript", "evaluator_transcripts", "verdicts", "details", "labels"];

  function verdicts(data) {
    const given = data.run.verdicts ?? [];
    const asked = data.run.evaluator_transcripts ?? [];
    return make("section", {}, make("h3", {}, "Verdict"),
      data.run.error ? make("p", { class: "banner" }, data.run.error) : null,
      ...given.map((verdict) => make("div", { class: "verdict" }, make("h4", {}, verdict.evaluator ?? "evaluator"), listed(verdict, ["evaluator"]))),
      make("details", { class: "more" }, make("summary", {}, "Everything else about this run"), listed(data.run, ELSEWHERE), listed(data.run.details), listed(data.about, ELSEWHERE), listed(data.about.labels), listed(data.about.details)),
      asked.length ? make("details", {}, make("summary", {}, `Conversations with evaluators (${asked.length})`), ...asked.map((item) => make("section", {}, make("h4", {}, item.evaluator), conversation(item.messages)))) : null);
  }

  let opened = 0;
  async function open(run) {
    const own = ++opened;
    current = run;
    const place = byId("run");
    place.hidden = false;
    place.setAttribute("aria-label", `Run ${link(run)}`);
    const others = runs.filter((other) => other.result === run.result && group(other) === group(run) && other.run === run.run && other.place !== run.place);
    const [data, ...beside] = await Promise.all([run, ...others].map(load));
    if (own !== opened) return;
    const order = table.order();
    const at = order.indexOf(run);
    const step = (by, label) => { const next = order[at + by]; return next ? make("a", { class: "button", href: href(next) }, label) : null; };
    const columns = [[run, data], ...others.map((other, number) => [other, beside[number]])];
    place.replaceChildren(
      make("h2", { dir: "auto" }, run.question),
      facts([["suite", run.about.suite], ["model", run.about.model], ["language", named(run, run.language)], ["area", named(run, run.area)], ["run", run.run], ["outcome", run.outcome], ["score", run.score], ["evaluators apart", run.apart]]),
      make("div", { class: "tools" }, button("Copy link", () => copy(run)), step(-1, "Previous run"), step(1, "Next run")),
      others.length
        ? make("div", { class: "beside languages", tabindex: "0", role: "region", "aria-label": "Languages side by side" }, ...columns.map(([one, told]) => make("section", {}, make("h3", {}, one === run ? `${named(one, one.language)} (this run)` : anchor(one, named(one, one.language)), `: ${one.outcome}${one.score === null ? "" : `, ${shown(one.score)}`}`), said(told))))
        : make("section", {}, make("h3", {}, "Conversation"), said(data)),
      verdicts(data),
      make("details", { class: "more" }, make("summary", {}, "Request settings"), listed(Object.fromEntries(["subject_sampling", "subject_system_prompt", "evaluator_sampling", "evaluator_system_prompt", "endpoints", "response_models"].map((name) => [name, run.about.settings[name]])))),
      form(run));
    table.draw();
    place.focus({ preventScroll: true });
    place.scrollIntoView();
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

  // Reviews.

  const mark = (run) => [run.about.name, run.about.model, run.about.started, `${run.id}/${run.run}`].join("\n");
  const marked = (review) => [review.suite, review.model, review.started, review.run].join("\n");

  function form(run) {
    const known = reviews[mark(run)];
    const choice = (value) => make("label", { class: "choice" }, make("input", { type: "radio", name: "verdict", value, checked: known?.verdict === value }), `The verdict is ${value}`);
    const { low, high } = run.about.scale;
    const levels = high - low <= 20 ? Array.from({ length: high - low + 1 }, (_, step) => low + step) : [];
    const score = make("select", { id: "review-score" }, make("option", { value: "" }, "none"), ...levels.map((level) => make("option", { value: level, selected: known?.score === level }, level)));
    const note = make("textarea", { id: "review-note", dir: "auto" });
    note.value = known?.note ?? "";
    const place = make("fieldset", { class: "review" }, make("legend", {}, "Your review"),
      make("div", { class: "choices" }, choice("right"), choice("wrong"), levels.length && run.judged !== null ? make("label", {}, "Your score", score) : null),
      make("label", {}, "Note", note),
      make("div", { class: "tools" },
        button("Keep this review", () => {
          const verdict = place.querySelector("input:checked")?.value;
          if (!verdict) return say("Say first whether the verdict is right or wrong");
          reviews[mark(run)] = { suite: run.about.name, model: run.about.model, started: run.about.started, run: `${run.id}/${run.run}`, verdict, score: score.value === "" ? null : Number(score.value), note: note.value, reviewer: known?.reviewer ?? "", at: new Date().toISOString() };
          keep();
          say("Review kept in this browser");
        }),
        known ? button("Remove it", () => { delete reviews[mark(run)]; keep(); open(run); }) : null));
    return place;
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
    place.replaceChildren(
      make("p", {}, own.length ? `${own.length} reviews: ${right} verdicts right, ${own.length - right} wrong.` : "No reviews yet."),
      make("div", { class: "tools review" }, make("label", {}, "Your name, for the file", reviewer), button("Save as a file", () => save(own, reviewer.value), { disabled: !own.length }), make("label", {}, "Load a file", file)),
      ...(own.length ? [make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Reviews" }, make("table", {}, make("thead", {}, make("tr", {}, ...["Question", "Model", "Language", "Verdict", "Score", "Note"].map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows)))] : []));
  }

  function save(items, reviewer) {
    const content = { format: "equipoise-reviews", version: 1, reviews: items.map((item) => ({ ...item, reviewer: reviewer || item.reviewer })) };
    const address = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2) + "\n"], { type: "application/json" }));
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

  // Views, by the fragment of the address.

  const fragment = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };

  function show() {
    const at = fragment();
    const [kind, name] = at.includes("=") ? [at.slice(0, at.indexOf("=")), at.slice(at.indexOf("=") + 1)] : [at, ""];
    const view = { run: "transcripts", result: "models" }[kind] ?? (["overview", "models", "transcripts", "review"].includes(kind) ? kind : "overview");
    for (const section of document.querySelectorAll(".view")) section.classList.toggle("shown", section.id === view);
    for (const anchor of document.querySelectorAll("[data-view]")) {
      if (anchor.dataset.view === view) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
    if (kind === "run") {
      const run = links.get(name);
      if (run) open(run);
      else say("The run of this link is not in this page");
    } else if (view === "models") {
      const articles = [...document.querySelectorAll(".result")];
      const one = articles.find((article) => article.dataset.key === name) ?? articles[0];
      for (const article of articles) article.classList.toggle("shown", article === one);
      if (one) questions(one);
      if (kind === "result") scrollTo(0, 0);
    } else if (view !== "transcripts") scrollTo(0, 0);
  }

  async function start() {
    document.documentElement.classList.add("scripted");
    document.querySelectorAll("table.cards").forEach(cards);
    byId("overview").classList.add("shown");
    index = JSON.parse(await unpack("index"));
    unfold();
    recall();
    listRuns();
    filters();
    refilter();
    showReviews();
    addEventListener("hashchange", show);
    show();
    document.documentElement.classList.add("ready");
  }

  start();
})();
