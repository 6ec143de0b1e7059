// @ts-check
// The engine of a page that a program serves: every question goes to the program, one at a time.

/** @typedef {import("../types.d.ts").Engine} Engine */
/** @typedef {{ question: object, settled: Promise<any>, resolve: (answer: any) => void, reject: (error: Error) => void }} Task */

/**
 * Clicks may come faster than answers. Of the beliefs that have not been asked for yet only the newest are, before anything else,
 * and whoever waits for older ones gets these; class probabilities are all asked for, in turn.
 * @param {{ token: string }} server
 * @returns {Engine}
 */
export function remoteEngine(server) {
  /** @type {Task | null} */
  let beliefs = null;
  /** @type {Task[]} */
  const classes = [];
  let isAsking = false;

  async function work() {
    if (isAsking) return;
    isAsking = true;
    for (let next = take(); next; next = take()) {
      await askServer(next.question, server.token).then(next.resolve, next.reject);
    }
    isAsking = false;
  }

  /** @returns {Task | undefined} */
  function take() {
    const next = beliefs ?? classes.shift();
    if (next === beliefs) beliefs = null;
    return next;
  }

  return {
    beliefs(known, about) {
      const question = { beliefs: { known, about } };
      if (beliefs) beliefs.question = question;
      else beliefs = taskOf(question);
      const { settled } = beliefs;
      work();
      return settled;
    },
    classes(sets) {
      const task = taskOf({ classes: { sets } });
      classes.push(task);
      work();
      return task.settled;
    },
  };
}

/**
 * @param {object} question
 * @returns {Task}
 */
function taskOf(question) {
  const task = /** @type {Task} */ ({ question });
  task.settled = new Promise((resolve, reject) => Object.assign(task, { resolve, reject }));
  return task;
}

/**
 * @param {object} question
 * @param {string} token
 * @returns {Promise<any>}
 */
async function askServer(question, token) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  const response = await fetch("/ask", { method: "POST", headers, body: JSON.stringify(question) }).catch(() => {
    throw new Error("the program behind this page has ended; start it again");
  });
  if (!response.ok) throw new Error(await response.text());
  const answer = await response.json();
  if ("error" in answer) throw new Error(answer.error);
  return answer;
}
