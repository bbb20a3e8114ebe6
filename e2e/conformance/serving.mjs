// Starts programs that serve HTTP: each prints its URL as its first line and ends when stdin closes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const UPSTREAM = fileURLToPath(new URL('upstream/server.mjs', import.meta.url));
const GATEWAY = fileURLToPath(new URL('gateway-process.mjs', import.meta.url));
const START_MS = 30_000;
const END_MS = 10_000;

/**
 * @typedef {'modern' | 'legacy'} Era
 * @typedef {'http' | 'stdio'} Transport
 * @typedef {{ url: string, close: () => Promise<void> }} Serving
 */

/**
 * A gateway with one server behind it, which uses this era and transport.
 * @param {Era} era
 * @param {Transport} transport
 * @returns {Promise<Serving>}
 */
export async function serveGateway(era, transport) {
  const rest = { mayAsk: ['elicitation', 'sampling', 'roots'], era: 'auto' };
  if (transport === 'stdio') {
    const args = [UPSTREAM, '--era', era, '--transport', 'stdio'];
    return serve(GATEWAY, [JSON.stringify({ up: { command: process.execPath, args, ...rest } })]);
  }
  const upstream = await serveUpstream(era);
  const gateway = await serve(GATEWAY, [
    JSON.stringify({ up: { type: 'http', url: upstream.url, ...rest } }),
  ]);
  return {
    url: gateway.url,
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

/**
 * The server alone, over HTTP.
 * @param {Era | 'both'} era
 */
export const serveUpstream = (era) => serve(UPSTREAM, ['--era', era, '--transport', 'http']);

/**
 * @param {string} script
 * @param {string[]} args
 * @returns {Promise<Serving>}
 */
async function serve(script, args) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(() => undefined);
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line').then(([first]) => String(first)), ended]);
  clearTimeout(timer);
  if (line === undefined) throw new Error(`${script} did not start.`);
  const close = async () => {
    const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
    child.stdin.end();
    await ended;
    clearTimeout(late);
  };
  return { url: line, close };
}
