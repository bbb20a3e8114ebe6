import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The directory of the bare servers; part of the command line of each. */
export const serverDirectory = fileURLToPath(new URL('../servers/', import.meta.url));

const pathOf = (name) => `${serverDirectory}${name}.mjs`;

/**
 * @typedef {{ tools?: number, outputSchemas?: boolean, era?: 'legacy' | 'both', startsFile?: string }} BareServer
 */

/** @param {BareServer} options */
function toArgs({ tools = 10, outputSchemas = false, era = 'legacy', startsFile }) {
  const args = ['--tools', String(tools), '--era', era];
  if (outputSchemas) args.push('--output-schemas');
  if (startsFile !== undefined) args.push('--starts-file', startsFile);
  return args;
}

/**
 * A stdio server for a client to start.
 * @param {string} name
 * @param {BareServer} [options]
 * @returns {import('../subjects.mjs').ServerSpec}
 */
export const stdioServer = (name, options = {}) => ({
  name,
  transport: 'stdio',
  command: process.execPath,
  args: [pathOf('stdio'), ...toArgs(options)],
});

/**
 * Starts an HTTP server on a free loopback port; the caller stops it.
 * @param {string} name
 * @param {BareServer} [options]
 */
export async function startHttpServer(name, options = {}) {
  const child = spawn(process.execPath, [pathOf('http'), ...toArgs(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (line) => resolve(line.trim()));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the HTTP server ended with ${code}`)));
  });
  /** @type {import('../subjects.mjs').ServerSpec} */
  const spec = { name, transport: 'http', url };
  return { spec, pid: child.pid ?? 0, stop: () => child.stdin.end() };
}
