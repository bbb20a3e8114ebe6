// The command as a split bundle: a command loads only its own chunk, and the heavy parts when it needs them.
// CommonJS, because Node reads, links and starts it faster than modules; in few chunks, for the same reason.
import { createHash } from 'node:crypto';
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const OF_SDK = '?of-sdk';

/**
 * A second zod for the MCP SDK. With one for both, the little that the configuration needs would come in one chunk
 * with the much that the SDK needs, and every command would load it.
 * @type {import('rolldown').Plugin}
 */
const zodOfSdk = {
  name: 'zod of the SDK',
  async resolveId(path, importer, options) {
    const ofSdk = path.startsWith('.')
      ? importer?.endsWith(OF_SDK)
      : /^zod(\/|$)/.test(path) && importer?.includes('@modelcontextprotocol');
    if (!ofSdk) return null;
    const found = await this.resolve(path, importer?.replace(OF_SDK, ''), { ...options, skipSelf: true });
    return found && { ...found, id: found.id + OF_SDK };
  },
  load: (id) => (id.endsWith(OF_SDK) ? readFile(id.slice(0, -OF_SDK.length), 'utf8') : null),
};

const PLAIN_ASSERT = '\0plain-assert';

/**
 * An `assert` without words of its own. Node's reads and parses the file of whoever calls it, to show the line that did
 * not hold: of a bundle that takes half a second, in which nobody else is served, and a server can bring it about.
 * @type {import('rolldown').Plugin}
 */
const plainAssert = {
  name: 'plain assert',
  resolveId: (path, importer) =>
    path === 'node:assert' && importer?.includes('undici') ? PLAIN_ASSERT : null,
  load: (id) =>
    id === PLAIN_ASSERT
      ? `const assert = require('assert');
         const plain = (value, message = 'Something did not hold that should have') => assert(value, message);
         module.exports = Object.assign(plain, assert);`
      : null,
};

const EXTERNAL = ['bufferutil', 'utf-8-validate', '@napi-rs/keyring', '@opentelemetry/api', 'libsql'];

/** @type {import('rolldown').BuildOptions} */
const options = {
  input: { bin: at('src/bin.ts') },
  platform: 'node',
  preserveEntrySignatures: false,
  // jsonc-parser's main entry is a form that bundlers cannot follow.
  resolve: {
    conditionNames: ['turnbuckle-source', 'import', 'node', 'default'],
    mainFields: ['module', 'main'],
  },
  // The AI SDK does not work without the API of OpenTelemetry; for all others it is the host's, if there is one.
  external: (id, importer) =>
    EXTERNAL.includes(id) && !(id === '@opentelemetry/api' && /node_modules\/ai\//.test(importer ?? '')),
  transform: { target: 'node20' },
  plugins: [zodOfSdk, plainAssert],
  // Imports that are late in one place and early in another are meant so.
  checks: { ineffectiveDynamicImport: false },
};

/** The modules that loading this one loads: with a chunk for each module, what a chunk imports is what its module uses. */
function loadedWith(root, { output }) {
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const found = new Set([output.find(({ moduleIds = [] }) => moduleIds.includes(root)).fileName]);
  for (const name of found) for (const next of chunks.get(name)?.imports ?? []) found.add(next);
  return new Set([...found].flatMap((name) => chunks.get(name)?.moduleIds ?? []));
}

// Three chunks for what nearly every run needs: the table of commands, what it takes to have the daemon make a call,
// and what it takes to make one without it.
const split = await build({ ...options, write: false, output: { preserveModules: true } });
const table = loadedWith(at('src/bin.ts'), split);
const attached = loadedWith(at('src/commands/call.ts'), split);
const calls = loadedWith(at('src/calls/local-call.ts'), split);
const groupOf = (id) =>
  table.has(id) ? 'table' : attached.has(id) ? 'attached' : calls.has(id) ? 'calls' : null;

// The cache of compiled code keeps the last few builds apart.
const buildId = split.output.reduce((hash, { code = '' }) => hash.update(code), createHash('sha256'));
const transform = {
  ...options.transform,
  define: { BUILD_ID: JSON.stringify(buildId.digest('hex').slice(0, 16)) },
};

// Names of classes stand in errors and traces.
const minify = { compress: true, mangle: { keepNames: { class: true, function: false } } };

// Built beside and swapped in, so that a command that is running meanwhile never finds half of it.
await rm(at('dist.new'), { recursive: true, force: true });
await build({
  ...options,
  transform,
  output: {
    dir: at('dist.new'),
    format: 'cjs',
    minify,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: 'everyday', name: groupOf }],
    },
  },
});
// Threads and processes have bundles of their own: a chunk that one shared with the command would load the command.
// A worker and the steps that it loads are one bundle: with two, an error of a step would be of another class.
const separate = [
  { 'log-worker': at('../store/src/log-worker.ts') },
  { 'queue-thread': at('../steward/src/queue/queue-thread.ts') },
  { 'store-thread': at('../agent/src/conversations/store-thread.ts') },
  { worker: at('../steward/src/workers/worker.ts'), steps: at('../steward/src/work/steps.ts') },
];
for (const input of separate)
  await build({
    ...options,
    preserveEntrySignatures: 'strict',
    input,
    output: {
      dir: at('dist.new'),
      format: 'cjs',
      minify,
      entryFileNames: '[name].js',
      chunkFileNames: 'worker-[name]-[hash].js',
      codeSplitting: Object.keys(input).length > 1,
    },
  });
await writeFile(at('dist.new/package.json'), '{ "type": "commonjs" }\n');
await chmod(at('dist.new/bin.js'), 0o755);
await rm(at('dist.old'), { recursive: true, force: true });
await rename(at('dist'), at('dist.old')).catch(() => {});
await rename(at('dist.new'), at('dist'));
await rm(at('dist.old'), { recursive: true, force: true });
