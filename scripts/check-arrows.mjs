// Which way imports may point (docs/architecture.md). Fails on a forbidden arrow, on a cycle (type imports
// included), and when it looked at nothing.
import { cruise } from 'dependency-cruiser';

const inCore = (room) => `^packages/core/src/${room}`;
/** From the bottom up: a room may import from rooms below it and from itself. */
const LEVELS = [
  ['errors.ts', 'is-record.ts', 'cancel-signal.ts', 'retryable-once.ts', 'text/'],
  ['json/'],
  ['events.ts'],
  ['config/', 'resilience/', 'fetching/'],
  ['auth/'],
  ['connection/', 'policy/'],
  ['catalog/', 'observe/'],
];
const PURE = [
  'policy/',
  'text/',
  'resilience/',
  'config/schema',
  'catalog/names',
  'catalog/hash',
  'connection/state',
  'adapters/',
];

const forbidden = [
  { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ...LEVELS.flatMap((lower, level) =>
    lower.map((room) => ({
      name: `${room} imports only from below`,
      severity: 'error',
      from: { path: inCore(room) },
      to: {
        path: '^packages/core/src/',
        pathNot: [...LEVELS.slice(0, level).flat(), room].map(inCore),
      },
    })),
  ),
  {
    name: 'adapters stand alone',
    severity: 'error',
    from: { path: inCore('adapters/') },
    to: { path: '^packages/core/src/', pathNot: inCore('adapters/') },
  },
  {
    name: 'pure modules use no SDK',
    severity: 'error',
    from: { path: PURE.map(inCore) },
    to: { path: ['@modelcontextprotocol'] },
  },
  {
    name: 'pure modules use no Node built-ins',
    severity: 'error',
    from: { path: PURE.map(inCore) },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'core knows no other package of ours',
    severity: 'error',
    from: { path: '^packages/core/' },
    to: { path: '^(packages/(?!core)|testing|bench|e2e)' },
  },
];

const { output } = await cruise(['packages'], {
  ruleSet: { forbidden },
  validate: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '(^|/)(dist|build|test|node_modules)/' },
  tsPreCompilationDeps: true,
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    conditionNames: ['turnbuckle-source', 'import', 'default'],
  },
});

const { violations } = output.summary;
const totalCruised = output.modules.filter(({ source }) => source.startsWith('packages/')).length;
if (totalCruised === 0) {
  console.error('The import check looked at no module at all: its paths are wrong.');
  process.exit(1);
}
for (const { from, to, rule, cycle } of violations) {
  console.error(`${rule.name}: ${from} -> ${cycle ? cycle.map((step) => step.name).join(' -> ') : to}`);
}
console.log(`Imports: ${totalCruised} modules, ${violations.length} violations`);
process.exit(violations.length === 0 ? 0 : 1);
