// @ts-check
// The network as cards: each column with its distribution, the class marked, arcs between them. A click on a state says that
// it is known. Above some number of columns only the neighbourhood of the chosen one has cards, the others are dots.
import { label, linePath, percentOf, shape } from "./charts.js";
import { curveOf, endsOf, momentsOf, overClasses } from "./distribution.js";
import { settledState, shortNumber, stateLabel } from "./evidence.js";
/** @typedef {import("../types.d.ts").Given} Given */
/** @typedef {import("../types.d.ts").Beliefs} Beliefs */
/** @typedef {import("../types.d.ts").Belief} Belief */
/** @typedef {import("../types.d.ts").Finding} Finding */
/** @typedef {{ set(column: number, state: number): void, exclude(column: number, state: number): void, choose(column: number): void }} Actions */
/** @typedef {{ group: SVGElement, bar: SVGElement, share: SVGElement, state: number }} Line */
/** @typedef {{ group: SVGElement, head: SVGElement, lines: Line[], curve: SVGElement | null, mark: SVGElement | null, words: SVGElement | null, box: number[] }} Card */

/** Columns up to which all have cards. */
const MANY = 60;
/** Cards around the chosen column when there are more. */
const NEAR = 24;
/** Heights as the layout has them. */
const HEAD = 26, STATE = 17, DENSITY = 58;
/** States on a card. */
const STATES = 7;
/** Between cards that stand in rows. */
const GAP = 16;
/** How far the network can be scaled, and how small it may be and still be read. */
const LEAST_ZOOM = 0.2, MOST_ZOOM = 3, READABLE = 0.6;
/** Height of the overview of all columns, without coordinates, in the plane and in space. */
const OVERVIEW = 150, PLAN = 380, SPACE = 290;
/** Views of coordinates: what runs to the right and what upwards. */
const SIDES = [{ name: "from above (x, y)", axes: [0, 1] }, { name: "from the front (x, z)", axes: [0, 2] }, { name: "from the side (y, z)", axes: [1, 2] }];

export class Cards {
  /** @param {Given} given @param {Actions} actions */
  constructor(given, actions) {
    this.given = given;
    this.actions = actions;
    this.columns = given.facts.columns;
    this.isLarge = this.columns.length > MANY;
    /** Whether all columns stand as dots above the cards. */
    this.hasOverview = this.isLarge || given.coordinates !== null;
    /** Whether coordinates have a third number, for views from three sides. */
    this.isInSpace = given.coordinates !== null && given.coordinates.every((p) => p[2] !== null);
    this.zoom = 1;
    this.picture = 0;
    this.weakest = 0;
    this.chosen = 0;
    /** @type {Map<number, Card>} */
    this.cards = new Map();
    /** Of every column, one in each view. @type {Map<number, SVGElement[]>} */
    this.dots = new Map();
    /** @type {(Belief | null)[]} */
    this.prior = [];
    /** @type {number[]} */
    this.telling = this.columns.map((_, k) => k);
    this.svg = /** @type {SVGSVGElement} */ (shape("svg", { class: "network x-network", role: "group", "aria-label": "Network: the columns and what is believed of them" }));
  }

  /** Builds everything for the chosen column and picture. */
  build() {
    const shown = this.shown();
    const boxes = this.hasOverview ? this.rowsOf(shown) : new Map(shown.map((c) => [c, this.given.places[c]]));
    const size = this.hasOverview ? this.sizeOf(boxes) : this.given.size;
    this.size = size;
    this.svg.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    this.resize();
    this.cards.clear();
    const cards = shown.map((column) => this.card(column, boxes.get(column) || [0, 0, 0, 0]));
    this.svg.replaceChildren(...(this.hasOverview ? [this.overview(size[0], new Set(shown))] : []), this.arcs(boxes), ...cards);
  }

  /** @param {number} zoom */
  scale(zoom) {
    this.zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom));
    this.resize();
  }

  /** As wide as there is room, but not larger than drawn and not too small to read. */
  fit() {
    const room = this.svg.parentElement ? this.svg.parentElement.clientWidth - 2 : 0;
    if (room > 0 && this.size) this.scale(Math.min(1, Math.max(READABLE, room / this.size[0])));
  }

  resize() {
    const [width, height] = this.size || [1, 1];
    this.svg.setAttribute("width", String(Math.round(width * this.zoom)));
    this.svg.setAttribute("height", String(Math.round(height * this.zoom)));
  }

  /** Columns that have cards. */
  shown() {
    if (!this.isLarge) return this.columns.map((_, k) => k);
    const near = new Set([0, this.chosen]);
    const arcs = this.given.pictures[this.picture].arcs.slice().sort((a, b) => Math.abs(b[2]) - Math.abs(a[2]));
    if (this.chosen > 0) arcs.forEach(([from, to]) => { if (near.size < NEAR && from > 0 && (from === this.chosen || to === this.chosen)) near.add(from).add(to); });
    for (const column of this.telling) {
      if (near.size >= (this.chosen > 0 ? NEAR / 2 : NEAR)) break;
      near.add(column);
    }
    return Array.from(near);
  }

  /** Cards in rows, below the overview. @param {number[]} shown */
  rowsOf(shown) {
    const boxes = new Map();
    let [x, y, tall] = [GAP, this.overviewHeight + 2 * GAP, 0];
    for (const column of shown) {
      const [, , width, height] = this.given.places[column];
      if (x + width > 1100) [x, y, tall] = [GAP, y + tall + 2 * GAP, 0];
      boxes.set(column, [x + width / 2, y + height / 2, width, height]);
      [x, tall] = [x + width + GAP, Math.max(tall, height)];
    }
    return boxes;
  }

  /** @param {Map<number, number[]>} boxes */
  sizeOf(boxes) {
    const all = Array.from(boxes.values());
    return [Math.max(400, ...all.map(([x, , w]) => x + w / 2 + GAP)), Math.max(...all.map(([, y, , h]) => y + h / 2 + GAP))];
  }

  /** All columns as dots, at their coordinates where these are given, with the arcs between them; coordinates in space from three
   * sides. @param {number} width @param {Set<number>} near */
  overview(width, near) {
    const group = shape("g", { class: "overview", role: "group", "aria-label": "All columns" });
    this.dots.clear();
    for (const { name, at } of this.views(width)) {
      for (const [from, to, strength] of this.given.pictures[this.picture].arcs) {
        if (from === 0 || this.isWeak(strength)) continue;
        group.append(shape("path", { class: strength < 0 ? "x-thread negative" : "x-thread", d: `M${at[from].join(" ")}L${at[to].join(" ")}` }));
      }
      this.columns.forEach((column, k) => {
        const dot = shape("circle", { class: `x-dot${k === 0 ? " x-class" : ""}${near.has(k) ? " near" : ""}`, cx: at[k][0], cy: at[k][1], r: k === this.chosen ? 6 : 4 });
        dot.append(shape("title", {}, column.name));
        dot.addEventListener("click", () => this.actions.choose(k));
        this.dots.set(k, [...(this.dots.get(k) || []), dot]);
        group.append(dot);
      });
      if (name) group.append(shape("text", { class: "x-view", x: at[0][0] + GAP, y: 2 * GAP + 4 }, name));
    }
    return group;
  }

  /** Height of the overview. */
  get overviewHeight() {
    if (!this.given.coordinates) return OVERVIEW;
    return this.isInSpace ? SPACE : PLAN;
  }

  /** Where the dots are in each view. @param {number} width @returns {{ name: string, at: number[][] }[]} */
  views(width) {
    const high = this.overviewHeight - GAP, { coordinates } = this.given;
    if (!coordinates) {
      const [w, h] = this.given.size;
      return [{ name: "", at: this.given.places.map(([x, y]) => [GAP + (x / w) * (width - 2 * GAP), GAP + (y / h) * (high - GAP)]) }];
    }
    const sides = this.isInSpace ? SIDES : SIDES.slice(0, 1);
    const room = width / sides.length;
    const axis = (/** @type {number} */ d) => coordinates.map((p) => Number(p[d]));
    const spans = [0, 1, 2].map((d) => Math.max(...axis(d)) - Math.min(...axis(d)) || 1);
    // one scale for all directions: a brain keeps its shape
    const scale = Math.min(...sides.map(({ axes }) => Math.min((room - 4 * GAP) / spans[axes[0]], (high - 4 * GAP) / spans[axes[1]])));
    return sides.map(({ name, axes }, k) => {
      const [xs, ys] = axes.map(axis);
      const left = k * room + (room - scale * spans[axes[0]]) / 2, top = (high - scale * spans[axes[1]]) / 2 + GAP;
      const [least, most] = [Math.min(...xs), Math.max(...ys)];
      return { name, at: [[k * room + GAP, 2 * GAP], ...xs.map((x, i) => [left + scale * (x - least), top + scale * (most - ys[i])])] };
    });
  }

  /** @param {number} strength */
  isWeak(strength) {
    return Math.abs(strength) < this.weakest * this.strongest();
  }

  strongest() {
    return Math.max(1e-300, ...this.given.pictures[this.picture].arcs.filter(([from]) => from > 0).map(([, , s]) => Math.abs(s)));
  }

  /** @param {Map<number, number[]>} boxes */
  arcs(boxes) {
    const { arcs, directed } = this.given.pictures[this.picture];
    const group = shape("g", { class: "x-arcs", "aria-hidden": "true" });
    const strongest = this.strongest();
    for (const [from, to, strength] of arcs) {
      const [a, b] = [boxes.get(from), boxes.get(to)];
      const weight = Math.abs(strength) / strongest;
      if (!a || !b || (from > 0 && this.isWeak(strength))) continue;
      const [x1, y1, x2, y2] = [a[0], a[1] + a[3] / 2, b[0], b[1] - b[3] / 2];
      const isBelow = y2 > y1;
      const bend = isBelow ? Math.max(14, (y2 - y1) / 2) : 40;
      const end = isBelow ? [x2, y2] : [x2, b[1] + b[3] / 2];
      const d = `M${x1} ${y1}C${x1} ${y1 + bend} ${end[0]} ${end[1] + (isBelow ? -bend : bend)} ${end[0]} ${end[1]}`;
      const css = from === 0 ? "arc from-class" : strength < 0 ? "arc negative" : "arc";
      group.append(shape("path", { class: css, d, "stroke-width": from === 0 ? 1 : (1 + 4 * weight).toFixed(2) }));
      if (directed && from > 0) {
        const turn = isBelow ? 1 : -1;
        group.append(shape("path", { class: strength < 0 ? "head negative" : "head", d: `M${end[0]} ${end[1]}l-4 ${-8 * turn}h8z` }));
      }
    }
    return group;
  }

  /** @param {number} column @param {number[]} box */
  card(column, box) {
    const [x, y, width, height] = [box[0] - box[2] / 2, box[1] - box[3] / 2, box[2], box[3]];
    const { name, states } = this.columns[column];
    const group = shape("g", { class: `x-card${column === 0 ? " x-class" : ""}`, transform: `translate(${x} ${y})`, role: "group", "aria-label": name });
    const head = shape("rect", { class: "x-tint", "fill-opacity": 0, width, height: HEAD, rx: 5 });
    // bold letters are wider by a tenth
    const title = label(name, (width - 16) / 1.1, { class: "x-name", x: 8, y: 17 });
    const frame = shape("rect", { class: "x-frame", width, height, rx: 5 });
    const handle = shape("rect", { class: "x-handle", width, height: HEAD, rx: 5, role: "button", "aria-label": `${name}: show this column`, tabindex: 0 });
    handle.append(shape("title", {}, name));
    onPress(handle, () => this.actions.choose(column));
    group.append(frame, head, title, handle);
    /** @type {Card} */
    const card = { group, head, lines: [], curve: null, mark: null, words: null, box };
    if (states) this.states(card, column, width);
    else this.density(card, column, width);
    this.cards.set(column, card);
    return group;
  }

  /** @param {Card} card @param {number} column @param {number} width */
  states(card, column, width) {
    const { states = [], name } = this.columns[column];
    const shown = states.slice(0, STATES);
    shown.forEach((_, state) => {
      const y = HEAD + 2 + state * STATE;
      const bar = shape("rect", { class: "x-bar", x: 6, y: y + 2, width: 0, height: STATE - 4 });
      const share = shape("text", { class: "x-share", x: width - 6, y: y + 13, "text-anchor": "end" });
      const group = shape("g", { class: "x-state", role: "button", "aria-pressed": "false", tabindex: state === 0 ? 0 : -1 },
        shape("rect", { class: "x-hit", x: 3, y, width: width - 6, height: STATE }), bar, label(stateLabel(this.columns[column], state), width - 62, { x: 10, y: y + 13 }), share);
      onPress(group, (event) => (event.shiftKey ? this.actions.exclude(column, state) : this.actions.set(column, state)));
      group.addEventListener("keydown", (event) => this.walk(/** @type {KeyboardEvent} */ (event), card, state));
      card.lines.push({ group, bar, share, state });
      card.group.append(group);
    });
    if (states.length > shown.length) {
      const y = HEAD + 2 + STATES * STATE;
      const more = shape("text", { class: "x-more", x: 10, y: y + 13, role: "button", tabindex: 0, "aria-label": `${name}: show all ${states.length} states` }, `… ${states.length - shown.length} more`);
      onPress(more, () => this.actions.choose(column));
      card.group.append(more);
    }
  }

  /** Arrow keys go from state to state, Delete and x exclude. @param {KeyboardEvent} event @param {Card} card @param {number} state */
  walk(event, card, state) {
    const to = { ArrowDown: state + 1, ArrowUp: state - 1, Home: 0, End: card.lines.length - 1 }[event.key];
    if (to === undefined || !card.lines[to]) return;
    event.preventDefault();
    card.lines.forEach((line, k) => line.group.setAttribute("tabindex", k === to ? "0" : "-1"));
    card.lines[to].group.focus();
  }

  /** @param {Card} card @param {number} column @param {number} width */
  density(card, column, width) {
    card.curve = shape("path", { class: "x-curve" });
    card.mark = shape("path", { class: "x-mark" });
    card.words = shape("text", { class: "x-share", x: 8, y: HEAD + 13 });
    const hit = shape("rect", { class: "x-hit", x: 3, y: HEAD, width: width - 6, height: DENSITY - 4 });
    hit.addEventListener("click", () => this.actions.choose(column));
    card.group.append(hit, card.curve, card.mark, card.words);
  }

  /** Shows what is believed. @param {Beliefs} beliefs @param {Map<number, Finding>} known */
  update(beliefs, known) {
    const k = beliefs.classes.length;
    const most = Math.max(1e-12, ...beliefs.next.map((v) => v || 0));
    for (const [column, card] of this.cards) {
      const finding = known.get(column);
      card.group.classList.toggle("known", finding !== undefined);
      card.group.classList.toggle("chosen", column === this.chosen);
      const tells = column === 0 ? 0 : (beliefs.next[column] || 0) / most;
      card.head.setAttribute("fill-opacity", (0.55 * tells).toFixed(3));
      const belief = beliefs.columns[column];
      if (this.columns[column].states) this.updateStates(card, column === 0 ? beliefs.classes : belief && belief.joint ? overClasses(belief.joint, k) : null, finding);
      else this.updateDensity(card, column, belief, finding, k);
    }
    this.dots.forEach((dots, column) => dots.forEach((dot) => dot.classList.toggle("known", known.has(column))));
  }

  /** @param {Card} card @param {number[] | null} shares @param {Finding | undefined} finding */
  updateStates(card, shares, finding) {
    const set = settledState(finding);
    const room = card.box[2] - 12;
    for (const { group, bar, share, state } of card.lines) {
      const p = shares ? shares[state] : state === set ? 1 : 0;
      const isOut = finding !== undefined && "states" in finding && finding.states[state] === 0 && set < 0;
      bar.setAttribute("width", (room * p).toFixed(2));
      share.textContent = shares || state === set ? percentOf(p) : "";
      group.setAttribute("aria-pressed", String(state === set));
      group.classList.toggle("set", state === set);
      group.classList.toggle("out", isOut);
      group.setAttribute("aria-label", `${this.stateName(card, state)}${shares ? `, ${percentOf(p)}` : ""}${isOut ? ", excluded" : ""}`);
    }
  }

  /** @param {Card} card @param {number} state */
  stateName(card, state) {
    const column = Array.from(this.cards.keys()).find((c) => this.cards.get(c) === card) || 0;
    return `${this.columns[column].name} ${stateLabel(this.columns[column], state)}`;
  }

  /** @param {Card} card @param {number} column @param {Belief | null} belief @param {Finding | undefined} finding @param {number} k */
  updateDensity(card, column, belief, finding, k) {
    if (!card.curve || !card.mark || !card.words) return;
    const ends = endsOf(this.prior[column] || belief, this.columns[column].range);
    const x = (/** @type {number} */ v) => 8 + ((card.box[2] - 16) * (Math.min(Math.max(v, ends[0]), ends[1]) - ends[0])) / (ends[1] - ends[0]);
    const low = HEAD + DENSITY - 6;
    const value = finding && "value" in finding ? finding.value : null;
    const points = value === null && belief ? curveOf(belief, k, ends, null).filter(([u]) => u >= ends[0] && u <= ends[1]) : [];
    const top = Math.max(1e-300, ...points.map(([, v]) => v));
    card.curve.setAttribute("d", points.length ? linePath(points, x, (v) => low - ((DENSITY - 26) * v) / top) + `V${low}H${x(points[0][0]).toFixed(1)}Z` : "");
    card.mark.setAttribute("d", `M8 ${low}H${card.box[2] - 8}` + (value === null ? "" : `M${x(value).toFixed(1)} ${HEAD + 20}V${low}`));
    const moments = belief && value === null ? momentsOf(belief, k) : null;
    card.words.textContent = value !== null ? `= ${shortNumber(value)}` : moments ? `${shortNumber(moments.mean)} ± ${shortNumber(moments.sd)}` : "";
  }
}

/** Click, Enter and Space. @param {Element} target @param {(event: MouseEvent | KeyboardEvent) => void} act */
export function onPress(target, act) {
  target.addEventListener("click", (event) => act(/** @type {MouseEvent} */ (event)));
  target.addEventListener("keydown", (event) => {
    const { key } = /** @type {KeyboardEvent} */ (event);
    if (key !== "Enter" && key !== " ") return;
    event.preventDefault();
    act(/** @type {KeyboardEvent} */ (event));
  });
}
