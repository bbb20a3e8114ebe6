// The client under test: node client.mjs [--lane express|sdk] <server url>. It does what any host does with an
// unknown server: connect, list, call every tool, read a resource, get a prompt, disconnect.
// Nothing else depends on the scenario: the referee's context becomes the server's `auth`, as a user would
// configure it.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createRuntime } from 'turnbuckle';
import { authFrom } from './auth-from-context.mjs';
import { sampleArguments } from './sample-arguments.mjs';
import { visitPage } from './visit-page.mjs';

// The referee stops only the shell around a client that hangs, so the client bounds itself.
setTimeout(() => {
  process.stderr.write('gave up after 50 s\n');
  process.exit(1);
}, 50_000).unref();

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { lane: { type: 'string', default: 'express' } },
});
const url = positionals[0];
if (url === undefined) throw new Error('The server URL is missing.');

/** @type {{ toolCalls?: { name: string, arguments?: Record<string, unknown> }[] } & import('./auth-from-context.mjs').Context} */
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const stateDir = await mkdtemp(path.join(os.tmpdir(), 'turnbuckle-conformance-client-'));
const runtime = await createRuntime({
  servers: {
    referee: { type: 'http', url, auth: authFrom(context, process.env.MCP_CONFORMANCE_SCENARIO ?? '') },
  },
  expressLane: values.lane !== 'sdk',
  stateDir,
  // The simulated browser follows every redirect.
  signIn: { open: ({ url: page }) => visitPage(page) },
  handlers: { elicitation: async () => ({ action: 'accept', content: {} }) },
});

try {
  await runtime.connect('referee').catch(async (error) => {
    if (error.code !== 'AUTH_REQUIRED') throw error;
    note('signing in');
    await runtime.signIn('referee');
  });
  const { status, era, protocolVersion, error } = runtime.serverStatus('referee');
  note(`${status}, ${era ?? 'no era'} ${protocolVersion ?? ''}`);
  if (status !== 'connected') throw error ?? new Error(`The server is ${status}.`);
  await callTools();
  await readFirstResource();
  await getFirstPrompt();
} catch (error) {
  note(describe(error));
  process.exitCode = 1;
} finally {
  await runtime.close();
  await rm(stateDir, { recursive: true, force: true });
}

async function callTools() {
  const tools = runtime.tools();
  note(`tools: ${tools.map((tool) => tool.tool).join(', ') || 'none'}`);
  const calls =
    context.toolCalls ?? tools.map((tool) => ({ name: tool.tool, arguments: sampleArguments(tool, tools) }));
  for (const call of calls) {
    await attempt(`call ${call.name}`, () => runtime.callTool('referee', call.name, call.arguments ?? {}));
  }
}

async function readFirstResource() {
  const [resource] = await runtime.listResources('referee');
  if (resource === undefined) return;
  const uri = String(resource.uri);
  await attempt(`read ${uri}`, () => runtime.readResource('referee', uri));
}

async function getFirstPrompt() {
  const [prompt] = await runtime.listPrompts('referee');
  if (prompt === undefined) return;
  const name = String(prompt.name);
  await attempt(`get ${name}`, () => runtime.getPrompt('referee', name, {}));
}

/**
 * A refused request is logged, and the client continues.
 * @param {string} what
 * @param {() => Promise<unknown>} action
 */
async function attempt(what, action) {
  try {
    await action();
    note(what);
  } catch (error) {
    note(`${what} failed: ${describe(error)}`);
  }
}

/** @param {unknown} error */
function describe(error) {
  if (!(error instanceof Error)) return String(error);
  return `${'code' in error ? `${error.code} ` : ''}${error.message}`;
}

/** @param {string} line */
function note(line) {
  process.stderr.write(`${line}\n`);
}
