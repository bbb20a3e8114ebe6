// The gateways of the benchmark: each in front of the same ten stdio servers with ten tools each. `direct` is no
// gateway but one bare HTTP server with as many tools: what the others are compared with.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startHttpServer, stdioServer } from './harness/bare-server.mjs';
import { createAgentToken, startDaemon } from './harness/daemon.mjs';
import { memoryOf, startPeerGateway } from './harness/gateway-process.mjs';
import { peerDirectory } from './install-peers.mjs';
import { ours } from './subjects.mjs';

/** @typedef {import('./harness/gateway-process.mjs').Running} Running */

/**
 * @typedef {object} Gateway
 * @property {string} id
 * @property {string} label
 * @property {string} [peer] id of the peer whose packages it needs
 * @property {(home: string) => Promise<Running>} start in an empty directory
 */

const serverCount = 10;
const toolsEach = 10;
/** How many tools a gateway lists when it is ready. */
export const toolCount = serverCount * toolsEach;

const specs = Array.from({ length: serverCount }, (_, index) =>
  stdioServer(`s${index}`, { tools: toolsEach }),
);

/** @param {string} home @param {string} name @param {object} config */
function writeConfig(home, name, config) {
  mkdirSync(home, { recursive: true });
  const file = join(home, name);
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** The servers in the format that most gateways share. @param {object} [more] options of every server */
const toServers = (more = {}) =>
  Object.fromEntries(specs.map(({ name, command, args }) => [name, { command, args, ...more }]));

const agent = 'bench';
const rules = [{ action: 'allow', caller: agent, server: '*', tool: '*' }];

/**
 * Our daemon as an agent uses it: the agent's own token, and a rule that allows its calls.
 * @param {string} home
 * @param {object} [daemon] settings; by default log and metrics are on
 * @returns {Promise<Running & { token: string }>}
 */
export async function startOurs(home, daemon = {}) {
  const config = writeConfig(home, 'mcp.json', { servers: toServers(), rules, daemon });
  const env = { ...process.env, HOME: home, TURNBUCKLE_STATE_DIR: join(home, 'state') };
  const running = await startDaemon({ config, env });
  return {
    url: running.url,
    token: await createAgentToken(running, agent),
    transport: 'http',
    memory: () => memoryOf(running.pid),
    hasEnded: () => undefined,
    stop: running.stop,
  };
}

/** @returns {Promise<Running>} */
async function startDirect() {
  const { spec, pid, stop } = await startHttpServer('direct', { tools: toolCount });
  return {
    url: spec.url ?? '',
    transport: 'http',
    memory: () => memoryOf(pid),
    hasEnded: () => undefined,
    stop: async () => stop(),
  };
}

/** @returns {Promise<Running>} */
async function startFloor() {
  const program = fileURLToPath(new URL('servers/floor-gateway.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(specs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const line = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve);
    child.once('exit', (code) => reject(new Error(`the floor ended with ${code}`)));
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    url: JSON.parse(line).url,
    transport: 'http',
    memory: () => memoryOf(child.pid ?? 0),
    hasEnded: () => undefined,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** @param {string} peer @param {string} file */
const programOf = (peer, file) => join(peerDirectory(peer), 'node_modules', file);

/** @type {Gateway['start']} */
function startMcpHub(home) {
  const config = writeConfig(home, 'config.json', { mcpServers: toServers() });
  const program = programOf('mcp-hub', 'mcp-hub/dist/cli.js');
  const toArgs = (port) => [program, '--port', String(port), '--config', config];
  return startPeerGateway({ home, transport: 'sse', toArgs });
}

/** @type {Gateway['start']} */
function startOneMcp(home) {
  const config = writeConfig(home, 'mcp.json', { mcpServers: toServers() });
  const program = programOf('1mcp', '@1mcp/agent/build/index.js');
  const toArgs = (port) => [
    ...[program, 'serve', '--transport', 'http', '--host', '127.0.0.1', '--port', String(port)],
    ...['--config', config, '--config-dir', home],
  ];
  return startPeerGateway({ home, transport: 'http', toArgs });
}

/** Its `serve` offers only servers that it keeps open. @type {Gateway['start']} */
function startMcporter(home) {
  const mcpServers = toServers({ lifecycle: 'keep-alive' });
  const config = writeConfig(home, 'mcporter.json', { mcpServers, imports: [] });
  const program = programOf('mcporter', 'mcporter/dist/cli.js');
  const toArgs = (port) => [program, '--config', config, 'serve', '--http', String(port)];
  return startPeerGateway({ home, transport: 'http', toArgs });
}

/** @type {Gateway} */
export const direct = { id: 'direct', label: 'direct, bare HTTP', start: startDirect };

/** @type {Gateway} */
export const floor = { id: 'floor', label: 'no checks at all (floor)', start: startFloor };

/** @type {readonly Gateway[]} */
export const gateways = [
  direct,
  floor,
  { id: ours.id, label: ours.label, start: (home) => startOurs(home) },
  { id: 'mcp-hub', label: 'mcp-hub 4.2.1', peer: 'mcp-hub', start: startMcpHub },
  { id: '1mcp', label: '1MCP 0.35.0', peer: '1mcp', start: startOneMcp },
  { id: 'mcporter-serve', label: 'mcporter serve 0.12.3', peer: 'mcporter', start: startMcporter },
];
