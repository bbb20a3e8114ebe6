// node e2e/conformance/run.mjs [client] [--revision R] [--only regex] [--lane express|sdk] [--json]
// Puts a client built on turnbuckle before the protocol's own referee, scenario by scenario.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clientScenarios, installReferee, runScenario } from './referee.mjs';

/** @typedef {import('./referee.mjs').Verdict} Verdict */

const REVISIONS = ['2025-11-25', '2026-07-28'];
const AT_ONCE = 2;

const options = readOptions();
/** @param {string} line */
const say = (line) => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);

try {
  const referee = await installReferee(say);
  const legs = await Promise.all(options.revisions.map((revision) => clientScenarios(referee, revision)));
  const plan = legs.flat().filter((scenario) => options.only.test(scenario.name));
  if (plan.length === 0) throw new Error(`No client scenario matches ${options.only}.`);
  /** @type {Verdict[]} */
  const verdicts = [];
  const queue = [...plan];
  const worker = async () => {
    for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift()) {
      const verdict = await runScenario(referee, scenario, options.command);
      verdicts.push(verdict);
      report(verdict);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const revision of options.revisions)
    summarize(
      revision,
      verdicts.filter((each) => each.revision === revision),
    );
  if (options.json) process.stdout.write(`${JSON.stringify(verdicts, null, 2)}\n`);
  if (verdicts.some(failsTheRun)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

/** @param {Verdict} verdict */
function failsTheRun(verdict) {
  return verdict.required && !verdict.passed;
}

/**
 * A scenario whose checks were all skipped was never played: the referee lets it pass, we do not count it.
 * @param {Verdict} verdict
 */
function word(verdict) {
  if (verdict.passed) return 'ok';
  return verdict.required || verdict.problems.length > 0 ? 'FAIL' : 'unused';
}

/** @param {Verdict} verdict */
function report(verdict) {
  const { name, revision, required, checks, seconds } = verdict;
  const counted = `${checks.passed} passed, ${checks.failed} failed, ${checks.warned} warned, ${seconds.toFixed(1)} s`;
  say(`${word(verdict).padEnd(7)} ${revision} ${required ? 'required' : 'optional'} ${name} (${counted})`);
  if (word(verdict) !== 'FAIL') return;
  for (const problem of verdict.problems) say(`        ${problem.replaceAll('\n', '\n        ')}`);
}

/**
 * @param {string} revision
 * @param {Verdict[]} verdicts
 */
function summarize(revision, verdicts) {
  if (verdicts.length === 0) return;
  /** @param {Verdict[]} group */
  const share = (group) => `${group.filter((verdict) => verdict.passed).length}/${group.length}`;
  const required = share(verdicts.filter((verdict) => verdict.required));
  const optional = share(verdicts.filter((verdict) => !verdict.required));
  say('');
  for (const outcome of ['unused', 'FAIL']) {
    const names = verdicts.filter((verdict) => word(verdict) === outcome).map((verdict) => verdict.name);
    if (names.length > 0) say(`${outcome} (${names.length}): ${names.sort().join(', ')}`);
  }
  say(`client ${revision}: required ${required}, optional ${optional}`);
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        revision: { type: 'string' },
        only: { type: 'string', default: '' },
        lane: { type: 'string', default: 'express' },
        // Another client program in the place of ours, to see what the referee says of it.
        program: { type: 'string', default: fileURLToPath(new URL('client.mjs', import.meta.url)) },
        json: { type: 'boolean', default: false },
      },
    });
    if (positionals.some((leg) => leg !== 'client')) throw new Error('The only leg is "client".');
    if (values.revision !== undefined && !REVISIONS.includes(values.revision)) {
      throw new Error(`--revision is one of ${REVISIONS.join(', ')}.`);
    }
    if (values.lane !== 'express' && values.lane !== 'sdk') throw new Error('--lane is express or sdk.');
    return {
      revisions: values.revision === undefined ? REVISIONS : [values.revision],
      only: new RegExp(values.only),
      command: `"${process.execPath}" "${values.program}" --lane ${values.lane}`,
      json: values.json,
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(2);
  }
}
