/** Runs tests of servers: fixtures, and small servers written by a test. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import { it, onTestFinished } from 'vitest';
import type { TestReport } from '../../src/quarantine/report.js';
import { type TestServerOptions, testServer } from '../../src/quarantine/test-server.js';

const BUBBLEWRAP = 'bwrap';
const tried =
  process.platform === 'linux' && spawnSync(BUBBLEWRAP, ['--unshare-user', '--ro-bind', '/', '/', 'true']);
/** Why tests with a real sandbox cannot run here; undefined where they can. */
const impossible =
  tried !== false && tried.status === 0
    ? undefined
    : 'bubblewrap (bwrap) is not installed, or may not be used';

/** A test with a real sandbox; if there is none, its title says why it is skipped. */
export const confined =
  impossible === undefined
    ? it
    : (name: string, _run: () => unknown) => it.skip(`${name} [${impossible}]`, () => {});

/** A directory that is removed when the test has finished. */
export async function ownDirectory(): Promise<TemporaryDirectory> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory;
}

/** Tests a server with short limits, in a state directory of its own. */
export async function tryServer(
  entry: TestServerOptions['entry'],
  options: Partial<TestServerOptions> = {},
): Promise<TestReport> {
  const directory = await ownDirectory();
  return testServer({
    name: 'tested',
    entry,
    stateDir: directory.path,
    sandbox: 'where-available',
    ...options,
    limits: { connectMs: 10_000, listMs: 5_000, callMs: 3_000, ...options.limits },
  });
}

/** The texts of all findings of a level, with what they are about. */
export const textsOf = ({ findings }: TestReport, level: 'fail' | 'warn' | 'note'): string =>
  findings
    .filter((finding) => finding.level === level)
    .map(({ where, text }) => `${where}: ${text}`)
    .join('\n');

/** A server that is described by its tools, and code for its calls. */
export interface SmallServer {
  readonly tools?: readonly unknown[];
  readonly instructions?: string;
  /** Statements at its start. */
  readonly setUp?: string;
  /** Statements for `tools/call`, with `params`: they return a text, `{ isError: text }` or `{ invalid: content }`. */
  readonly onCall?: string;
}

/** Nothing is wrong with it. */
export const GOOD_TOOL = {
  name: 'good_one',
  description: 'Says something',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true },
};

export async function writeServer({
  tools = [GOOD_TOOL],
  instructions,
  setUp = '',
  onCall = "return 'ok';",
}: SmallServer): Promise<{ command: string; args: string[] }> {
  const directory = await ownDirectory();
  const file = directory.file('server.mjs');
  const source = `import { createInterface } from 'node:readline';
${setUp}
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const call = async (params) => { ${onCall} };
const toResult = (made) =>
  made?.invalid ? { content: made.invalid } :
  made?.isError ? { isError: true, content: [{ type: 'text', text: made.isError }] } :
  { content: [{ type: 'text', text: String(made) }] };
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'small', version: '1.0.0' },
    instructions: ${JSON.stringify(instructions)},
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: ${JSON.stringify(tools)} }),
  'tools/call': async (params) => toResult(await call(params)),
};
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  if (answer === undefined) return send({ id, error: { code: -32601, message: 'Method not found' } });
  send({ id, result: await answer(params) });
});
`;
  await writeFile(file, source);
  return { command: process.execPath, args: [file] };
}
