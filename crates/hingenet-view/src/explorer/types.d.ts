// What the parts of the explorer say to each other. Checked by TypeScript, not part of the page.

/** The class (column 0) or a feature. */
export interface Column {
  name: string;
  /** Names of the states; a number has none. */
  states?: string[];
  /** Where numbers are cut into these states; a cut belongs to the interval below it. */
  cuts?: number[];
  /** Smallest and largest number of the training rows. */
  range?: [number, number];
  /** What its table rests on: training rows behind its lines, and cells that no training row had. */
  support?: { fewest: number; most: number; unseen: number; cells: number };
}

/** What is known of a column: a likelihood for each of its states, or its value where it is a number to the model. */
export type Finding = { column: number; states: number[] } | { column: number; value: number };

/**
 * What is believed of a column, always with the class.
 * States: `P(state, class)`, one number a class, state by state.
 * A number of a mixture: `[class, weight, mean, deviation]` of its normal distributions; the weights add up to 1.
 * A number on a grid: its points and the mass at each of them, one number a class, point by point.
 */
export type Belief = { joint: number[]; at?: undefined; normals?: undefined } | { normals: number[][]; joint?: undefined; at?: undefined }
  | { at: number[]; joint: number[]; normals?: undefined };

export interface Beliefs {
  /** `P(class | known)`. */
  classes: number[];
  /** Logarithm of the probability of everything known; null where a model has none. */
  logEvidence: number | null;
  /** Above 0 where what is known fits together worse than if it were independent. */
  conflict: number | null;
  /** By column; null for the class and where a model does not tell. */
  columns: (Belief | null)[];
  /** What measuring a column tells about the column asked for, in nats; null for known columns and where a model does not tell. */
  next: (number | null)[];
}

export interface ClassAnswer {
  classes: number[];
  logEvidence: number | null;
}

/** What answers questions: arrays in the page, or the program that serves it. */
export interface Engine {
  beliefs(known: Finding[], about: number): Promise<Beliefs>;
  classes(sets: Finding[][]): Promise<ClassAnswer[]>;
}

export interface Facts {
  model: string;
  target: string;
  columns: Column[];
  /** Whether the model has beliefs about columns, not only about the class. */
  tells_columns: boolean;
  /** The log margin that training asked of every row, on the scale of the probabilities. */
  margin: number | null;
  rows: number;
  seed: number;
  warnings: string[];
  /** What a missing cell looks like in a file. */
  missing: string[];
}

/** A network as it stands in the page: where nodes are, and what joins them. */
export interface Picture {
  title: string;
  /** What the strength of an arc measures. */
  unit: string | null;
  directed: boolean;
  /** `[from, to, strength]`. */
  arcs: [number, number, number][];
}

/** A weight in which the network of a class differs from that of another by more than chance. */
export interface Difference {
  first: string;
  second: string;
  from: string;
  to: string;
  weight_first: number;
  weight_second: number;
  /** Second minus first, in standard errors. */
  z: number;
  /** Share of half samples that show the same. */
  support: number;
}

/** Everything the page is given. */
export interface Given {
  facts: Facts;
  pictures: Picture[];
  /** `[centre, middle, width, height]` of the card of every column. */
  places: [number, number, number, number][];
  size: [number, number];
  /** Where the features are, x to the right, y upwards or to the front, z upwards; null without coordinates. */
  coordinates: [number, number, number | null][] | null;
  /** Rows to pick from: states, numbers or null, column by column. */
  rows: { columns: (number | null)[][]; total: number } | null;
  /** How the networks of the classes differ, and how many differences chance gives; null if they were not compared. */
  differences: { found: Difference[]; expected: number } | null;
  program: unknown | null;
  server: { token: string } | null;
}
