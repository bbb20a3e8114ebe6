// node e2e/conformance/run.mjs [client] [--revision R] [--only regex] [--lane express|sdk] [--json]
// Tests a client built on turnbuckle with MCP's own conformance program, the referee, scenario by scenario.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installReferee, listScenarios, runScenario } from './referee.mjs';
import { failsTheRun, linesOf, playAll, summaryOf } from './report.mjs';

const REVISIONS = ['2025-11-25', '2026-07-28'];
const AT_ONCE = 2;

const options = readOptions();
/** @param {string} line */
const print = (line) => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);

try {
  const referee = await installReferee(print);
  const legs = await Promise.all(
    options.revisions.map((revision) => listScenarios(referee, 'client', revision)),
  );
  const plan = legs.flat().filter((scenario) => options.only.test(scenario.name));
  if (plan.length === 0) throw new Error(`No client scenario matches ${options.only}.`);
  const verdicts = await playAll(plan, Array.from({ length: AT_ONCE }), async (scenario) => {
    const verdict = await runScenario(referee, scenario, { command: options.command });
    for (const line of linesOf(verdict)) print(line);
    return verdict;
  });
  for (const revision of options.revisions) {
    const own = verdicts.filter((verdict) => verdict.revision === revision);
    if (own.length > 0) for (const line of summaryOf(`client ${revision}`, own)) print(line);
  }
  if (options.json) process.stdout.write(`${JSON.stringify(verdicts, null, 2)}\n`);
  if (verdicts.some(failsTheRun)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        revision: { type: 'string' },
        only: { type: 'string', default: '' },
        lane: { type: 'string', default: 'express' },
        // Another client program instead of ours, to compare verdicts.
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
