// @ts-check
// The engine in the page: programs that Rust compiled, evaluated here.

import { DensityModel } from "./density.js";
import { DiscreteModel } from "./discrete.js";
import { likelihoodOf } from "./findings.js";
import { GaussianModel } from "./gaussian.js";
import { logSumExp, toProbabilities, withLikelihood } from "./numbers.js";

/**
 * What every kind of program can do.
 * @typedef {import("../types.d.ts").Finding} KnownFinding
 * @typedef {import("../types.d.ts").Engine} Engine
 * @typedef {import("../types.d.ts").ClassAnswer} ClassAnswer
 * @typedef {object} LocalModel
 * @property {(known: KnownFinding[]) => { calibrated: Float64Array, joint: Float64Array | null }} classScores
 * @property {(known: KnownFinding[], about: number) => import("../types.d.ts").Beliefs} beliefs
 */

/** @param {any} program @returns {LocalModel} */
function modelOf(program) {
  switch (program.kind) {
    case "discrete": return new DiscreteModel(program);
    case "density": return new DensityModel(program);
    case "gaussian": return new GaussianModel(program);
    default: throw new Error(`a program of kind ${program.kind} cannot be evaluated`);
  }
}

/** As in `predict`, findings that are impossible together say nothing. @param {LocalModel} model @param {KnownFinding[]} known @returns {ClassAnswer} */
function classesOf(model, known) {
  const ofClass = likelihoodOf(known, 0);
  const { calibrated, joint } = model.classScores(known);
  const classes = withLikelihood(calibrated, ofClass);
  if (toProbabilities(classes) === -Infinity) return { classes: classesOf(model, []).classes, logEvidence: null };
  return { classes: Array.from(classes), logEvidence: joint ? logSumExp(withLikelihood(joint, ofClass)) : null };
}

/** @param {any} program @returns {Engine} */
export function localEngine(program) {
  const model = modelOf(program);
  return {
    beliefs: async (known, about) => model.beliefs(known, about),
    classes: async (sets) => sets.map((known) => classesOf(model, known)),
  };
}
