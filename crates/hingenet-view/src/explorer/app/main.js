// @ts-check
// The explorer: what is known goes in by clicks, the engine answers, everything on the page moves.
import { Cards } from "./cards.js";
import { numbersOf } from "./charts.js";
import { classesPanel, classPanel, columnPanel, knownPanel, movedPanel, nextPanel, reasonsPanel } from "./panels.js";
import { decided, findingsOf, reasonsFor, smallestChange } from "./reasons.js";
import { endsOf, momentsOf, overClasses } from "./distribution.js";
import { Evidence, stateLabel } from "./evidence.js";
import { localEngine } from "../engine/local.js";
import { remoteEngine } from "../engine/remote.js";
import { rowsPanel } from "./rows.js";
/** @typedef {import("../types.d.ts").Given} Given */
/** @typedef {import("../types.d.ts").Engine} Engine */
/** @typedef {import("../types.d.ts").Beliefs} Beliefs */
/** @typedef {import("../types.d.ts").Finding} Finding */

/** What a link to this page with its evidence begins with. */
const LINK = "#known=";

/** @param {HTMLElement} here @param {Given} given @param {Engine} engine */
async function explore(here, given, engine) {
  const { facts } = given;
  const evidence = new Evidence(facts.columns);
  const prior = await engine.beliefs([], 0);
  let about = 0, chosen = 0, asked = 0;
  /** @type {Beliefs} */
  let beliefs = prior;
  /** @type {Finding[] | null} */
  let row = null;
  const status = element("p", { className: "x-status" });
  status.setAttribute("role", "status");
  const say = (/** @type {string} */ text) => { status.textContent = text; };
  const ends = (/** @type {number} */ column) => endsOf(prior.columns[column], facts.columns[column].range);

  const actions = {
    set: (/** @type {number} */ column, /** @type {number} */ state) => { evidence.toggle(column, state); changed(); },
    exclude: (/** @type {number} */ column, /** @type {number} */ state) => {
      if (!facts.tells_columns && column > 0) return say("This model takes values only; no state can be excluded.");
      if (evidence.exclude(column, state)) changed();
      else say("One state must be left.");
    },
    tell: (/** @type {Finding | null} */ finding, /** @type {number} */ column) => { evidence.set(column, finding); changed(); },
    choose: (/** @type {number} */ column) => choose(column, true),
  };
  const cards = new Cards(given, actions);
  const panels = {
    class: classPanel(given),
    known: knownPanel(evidence, (column) => actions.tell(null, column), actions.choose),
    reasons: reasonsPanel(given, evidence),
    next: nextPanel(given, (column) => { about = column; ask(); }, actions.choose),
    moved: movedPanel(given),
    column: columnPanel(given, evidence, actions),
    classes: classesPanel(given, actions.choose),
    rows: rowsPanel(given, engine, pick, say),
  };

  /** @param {number} column @param {boolean} open */
  function choose(column, open) {
    chosen = column;
    cards.chosen = column;
    if (cards.hasOverview) cards.build();
    panels.column.choose(column, prior.columns);
    render();
    if (open) {
      const tab = tabButton("x-tab-column");
      if (tab) tab.click();
      panels.column.focus();
    }
  }

  /** @param {{ number: number, cells: (number | null)[], truth: number | null }} picked */
  function pick(picked) {
    row = findingsOf(facts.columns, picked.cells);
    evidence.replace(new Map(row.map((f) => [f.column, f])));
    const truth = picked.truth === null ? "" : `; it is ${(facts.columns[0].states || [])[picked.truth]}`;
    say(`Row ${picked.number}${truth}. Change its values to see what would be.`);
    changed();
  }

  function changed() {
    history.replaceState(null, "", evidence.known.size > 0 ? LINK + evidence.link() : location.href.split("#")[0]);
    ask();
  }

  /** Asks the engine; of several questions under way only the answer to the last one is shown. */
  async function ask() {
    const question = ++asked;
    here.dataset.asked = String(question);
    const known = evidence.findings();
    try {
      const answer = await engine.beliefs(known, about);
      if (question !== asked) return;
      beliefs = answer;
      render();
      here.dataset.answered = String(question);
      await tellWhy(question, known);
    } catch (error) {
      if (question === asked) say(`${error instanceof Error ? error.message : error}. Undo takes the last step back.`);
    }
  }

  /** Reasons take more questions than bars: they follow when the page is at rest. @param {number} question @param {Finding[]} known */
  async function tellWhy(question, known) {
    await new Promise((done) => setTimeout(done, 60));
    if (question !== asked) return;
    network.update(beliefs);
    const c = decided(beliefs.classes);
    const why = await reasonsFor(engine, known, c);
    if (question !== asked) return;
    panels.reasons.update(why, c);
    const isKnown = known.some((f) => f.column > 0);
    const change = isKnown ? await smallestChange(engine, facts.columns, known, ends) : null;
    if (question !== asked) return;
    panels.reasons.updateTurn(change, isKnown);
    here.dataset.explained = String(question);
  }

  function render() {
    cards.update(beliefs, evidence.known);
    panels.class.update(beliefs, evidence.known.size > 0);
    panels.known.update();
    panels.next.update(beliefs);
    panels.moved.update(beliefs, prior.columns, evidence.known);
    panels.column.update(beliefs);
    panels.classes.update(beliefs, prior.columns);
    undo.disabled = evidence.history.length === 0;
    reset.disabled = evidence.known.size === 0;
    back.hidden = row === null;
  }

  const button = (/** @type {string} */ text, /** @type {() => void} */ act) => {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", act);
    return made;
  };
  const undo = button("Undo", () => { if (evidence.undo()) changed(); });
  const reset = button("Reset", () => { row = null; evidence.replace(new Map()); changed(); });
  const back = button("Back to the row", () => { if (row) { evidence.replace(new Map(row.map((f) => [f.column, f]))); changed(); } });
  const copy = button("Copy link", () => {
    const done = () => say("The link is copied: whoever opens this page with it sees the same.");
    const failed = () => say(location.href);
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(done, failed);
    else failed();
  });
  const left = element("div", { className: "x-left" }, ...panels.class.parts, element("h3", {}, "Known"), ...panels.known.parts, element("p", { className: "x-buttons" }, undo, reset, back, copy), status, element("p", { className: "note" }, originOf(facts)));
  const side = element("div", { className: "tabs x-side" },
    ...Object.entries({ reasons: "Reasons", column: "Column", next: "Measure next", moved: "What moved", classes: "Classes", rows: "Rows" })
      .filter(([key]) => facts.tells_columns || (key !== "moved" && key !== "classes"))
      .map(([key, name]) => element("div", { className: "tab", id: `x-tab-${key}` }, element("h3", {}, name), ...panels[/** @type {keyof typeof panels} */ (key)].parts)));
  const scroll = element("div", { className: "scroll x-net", tabIndex: 0 }, cards.svg);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Network");
  const network = networkFigure(given, scroll);
  here.append(toolbar(given, cards, actions.choose, () => { network.show(cards.picture); render(); }), element("div", { className: "x-body" }, left, element("div", { className: "x-middle" }, network.figure), side));
  tabs(side, "x");
  const tabButton = (/** @type {string} */ id) => /** @type {HTMLElement | null} */ (side.querySelector(`[role=tab][aria-controls=${id}]`));
  tabButton("x-tab-rows")?.addEventListener("click", () => panels.rows.start());
  tabButton("x-tab-classes")?.addEventListener("click", () => panels.classes.draw());
  cards.prior = prior.columns;
  cards.telling = facts.columns.map((_, c) => c).sort((a, b) => (prior.next[b] || 0) - (prior.next[a] || 0) || a - b);
  cards.build();
  cards.fit();
  choose(cards.telling.find((c) => c > 0) || 0, false);
  const restore = () => {
    if (location.hash.startsWith(LINK) && evidence.restore(location.hash.slice(LINK.length))) return ask();
    return ask();
  };
  addEventListener("hashchange", () => { if (location.hash.startsWith(LINK)) restore(); });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !(event.target instanceof HTMLInputElement) && evidence.undo()) {
      event.preventDefault();
      changed();
    }
  });
  await restore();
}

/** What the answers rest on, and what the fit warned of. @param {import("../types.d.ts").Facts} facts */
function originOf({ rows, seed, warnings }) {
  return [`Fitted on ${rows} rows, seed ${seed}.`, ...warnings.map((text) => `Warning: ${text}.`)].join(" ");
}

/** The network as a figure that can be saved. @param {Given} given @param {HTMLElement} scroll */
function networkFigure(given, scroll) {
  const arcs = element("span", {});
  const figure = element("figure", { id: "x-network", className: "wide" }, element("figcaption", {}, element("strong", { id: "x-network-title" }, `Network of ${given.facts.model}`), " ",
    element("span", { className: "reading" }, `Click a state to say that it is known, again to take it back, with Shift to exclude it. The darker a head, the more the column tells about the class.`, arcs)), scroll);
  figure.setAttribute("aria-labelledby", "x-network-title");
  const numbers = numbersOf("Network");
  figure.append(numbers.details);
  saving(figure);
  const show = (/** @type {number} */ picture) => {
    const { unit } = given.pictures[picture];
    arcs.textContent = unit ? ` Wider arcs are stronger (${unit}).` : "";
  };
  show(0);
  return {
    figure,
    /** Says what the arcs of a picture measure. */
    show,
    /** @param {Beliefs} beliefs */
    update(beliefs) {
      const k = beliefs.classes.length;
      const rows = given.facts.columns.flatMap((column, c) => {
        const belief = beliefs.columns[c];
        const shares = c === 0 ? beliefs.classes : belief && belief.joint && !belief.at ? overClasses(belief.joint, k) : null;
        if (shares) return shares.map((p, s) => [column.name, stateLabel(column, s), p]);
        return belief ? [[column.name, "mean", momentsOf(belief, k).mean], [column.name, "standard deviation", momentsOf(belief, k).sd]] : [];
      });
      numbers.fill("What is believed of every column", ["column", "state", "probability"], rows);
    },
  };
}

/** Search, zoom, weak arcs, and whose network. @param {Given} given @param {Cards} cards @param {(column: number) => void} choose @param {() => void} render */
function toolbar(given, cards, choose, render) {
  const names = element("datalist", { id: "x-columns" }, ...given.facts.columns.map((c) => element("option", { value: c.name })));
  const search = element("input", { type: "search", placeholder: "column" });
  search.setAttribute("list", "x-columns");
  search.setAttribute("aria-label", "Find a column");
  search.addEventListener("change", () => {
    const wanted = search.value.trim().toLowerCase();
    if (wanted === "") return;
    const all = given.facts.columns.map((c) => c.name.toLowerCase());
    const found = [all.indexOf(wanted), all.findIndex((name) => name.includes(wanted))].find((c) => c >= 0);
    if (found === undefined) return;
    choose(found);
    const card = cards.cards.get(found);
    if (card) card.group.scrollIntoView({ block: "nearest", inline: "center" });
  });
  const again = () => { cards.build(); render(); };
  const zoom = (/** @type {string} */ text, /** @type {string} */ name, /** @type {() => void} */ act) => {
    const made = element("button", { type: "button" }, text);
    made.setAttribute("aria-label", name);
    made.addEventListener("click", act);
    return made;
  };
  const parts = [element("label", {}, "find ", search), names, zoom("−", "Smaller", () => cards.scale(cards.zoom / 1.25)), zoom("+", "Larger", () => cards.scale(cards.zoom * 1.25)), zoom("fit", "Fit the width", () => cards.fit())];
  if (given.pictures.some((p) => p.arcs.some(([from]) => from > 0))) {
    const weak = element("input", { type: "range", min: "0", max: "1", step: "0.02", value: "0" });
    weak.addEventListener("input", () => { cards.weakest = Number(weak.value); again(); });
    parts.push(element("label", {}, "hide weak arcs ", weak));
  }
  if (given.pictures.length > 1) {
    const whose = element("select", {}, ...given.pictures.map((p, k) => element("option", { value: String(k) }, p.title)));
    whose.addEventListener("change", () => { cards.picture = Number(whose.value); again(); });
    parts.push(element("label", {}, "network of ", whose));
  }
  return element("div", { className: "filters x-toolbar" }, ...parts);
}

function start() {
  const here = document.getElementById("explorer-here"), data = document.getElementById("explorer-given");
  if (!here || !data) return;
  /** @type {Given} */
  const given = JSON.parse(data.textContent || "null");
  const engine = given.server ? remoteEngine(given.server) : localEngine(given.program);
  explore(here, given, engine).catch((error) => here.append(element("p", {}, `The explorer stopped: ${error.message}`)));
}

start();
