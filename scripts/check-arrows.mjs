// Checks the direction of imports (docs/architecture.md). Fails on an import from a folder that is not on a lower level,
// on a cycle (including type imports), on a file that belongs to no level, and if it found no files.
import { cruise } from 'dependency-cruiser';

/** The levels of each package, from the bottom up: a folder may import from itself and from the levels below it. */
const LEVELS = {
  core: [
    ['errors.ts'],
    ['async/'],
    ['json/'],
    ['adapters/', 'events.ts', 'fetching/', 'telemetry/', 'text/'],
    ['energy/', 'files/', 'redaction/', 'resilience/'],
    ['config/', 'vault/'],
    ['auth/', 'policy/'],
    ['connection/'],
    ['catalog/'],
    ['approvals/', 'servers/'],
    ['calls/'],
    ['runtime/'],
    ['host/', 'index.ts'],
  ],
  store: [['']],
  gateway: [
    ['identity/'],
    ['instance/'],
    ['log/', 'telemetry/'],
    ['http/'],
    ['tokens/'],
    ['energy/', 'incidents/', 'metrics/'],
    ['parts/'],
    ['mcp/'],
    ['bridge/'],
    ['api/'],
    ['daemon/'],
    ['index.ts'],
  ],
  steward: [
    ['requests/'],
    ['install/', 'quarantine/', 'queue/', 'registry/'],
    ['workers/'],
    ['work/'],
    ['daemon/'],
    ['index.ts'],
  ],
  model: [
    [
      'bounded-fetch.ts',
      'chat-model.ts',
      'fill-in-key.ts',
      'mark-data.ts',
      'model-error.ts',
      'scripted-server.ts',
    ],
    ['ai-sdk-model.ts'],
    ['index.ts'],
  ],
  agent: [['settings/'], ['energy/'], ['conversations/'], ['loop/'], ['daemon/'], ['index.ts']],
  cli: [
    ['version.ts', 'launch/', 'terminal/'],
    ['command.ts'],
    ['command-line/'],
    ['approvals/'],
    ['session/'],
    ['calls/', 'history/', 'imports/', 'undo/'],
    ['daemon/', 'rules/', 'setup/'],
    ['chat/', 'serve/', 'steward/'],
    ['commands/'],
    ['command-table/'],
    ['commands.ts', 'help.ts'],
    ['main.ts'],
    ['bin.ts'],
  ],
};
/** Each package may import those before it. */
const PACKAGES = ['core', 'store', 'gateway', 'model', 'steward', 'agent', 'cli'];
/** Folders of core that only compute: no SDK, no Node built-ins. */
const PURE = [
  'adapters/',
  'async/',
  'catalog/names',
  'config/schema/',
  'connection/state',
  'energy/',
  'policy/',
  'resilience/',
  'text/',
];

const inPackage = (name, folder = '') => `^packages/${name}/src/${folder}`;

const levelRules = Object.entries(LEVELS).flatMap(([name, levels]) =>
  levels.flatMap((folders, level) =>
    folders.map((folder) => ({
      name: `${name}/${folder} imports only from below`,
      severity: 'error',
      from: { path: inPackage(name, folder) },
      to: {
        path: inPackage(name),
        pathNot: [...levels.slice(0, level).flat(), folder].map((below) => inPackage(name, below)),
      },
    })),
  ),
);
const packageRules = PACKAGES.map((name, place) => ({
  name: `${name} imports only from the packages before it`,
  severity: 'error',
  from: { path: inPackage(name) },
  to: {
    path: '^(packages|testing|bench|e2e|examples|scripts)/',
    pathNot: PACKAGES.slice(0, place + 1).map((one) => inPackage(one)),
  },
}));
/** A path into another package works in the sources, but not in what is published. */
const nameRules = PACKAGES.map((name) => ({
  name: `${name} imports another package by its name`,
  severity: 'error',
  from: { path: inPackage(name) },
  to: { path: '^packages/', pathNot: [inPackage(name)], dependencyTypes: ['local'] },
}));

const forbidden = [
  { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
  ...levelRules,
  ...packageRules,
  ...nameRules,
  {
    name: 'pure modules use no SDK',
    severity: 'error',
    from: { path: PURE.map((folder) => inPackage('core', folder)) },
    to: { path: ['@modelcontextprotocol'] },
  },
  {
    name: 'pure modules use no Node built-ins',
    severity: 'error',
    from: { path: PURE.map((folder) => inPackage('core', folder)) },
    to: { dependencyTypes: ['core'] },
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

const sources = output.modules
  .map(({ source }) => source)
  .filter((source) => /^packages\/[^/]+\/src\//.test(source));
const levelled = Object.entries(LEVELS).flatMap(([name, levels]) =>
  levels.flat().map((folder) => new RegExp(inPackage(name, folder))),
);
const [cycles, directions] = [true, false].map((inCycle) =>
  output.summary.violations.filter(({ cycle }) => (cycle !== undefined) === inCycle),
);
const faults = [
  ...(sources.length === 0 ? ['The import check looked at no module at all: its paths are wrong.'] : []),
  ...sources
    .filter((source) => !levelled.some((level) => level.test(source)))
    .map((source) => `${source} belongs to no level: name its folder in scripts/check-arrows.mjs.`),
  // An import in the wrong direction closes hundreds of cycles, which would hide it.
  ...(directions.length > 0 ? directions : cycles).map(
    ({ from, to, rule, cycle }) =>
      `${rule.name}: ${from} -> ${cycle ? cycle.map((step) => step.name).join(' -> ') : to}`,
  ),
];
for (const fault of faults) console.error(fault);
console.log(`Imports: ${sources.length} modules, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
