// @ts-check
// What stands beside the network: the class, what is known, reasons, what to measure next, what moved, one column, all classes.
import { barChart, curveChart, groupedBars, legendOf, liveFigure, percentOf } from "./charts.js";
import { curveOf, endsOf, momentsOf, movedBy, overClasses, withinClasses } from "./distribution.js";
import { isSettled, settledState, shortNumber, stateLabel } from "./evidence.js";
import { decided, logOdds } from "./reasons.js";
/** @typedef {import("../types.d.ts").Given} Given */
/** @typedef {import("../types.d.ts").Beliefs} Beliefs */
/** @typedef {import("../types.d.ts").Belief} Belief */
/** @typedef {import("../types.d.ts").Finding} Finding */
/** @typedef {import("../types.d.ts").Difference} Difference */
/** @typedef {import("./evidence.js").Evidence} Evidence */

/** Lines of a figure; the rest is summed up. */
const LINES = 12;
/** Width of a drawing in the left column. */
const NARROW = 270;
/** Columns whose classes are shown side by side at first. */
const SIDE_BY_SIDE = 12;

/** Probabilities of the classes, log-odds, margins. @param {Given} given */
export function classPanel(given) {
  const { target, columns, margin } = given.facts;
  const names = columns[0].states || [];
  const chart = liveFigure("x-classes", target);
  const words = element("p", { className: "x-margin" });
  return {
    parts: [chart.figure, words],
    /** @param {Beliefs} beliefs @param {boolean} isAnythingKnown */
    update({ classes, logEvidence, conflict }, isAnythingKnown) {
      const order = classes.map((_, c) => c).sort((a, b) => classes[b] - classes[a] || a - b);
      const best = order[0], next = order[1];
      const bars = classes.map((p, c) => ({ label: names[c], value: p, text: percentOf(p), css: c === best ? "bar s0" : "bar s7" }));
      chart.draw({
        reading: "Probability of each class given what is known.",
        svg: barChart(`Probabilities of ${target}`, bars, 1, NARROW),
        header: [target, "probability", "log-odds"],
        rows: classes.map((p, c) => [names[c], p, logOdds(classes, c)]),
      });
      const lead = Math.log(Math.max(classes[best], 1e-300) / Math.max(classes[next] || 0, 1e-300));
      const lines = [`${names[best]}: log-odds ${shortNumber(logOdds(classes, best))}.`];
      if (next !== undefined) lines.push(`Margin to ${names[next]}: ${shortNumber(lead)}${margin === null ? "." : `; training asked for ${shortNumber(margin)}.`}`);
      if (logEvidence !== null && isAnythingKnown) lines.push(`ln P(known) = ${shortNumber(logEvidence)}.`);
      if (conflict !== null) lines.push(conflict > 0.01 ? `What is known fits together worse than by chance (conflict ${shortNumber(conflict)}).` : `What is known fits together (conflict ${shortNumber(conflict)}).`);
      words.textContent = lines.join(" ");
    },
  };
}

/** The list of what is known. @param {Evidence} evidence @param {(column: number) => void} forget @param {(column: number) => void} choose */
export function knownPanel(evidence, forget, choose) {
  const list = element("ul", { className: "x-known" });
  const none = element("p", { className: "note" }, "Nothing is known. Click a state; with Shift it is excluded.");
  return {
    parts: [none, list],
    update() {
      const findings = evidence.findings();
      none.hidden = findings.length > 0;
      list.replaceChildren(...findings.map((f) => {
        const name = element("button", { type: "button", className: "x-link" }, evidence.words(f));
        name.addEventListener("click", () => choose(f.column));
        const off = element("button", { type: "button", className: "x-off" }, "×");
        off.setAttribute("aria-label", `Forget ${evidence.words(f)}`);
        off.addEventListener("click", () => forget(f.column));
        return element("li", {}, name, off);
      }));
    },
  };
}

/** The waterfall from nothing known to now. @param {Given} given @param {Evidence} evidence */
export function reasonsPanel(given, evidence) {
  const names = given.facts.columns[0].states || [];
  const chart = liveFigure("x-reasons", "Reasons");
  const turn = element("p", { className: "x-turn" });
  return {
    parts: [chart.figure, element("h4", {}, "What would turn it"), turn],
    /** @param {{ base: number, total: number, reasons: import("./reasons.js").Reason[] }} answer @param {number} c */
    update({ base, total, reasons }, c) {
      let level = base;
      const told = reasons.slice(0, LINES);
      const rest = reasons.slice(LINES).reduce((sum, r) => sum + r.value, 0);
      const steps = told.map((r) => ({ label: evidence.words(r.finding), value: r.value }));
      if (reasons.length > LINES) steps.push({ label: `${reasons.length - LINES} smaller ones`, value: rest });
      const bars = [{ label: "nothing known", value: base, text: signed(base), css: "bar s7", from: 0 }];
      for (const step of steps) {
        bars.push({ label: step.label, value: step.value, text: signed(step.value), css: step.value < 0 ? "against" : "for", from: level });
        level += step.value;
      }
      bars.push({ label: names[c], value: total, text: signed(total), css: "bar s7", from: 0 });
      const error = Math.max(0, ...reasons.map((r) => r.error || 0));
      const estimated = reasons.some((r) => r.error !== null) ? ` Means over random orders; standard error at most ${shortNumber(error)}.` : "";
      chart.draw({
        title: `Reasons for ${names[c]}`,
        reading: reasons.length === 0 ? "Nothing is known of the columns yet." : `Log-odds of ${names[c]}, from nothing known to now: each bar is what a column adds, averaged over all orders (Shapley value).${estimated}`,
        svg: barChart(`Reasons for ${names[c]}`, bars),
        header: ["known", "log-odds"],
        rows: [["nothing known", base], ...reasons.map((r) => [evidence.words(r.finding), r.value]), [`${names[c]} in all`, total]],
      });
    },
    /** @param {{ changes: Finding[], classes: number[], isSmallest: boolean } | null} change @param {boolean} isAsked */
    updateTurn(change, isAsked) {
      if (!isAsked) turn.textContent = "Set the value of a column to see what would turn the decision.";
      else if (!change) turn.textContent = "No change of the known values that was tried turns the decision.";
      else {
        const to = decided(change.classes);
        const size = change.isSmallest ? "The smallest change" : "A change (there may be a smaller one)";
        turn.textContent = `${size}: ${change.changes.map((f) => evidence.words(f)).join(" and ")} makes it ${names[to]} (${percentOf(change.classes[to])}).`;
      }
    },
  };
}

/** @param {number} x */
function signed(x) {
  return Math.abs(x) < 1e-9 ? "0" : (x > 0 ? "+" : "") + shortNumber(x);
}

/** What to measure next. @param {Given} given @param {(about: number) => void} askAbout @param {(column: number) => void} choose */
export function nextPanel(given, askAbout, choose) {
  const { columns } = given.facts;
  const chart = liveFigure("x-next", "What to measure next");
  const about = element("select", {}, ...columns.map((c, k) => element("option", { value: String(k) }, c.name)));
  about.addEventListener("change", () => askAbout(Number(about.value)));
  /** @type {Map<number, number>} */
  const costs = new Map();
  const list = element("ol", { className: "x-costs" });
  /** @type {(number | null)[]} */
  let latest = [];
  const none = element("p", { className: "note" });
  function draw() {
    const gains = latest.flatMap((nats, column) => (nats === null ? [] : [{ column, nats, worth: nats / (costs.get(column) || 1) }]));
    gains.sort((a, b) => b.worth - a.worth || a.column - b.column);
    const told = gains.slice(0, LINES);
    none.textContent = gains.length > 0 ? "" : "Nothing is left to measure, or this model cannot say.";
    const subject = columns[Number(about.value)].name;
    const unit = costs.size > 0 ? "nats for its cost" : "nats";
    chart.draw({
      title: `What to measure next about ${subject}`,
      reading: `Expected information (${unit}) of each column that is not known.`,
      svg: barChart("Expected information", told.map((g) => ({ label: columns[g.column].name, value: g.worth, text: shortNumber(g.worth) }))),
      header: ["column", "nats", "cost"],
      rows: gains.map((g) => [columns[g.column].name, g.nats, costs.get(g.column) || 1]),
    });
    list.replaceChildren(...told.map((g) => {
      const name = element("button", { type: "button", className: "x-link" }, columns[g.column].name);
      name.addEventListener("click", () => choose(g.column));
      const cost = element("input", { type: "number", min: "0.001", step: "any", value: String(costs.get(g.column) || 1) });
      cost.setAttribute("aria-label", `Cost of measuring ${columns[g.column].name}`);
      cost.addEventListener("change", () => {
        const value = Number(cost.value);
        if (value > 0 && value !== 1) costs.set(g.column, value);
        else costs.delete(g.column);
        draw();
      });
      return element("li", {}, name, " costs ", cost);
    }));
  }
  return {
    parts: [element("p", { className: "filters" }, element("label", {}, "about ", about)), none, chart.figure, element("details", {}, element("summary", {}, "Costs"), list)],
    /** @param {Beliefs} beliefs */
    update({ next }) {
      latest = next;
      draw();
    },
  };
}

/** Columns whose distribution moved most. @param {Given} given */
export function movedPanel(given) {
  const { columns } = given.facts;
  const chart = liveFigure("x-moved", "What moved most");
  return {
    parts: [chart.figure],
    /** @param {Beliefs} beliefs @param {(Belief | null)[]} prior @param {Map<number, Finding>} known */
    update(beliefs, prior, known) {
      const k = beliefs.classes.length;
      const moves = columns.flatMap((column, c) => {
        const [before, now] = [prior[c], beliefs.columns[c]];
        if (!before || !now || isSettled(known.get(c))) return [];
        return [{ name: column.name, by: movedBy(before, now, k, endsOf(before, column.range)) }];
      });
      moves.sort((a, b) => b.by - a.by);
      chart.draw({
        reading: "Share of probability that moved to other values since nothing was known (total variation).",
        svg: barChart("What moved most", moves.slice(0, LINES).map((m) => ({ label: m.name, value: m.by, text: percentOf(m.by) }))),
        header: ["column", "moved"],
        rows: moves.map((m) => [m.name, m.by]),
      });
    },
  };
}

/**
 * One column: its distribution in each class, and every way to say what is known of it.
 * @param {Given} given @param {Evidence} evidence @param {{ set(column: number, state: number): void, exclude(column: number, state: number): void, tell(finding: Finding | null, column: number): void }} actions
 */
export function columnPanel(given, evidence, actions) {
  const { columns } = given.facts;
  const names = columns[0].states || [];
  const title = element("h4", {});
  const controls = element("div", { className: "x-controls" });
  const chart = liveFigure("x-column", "Distribution");
  const legend = legendOf(names);
  const behind = element("p", { className: "note" });
  let column = 0;
  function build() {
    const { name, states, cuts, range, support } = columns[column];
    title.textContent = name;
    behind.textContent = support ? supportWords(support) : "";
    controls.replaceChildren();
    if (states) controls.append(stateControls(states));
    if (!states || cuts) controls.append(numberControl(name, cuts, range));
    if (states && states.length > 1 && given.facts.tells_columns) controls.append(weightControls(states));
  }
  /** @param {string[]} states */
  function stateControls(states) {
    return element("ul", { className: "x-states" }, ...states.map((_, state) => {
      const text = stateLabel(columns[column], state);
      const set = element("button", { type: "button" }, text);
      set.dataset.state = String(state);
      set.addEventListener("click", (event) => (event.shiftKey ? actions.exclude(column, state) : actions.set(column, state)));
      const out = element("button", { type: "button", className: "x-off" }, "≠");
      out.dataset.out = String(state);
      out.setAttribute("aria-label", `Exclude ${columns[column].name} ${text}`);
      out.addEventListener("click", () => actions.exclude(column, state));
      return element("li", {}, set, out);
    }));
  }
  /** @param {string} name @param {number[] | undefined} cuts @param {[number, number] | undefined} range */
  function numberControl(name, cuts, range) {
    const [low, high] = range || endsOf(given.facts.tells_columns ? latestPrior[column] || null : null, range);
    const number = element("input", { type: "number", step: "any", id: "x-number" });
    const slider = element("input", { type: "range", min: String(low), max: String(high), step: String((high - low) / 200) });
    number.setAttribute("aria-label", `Value of ${name}`);
    slider.setAttribute("aria-label", `Value of ${name} on its range`);
    const finding = evidence.of(column);
    if (finding && "value" in finding) number.value = slider.value = String(finding.value);
    const tell = (/** @type {string} */ text) => {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) actions.tell(null, column);
      else if (cuts) actions.set(column, cuts.filter((cut) => cut < value).length);
      else actions.tell({ column, value }, column);
    };
    number.addEventListener("change", () => { if (number.value !== "") slider.value = number.value; tell(number.value); });
    slider.addEventListener("input", () => { number.value = String(Number(Number(slider.value).toPrecision(4))); tell(number.value); });
    const unknown = element("button", { type: "button" }, "unknown");
    unknown.addEventListener("click", () => { number.value = ""; actions.tell(null, column); });
    return element("p", { className: "filters x-value" }, number, slider, unknown);
  }
  /** @param {string[]} states */
  function weightControls(states) {
    const texts = states.map((_, state) => stateLabel(columns[column], state));
    const inputs = texts.map((text) => {
      const input = element("input", { type: "number", min: "0", step: "any", value: "1" });
      input.setAttribute("aria-label", `Likelihood of what was seen if ${columns[column].name} is ${text}`);
      return input;
    });
    const apply = element("button", { type: "button" }, "Apply");
    apply.addEventListener("click", () => {
      const weights = inputs.map((input) => Math.max(0, Number(input.value) || 0));
      if (weights.every((w) => w === 0)) return;
      actions.tell(weights.every((w) => w === weights[0]) ? null : { column, states: weights }, column);
    });
    const lines = texts.map((text, k) => element("li", {}, element("label", {}, inputs[k], ` ${text}`)));
    return element("details", {}, element("summary", {}, "Not sure? Weigh the states"), element("p", { className: "note" }, "How probable is what you saw, if the column has this state?"), element("ul", { className: "x-weights" }, ...lines), apply);
  }
  /** @type {(Belief | null)[]} */
  let latestPrior = [];
  return {
    parts: [title, controls, chart.figure, legend, behind],
    /** @param {number} chosen @param {(Belief | null)[]} prior */
    choose(chosen, prior) {
      column = chosen;
      latestPrior = prior;
      build();
    },
    focus() {
      const first = controls.querySelector("button, input");
      if (first instanceof HTMLElement) first.focus();
    },
    /** @param {Beliefs} beliefs */
    update(beliefs) {
      const finding = evidence.of(column);
      const set = settledState(finding);
      controls.querySelectorAll("button[data-state]").forEach((button) => button.setAttribute("aria-pressed", String(button instanceof HTMLElement && Number(button.dataset.state) === set)));
      controls.querySelectorAll("button[data-out]").forEach((button) => {
        const state = button instanceof HTMLElement ? Number(button.dataset.out) : -1;
        button.setAttribute("aria-pressed", String(finding !== undefined && "states" in finding && set < 0 && finding.states[state] === 0));
      });
      const number = controls.querySelector("input[type=number]#x-number");
      if (number instanceof HTMLInputElement && document.activeElement !== number && !(document.activeElement instanceof HTMLInputElement && document.activeElement.type === "range")) {
        number.value = finding && "value" in finding ? String(finding.value) : "";
      }
      const drawn = columnFigure(given, column, beliefs, latestPrior[column] || null);
      chart.figure.hidden = drawn === null;
      legend.hidden = drawn === null || column === 0;
      if (drawn) chart.draw(drawn);
    },
  };
}

/** What a table rests on, in words. @param {NonNullable<import("../types.d.ts").Column["support"]>} support */
function supportWords({ fewest, most, unseen, cells }) {
  const rows = fewest === most ? shortNumber(most) : `${shortNumber(fewest)} to ${shortNumber(most)}`;
  const smoothed = unseen > 0 ? `${unseen} of its ${cells} cells were never seen and come from smoothing alone` : `all of its ${cells} cells were seen`;
  return `Its table rests on ${rows} training rows a line; ${smoothed}.`;
}

/** The distribution of a column, of every class beside the others. @param {Given} given @param {number} column @param {Beliefs} beliefs @param {Belief | null} prior */
export function columnFigure(given, column, beliefs, prior) {
  const { columns } = given.facts;
  const { name, states, cuts = [], range } = columns[column];
  const names = columns[0].states || [];
  const k = names.length;
  if (column === 0) {
    return { title: name, reading: "The class.", svg: barChart(name, names.map((text, c) => ({ label: text, value: beliefs.classes[c], text: percentOf(beliefs.classes[c]) })), 1), header: [name, "probability"], rows: names.map((text, c) => [text, beliefs.classes[c]]) };
  }
  const belief = beliefs.columns[column];
  if (!belief) return null;
  const told = "Given what is known, in each class by itself.";
  if (states && belief.joint) {
    const within = withinClasses(belief.joint, k), all = overClasses(belief.joint, k);
    const svg = cuts.length > 0 && range ? curveChart(name, range, within.map((p, c) => ({ name: names[c], points: steps(p, cuts, range) })), cuts, 150) : groupedBars(name, states.map((_, s) => stateLabel(columns[column], s)), within.map((values, c) => ({ name: names[c], values })));
    const reading = cuts.length > 0 ? `${told} Height is probability by width; dashed lines are the cuts.` : told;
    return { title: name, reading, svg, header: [name, "all", ...names], rows: states.map((_, s) => [stateLabel(columns[column], s), all[s], ...within.map((p) => p[s])]) };
  }
  const ends = endsOf(prior || belief, range);
  const curves = names.map((text, c) => ({ name: text, points: curveOf(belief, k, ends, c).filter(([x]) => x >= ends[0] && x <= ends[1]) }));
  const { mean, sd } = momentsOf(belief, k);
  const rows = (curves[0].points || []).map(([x], i) => [shortNumber(x), ...curves.map((curve) => (curve.points[i] ? curve.points[i][1] : 0))]);
  return { title: name, reading: `${told} Mean ${shortNumber(mean)}, standard deviation ${shortNumber(sd)}.`, svg: curveChart(name, ends, curves, [], 150), header: [name, ...names], rows };
}

/** A density that is constant between cuts. @param {number[]} shares @param {number[]} cuts @param {[number, number]} range @returns {[number, number][]} */
function steps(shares, cuts, range) {
  const edges = [Math.min(range[0], cuts[0]), ...cuts, Math.max(range[1], cuts[cuts.length - 1])];
  return shares.flatMap((p, s) => {
    const width = edges[s + 1] - edges[s];
    const height = width > 0 ? p / width : 0;
    return /** @type {[number, number][]} */ ([[edges[s], height], [edges[s + 1], height]]);
  });
}

/** All classes side by side: the columns that tell most first. @param {Given} given @param {(column: number) => void} choose */
export function classesPanel(given, choose) {
  const { columns } = given.facts;
  const grid = element("div", { className: "x-grid" });
  const more = element("button", { type: "button" }, "More columns");
  let most = SIDE_BY_SIDE;
  /** @type {{ beliefs: Beliefs, prior: (Belief | null)[] } | null} */
  let latest = null;
  /** @type {Map<number, ReturnType<typeof liveFigure>>} */
  const figures = new Map();
  /** @param {number} column */
  function figureOf(column) {
    const made = figures.get(column) || liveFigure(`x-side-${column}`, columns[column].name);
    if (!figures.has(column)) {
      const name = element("button", { type: "button", className: "x-link" }, "Show this column");
      name.addEventListener("click", () => choose(column));
      made.figure.querySelector(".save")?.append(name);
    }
    figures.set(column, made);
    return made;
  }
  function draw() {
    if (!latest) return;
    const { beliefs, prior } = latest;
    const told = columns.map((_, c) => c).filter((c) => c > 0 && beliefs.columns[c]);
    told.sort((a, b) => (beliefs.next[b] || 0) - (beliefs.next[a] || 0) || a - b);
    more.hidden = told.length <= most;
    grid.replaceChildren(...told.slice(0, most).map((column) => {
      const live = figureOf(column), drawn = columnFigure(given, column, beliefs, prior[column]);
      if (drawn) live.draw({ ...drawn, reading: "" });
      return live.figure;
    }));
  }
  more.addEventListener("click", () => { most *= 2; draw(); });
  return {
    parts: [...differencesOf(given), element("p", { className: "note" }, "The distribution of each column in each class given what is known, the most telling ones first."), legendOf(columns[0].states || []), grid, more],
    /** @param {Beliefs} beliefs @param {(Belief | null)[]} prior */
    update(beliefs, prior) {
      latest = { beliefs, prior };
      if (grid.checkVisibility()) draw();
    },
    draw,
  };
}

/** Where the networks of the classes differ, as a figure. @param {Given} given */
function differencesOf({ differences }) {
  if (!differences) return [];
  const { found, expected } = differences;
  if (found.length === 0) return [element("p", { className: "note" }, "The networks of the classes differ in no weight by more than chance.")];
  const several = new Set(found.map((d) => d.second)).size > 1;
  const title = "Where the networks differ";
  const bar = (/** @type {Difference} */ d) => {
    const value = d.weight_second - d.weight_first;
    return { label: `${several ? `${d.second}: ` : ""}${d.from} → ${d.to}`, value, text: percentOf(d.support), css: value < 0 ? "against" : "for" };
  };
  const rest = found.length > LINES ? ` The ${LINES} clearest of ${found.length}.` : "";
  const chart = liveFigure("x-differences", title);
  chart.draw({
    reading: `Weight of an arc in class ${several ? "…" : found[0].second} minus that in class ${found[0].first}, with the share of half samples that show the same; ${shortNumber(expected)} expected by chance.${rest}`,
    svg: barChart(title, found.slice(0, LINES).map(bar)),
    header: ["from", "to", "class", "weight", `weight in ${found[0].first}`, "standard errors", "support"],
    rows: found.map((d) => [d.from, d.to, d.second, d.weight_second, d.weight_first, d.z, d.support]),
  });
  return [chart.figure];
}
