// node e2e/conformance/gateway.mjs [--upstream modern|legacy] [--transport http|stdio] [--revision R] [--only regex] [--json]
// Tests the gateway with MCP's own conformance program, the referee. The server behind the gateway has everything
// that the scenarios need, in both eras and over both transports. `--direct` tests that server without the gateway.
import { parseArgs } from 'node:util';
import { installReferee, listScenarios, runScenario } from './referee.mjs';
import { failsTheRun, linesOf, playAll, summaryOf } from './report.mjs';
import { serveGateway, serveUpstream } from './serving.mjs';

/**
 * @typedef {import('./referee.mjs').Scenario} Scenario
 * @typedef {import('./serving.mjs').Serving} Serving
 * @typedef {{ heading: string, title: string, plan: Scenario[], serve: () => Promise<Serving> }} Leg
 */

const REVISIONS = ['2025-11-25', '2026-07-28'];
const NEWEST = '2026-07-28';
const ERAS = /** @type {const} */ (['modern', 'legacy']);
const TRANSPORTS = /** @type {const} */ (['http', 'stdio']);
const AT_ONCE = 2;
/** The referee cannot test these yet, and skips them for every server. */
const NEVER_PLAYED = 'tasks-status-notifications';
/**
 * Scenarios of the modern era that no gateway can pass in front of a legacy server.
 * @type {Readonly<Record<string, import('./referee.mjs').Impossible>>}
 */
const IMPOSSIBLE_BEFORE_LEGACY = {
  'input-required-result-basic-elicitation': {
    problem: 'inputRequests missing expected key "user_name"',
    reason:
      'a question of the older era has no name of its own, and the referee looks for the one that its fixture gives it',
  },
};

const options = readOptions();
/** @param {string} line */
const print = (line) => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);

try {
  const referee = await installReferee(print);
  const legs = (await planLegs(referee)).filter(({ plan }) => plan.length > 0);
  if (legs.length === 0) throw new Error(`No server scenario matches ${options.only}.`);
  const verdicts = [];
  const summaries = [];
  for (const leg of legs) {
    print(`\n${leg.heading}`);
    const played = await playLeg(referee, leg);
    const [, ...summary] = summaryOf(leg.title, played);
    for (const line of summary) print(line);
    summaries.push(`${leg.heading} ${summary.at(-1)}`);
    verdicts.push(...played.map((verdict) => ({ leg: leg.heading, ...verdict })));
  }
  if (legs.length > 1) for (const line of ['', ...summaries]) print(line);
  if (options.json) process.stdout.write(`${JSON.stringify(verdicts, null, 2)}\n`);
  if (verdicts.some(failsTheRun)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

/**
 * @param {import('./referee.mjs').Referee} referee
 * @returns {Promise<Leg[]>}
 */
async function planLegs(referee) {
  const listed = new Map(
    await Promise.all(
      REVISIONS.map(async (revision) => {
        const all = await listScenarios(referee, 'server', revision);
        const plan = all.filter(({ name }) => options.only.test(name));
        return /** @type {const} */ ([revision, plan]);
      }),
    ),
  );
  /** @type {(heading: string, serve: Leg['serve']) => Leg[]} */
  const ofRevisions = (heading, serve) =>
    options.revisions.map((revision) => {
      const plan = (listed.get(revision) ?? []).filter(({ isExtension }) => !isExtension);
      return { heading, title: `server ${revision}`, plan, serve };
    });
  const tasks = (listed.get(NEWEST) ?? [])
    .filter(({ name }) => name.startsWith('tasks-') && name !== NEVER_PLAYED)
    .map((scenario) => ({ ...scenario, required: true }));
  /** @type {(heading: string, serve: Leg['serve']) => Leg[]} */
  const ofTasks = (heading, serve) =>
    options.revisions.includes(NEWEST)
      ? [{ heading, title: `server ${NEWEST} tasks`, plan: tasks, serve }]
      : [];
  if (options.direct) {
    const serve = () => serveUpstream('both');
    return [...ofRevisions('The server alone:', serve), ...ofTasks('The server alone:', serve)];
  }
  return options.eras.flatMap((era) =>
    options.transports.flatMap((transport) => {
      const heading = `Gateway before a ${era} server over ${transport}:`;
      const serve = () => serveGateway(era, transport);
      const own = ofRevisions(heading, serve);
      return era === 'modern' ? [...own, ...ofTasks(heading, serve)] : own.map(markImpossible);
    }),
  );
}

/**
 * @param {Leg} leg
 * @returns {Leg}
 */
function markImpossible(leg) {
  const plan = leg.plan.map((scenario) => {
    const impossible = scenario.revision === NEWEST ? IMPOSSIBLE_BEFORE_LEGACY[scenario.name] : undefined;
    return impossible === undefined ? scenario : { ...scenario, impossible };
  });
  return { ...leg, plan };
}

/**
 * Scenarios that run at the same time each have their own server: some change its lists.
 * @param {import('./referee.mjs').Referee} referee
 * @param {Leg} leg
 */
async function playLeg(referee, { plan, serve }) {
  const servings = await Promise.all(Array.from({ length: Math.min(AT_ONCE, plan.length) }, serve));
  try {
    return await playAll(plan, servings, async (scenario, { url }) => {
      const verdict = await runScenario(referee, scenario, { url });
      for (const line of linesOf(verdict)) print(line);
      return verdict;
    });
  } finally {
    await Promise.all(servings.map((serving) => serving.close()));
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        upstream: { type: 'string' },
        transport: { type: 'string' },
        revision: { type: 'string' },
        only: { type: 'string', default: '' },
        direct: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    });
    return {
      eras: choose('--upstream', ERAS, values.upstream),
      transports: choose('--transport', TRANSPORTS, values.transport),
      revisions: choose('--revision', REVISIONS, values.revision),
      only: new RegExp(values.only),
      direct: values.direct,
      json: values.json,
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(2);
  }
}

/**
 * The requested choice, or all of them.
 * @template {string} Choice
 * @param {string} name
 * @param {readonly Choice[]} choices
 * @param {string | undefined} wanted
 */
function choose(name, choices, wanted) {
  if (wanted === undefined) return choices;
  const chosen = choices.filter((choice) => choice === wanted);
  if (chosen.length === 0) throw new Error(`${name} is one of ${choices.join(', ')}.`);
  return chosen;
}
