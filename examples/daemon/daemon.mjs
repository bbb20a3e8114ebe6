// Starts the daemon with a demo server, calls it over HTTP and from the command line, and stops it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const bin = fileURLToPath(new URL('../../packages/cli/dist/bin.js', import.meta.url));
const home = await mkdtemp(join(tmpdir(), 'turnbuckle-example-'));
const state = join(home, 'state');
const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, TURNBUCKLE_STATE_DIR: state };

/**
 * Runs the command in a temporary home and returns its output.
 * @param {string[]} words
 */
async function turnbuckle(...words) {
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...words], { cwd: home, env });
  return stdout.trim();
}

try {
  const { url } = JSON.parse(await turnbuckle('serve', 'start', '--demo', '--port', '0', '--json'));
  console.log(`It runs at ${url}`);

  // Any program in any language can do this: one POST. This token is the owner's.
  const token = (await readFile(join(state, 'daemon-token'), 'utf8')).trim();
  const response = await fetch(`${url}/mcp/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ server: 'demo', tool_name: 'add', arguments: { a: 2, b: 3 } }),
  });
  const { success, result } = /** @type {any} */ (await response.json());
  console.log('Over HTTP:', result.structuredContent); // { sum: 5 }
  assert.deepEqual([success, result.structuredContent], [true, { sum: 5 }]);

  // The command line finds the daemon by itself and uses its connections.
  const echoed = await turnbuckle('call', 'demo', 'echo', 'text=hello');
  console.log('By the command:', echoed); // hello
  assert.equal(echoed, 'hello');

  // A token for an agent: requests without a token are refused.
  const agent = await turnbuckle('token', 'create', 'agent');
  assert.match(agent, /^tbk_/);
  assert.equal((await fetch(`${url}/tools`)).status, 401);
} finally {
  await turnbuckle('serve', 'stop');
  await rm(home, { recursive: true, force: true });
}
