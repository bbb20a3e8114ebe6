import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const command = fileURLToPath(new URL('../../packages/cli/dist/bin.js', import.meta.url));

/**
 * Starts the daemon as a user does, on a free port; resolves when it is ready.
 * @param {{ env: NodeJS.ProcessEnv, config?: string }} options
 */
export async function startDaemon({ env, config }) {
  const args = ['serve', '--port', '0', '--json', ...(config === undefined ? [] : ['--config', config])];
  const child = spawn(process.execPath, [command, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const text = await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      output += part;
      if (output.trimEnd().endsWith('}')) resolve(output);
    });
    child.once('exit', (code) => reject(new Error(`the daemon ended with ${code}`)));
  });
  const { mcp, tokenFile } = JSON.parse(text);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url: mcp, token: readFileSync(tokenFile, 'utf8').trim(), pid: child.pid ?? 0, stop };
}

/**
 * Creates the token of an agent, as the owner.
 * @param {{ url: string, token: string }} daemon
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function createAgentToken({ url, token }, name) {
  const response = await fetch(new URL('/api/tokens', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, can: ['mcp_integration'], access: ['call'] }),
  });
  if (!response.ok) throw new Error(`no token for "${name}": ${response.status} ${await response.text()}`);
  return (await response.json()).token;
}
