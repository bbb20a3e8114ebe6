// Formats the verdicts of the referee, for client and server tests.

/**
 * @typedef {import('./referee.mjs').Scenario} Scenario
 * @typedef {import('./referee.mjs').Verdict} Verdict
 */

/**
 * The scenario cannot pass in this setup, and failed for the known reason. It counts as not passed, and the summary names it.
 * @param {Verdict} verdict
 */
const isImpossible = ({ impossible, passed, problems }) =>
  impossible !== undefined &&
  !passed &&
  problems.length > 0 &&
  problems.every((problem) => problem.includes(impossible.problem));

/**
 * An "impossible" scenario that passes fails the run too: it must be removed from the list.
 * @param {Verdict} verdict
 */
export const failsTheRun = (verdict) =>
  verdict.impossible === undefined ? verdict.required && !verdict.passed : !isImpossible(verdict);

/**
 * A scenario whose checks were all skipped did not run: the referee passes it, but it is not counted here.
 * @param {Verdict} verdict
 */
function word(verdict) {
  if (isImpossible(verdict)) return 'cannot';
  if (verdict.impossible !== undefined) return 'FAIL';
  if (verdict.passed) return 'ok';
  return verdict.required || verdict.problems.length > 0 ? 'FAIL' : 'unused';
}

/**
 * The line of a scenario, followed by its problems.
 * @param {Verdict} verdict
 */
export function linesOf(verdict) {
  const { name, revision, required, checks, seconds } = verdict;
  const counted = `${checks.passed} passed, ${checks.failed} failed, ${checks.warned} warned, ${seconds.toFixed(1)} s`;
  const line = `${word(verdict).padEnd(7)} ${revision} ${required ? 'required' : 'optional'} ${name} (${counted})`;
  if (isImpossible(verdict)) return [line, `        ${verdict.impossible?.reason}`];
  if (word(verdict) !== 'FAIL') return [line];
  if (verdict.passed) return [line, '        it passes here now: take it off the list of what cannot'];
  return [line, ...verdict.problems.map((problem) => `        ${problem.replaceAll('\n', '\n        ')}`)];
}

/**
 * @param {string} title
 * @param {Verdict[]} verdicts
 */
export function summaryOf(title, verdicts) {
  /** @param {Verdict[]} group */
  const share = (group) => `${group.filter((verdict) => verdict.passed).length}/${group.length}`;
  const optional = verdicts.filter((verdict) => !verdict.required);
  const lines = [''];
  for (const outcome of ['unused', 'FAIL']) {
    const names = verdicts.filter((verdict) => word(verdict) === outcome).map((verdict) => verdict.name);
    if (names.length > 0) lines.push(`${outcome} (${names.length}): ${names.sort().join(', ')}`);
  }
  const required = share(verdicts.filter((verdict) => verdict.required));
  const impossible = verdicts.filter(isImpossible).map(({ name }) => name);
  const cannot = impossible.length > 0 ? ` (cannot pass there: ${impossible.sort().join(', ')})` : '';
  lines.push(
    `${title}: required ${required}${cannot}${optional.length > 0 ? `, optional ${share(optional)}` : ''}`,
  );
  return lines;
}

/**
 * Runs the scenarios in order, as many at once as there are players.
 * @template Player
 * @param {readonly Scenario[]} plan
 * @param {readonly Player[]} players
 * @param {(scenario: Scenario, player: Player) => Promise<Verdict>} play
 * @returns {Promise<Verdict[]>}
 */
export async function playAll(plan, players, play) {
  const queue = [...plan];
  /** @type {Verdict[]} */
  const verdicts = [];
  await Promise.all(
    players.map(async (player) => {
      for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift())
        verdicts.push(await play(scenario, player));
    }),
  );
  return verdicts;
}
