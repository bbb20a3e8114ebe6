// The cost of a decision with many rules: every kind of rule, and only the last one matches.
import { join } from 'node:path';
import { calm } from '../harness/calm.mjs';
import { median } from '../harness/statistics.mjs';
import { ours } from '../subjects.mjs';

const ruleCount = 1_000;
const serverCount = 50;
const toolCount = 20;
const blockCount = 100;
const perBlock = 100;

const serverName = (index) => `server${index % serverCount}`;

/** Rules of all kinds, for all servers, that do not match the calls below; the last one matches everything. */
function mixedRules() {
  const kinds = [
    (index) => ({ action: 'deny', server: serverName(index), tool: `gone_${index}` }),
    (index) => ({ action: 'allow', server: serverName(index), tool: 'tool*', caller: `agent-${index}` }),
    (index) => ({ action: 'ask', server: 'server*', tool: `*_${index}` }),
    () => ({ action: 'deny', annotations: { readOnly: true }, trusted: true }),
    (index) => ({ action: 'deny', tool: 'tool*', arguments: { path: `/srv/${index}/**` } }),
    (index) => ({ action: 'allow', scope: 'project', tool: [`a${index}*`, `b${index}*`] }),
  ];
  const rules = Array.from({ length: ruleCount - 1 }, (_, index) => kinds[index % kinds.length]?.(index));
  return [...rules, { action: 'allow' }];
}

/** The slowest kind: each rule checks the arguments of every call. */
function argumentRules() {
  const rules = Array.from({ length: ruleCount - 1 }, (_, index) => ({
    action: 'allow',
    arguments: { path: `/srv/${index}/**/*.txt` },
  }));
  return [...rules, { action: 'allow' }];
}

/**
 * The median of short blocks, which are rarely interrupted by other work.
 * @param {import('turnbuckle').Runtime} runtime
 */
function timeDecisions(runtime) {
  const caller = { id: 'agent', capabilities: ['mcp_integration'] };
  const calls = Array.from({ length: serverCount * toolCount }, (_, index) => ({
    server: serverName(index),
    tool: `tool${Math.floor(index / serverCount)}`,
    arguments: { path: `/home/me/project/file-${index}.txt`, mode: 'r' },
    caller,
  }));
  const blocks = Array.from({ length: blockCount }, (_, block) => {
    const start = performance.now();
    for (let index = 0; index < perBlock; index++) {
      const { action, rule } = runtime.decide(calls[(block * perBlock + index) % calls.length]);
      if (action !== 'allow' || rule?.index !== ruleCount - 1) throw new Error(`decided ${action}`);
    }
    return ((performance.now() - start) * 1_000) / perBlock;
  });
  return median(blocks);
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runRules(context) {
  const sets = { 'rules-decision': mixedRules, 'rules-arguments': argumentRules };
  for (const [figure, makeRules] of Object.entries(sets)) {
    if (!context.wants(figure)) continue;
    context.note(figure);
    try {
      const { createRuntime } = await import('turnbuckle');
      const names = Array.from({ length: serverCount }, (_, index) => serverName(index));
      const servers = Object.fromEntries(names.map((name) => [name, { command: 'node', start: 'lazy' }]));
      const stateDir = join(context.scratchDirectory, 'rules-state');
      const runtime = await createRuntime({ stateDir, servers, rules: makeRules() });
      timeDecisions(runtime); // warms up
      for (let round = 0; round < context.rounds; round++) {
        await calm();
        context.measurements.record({ figure, subject: ours.id, round, value: timeDecisions(runtime) });
      }
      await runtime.close();
    } catch (error) {
      context.measurements.fail({ figure, subject: ours.id, error });
    }
  }
}
