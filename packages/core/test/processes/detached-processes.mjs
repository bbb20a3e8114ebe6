// A server that starts processes of every kind, then answers the handshake. Each has ROLE=<role>-<mark> in its
// environment; the mark is the first argument. No process lives longer than two minutes.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [mark] = process.argv.slice(2);
const LIFE = '120';

function start(role, [command, ...args], options) {
  const env = { ...process.env, ROLE: `${role}-${mark}` };
  spawn(command, args, { env, ...options }).unref();
}

const apart = { detached: true, stdio: 'ignore' };
const HELPER = `
  const { spawn } = require('node:child_process');
  const env = { ...process.env, ROLE: 'daemons-helper-${mark}' };
  spawn('sleep', ['${LIFE}'], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  setTimeout(() => process.exit(), ${LIFE}000);`;

start('daemon', [process.execPath, '-e', HELPER], apart);
start('daemons-pipe', ['sh', '-c', `sleep ${LIFE} | sleep ${LIFE}`], apart);
start('forked-away', ['sh', '-c', `sleep ${LIFE} & exit 0`], apart);
start('browser', ['sleep', LIFE], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
start('holds-stdout', ['sleep', LIFE], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
start('child', ['sleep', LIFE], { stdio: 'ignore' });
start('grandchild', ['sh', '-c', `sleep ${LIFE} & wait`], { stdio: 'ignore' });

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'letting-go', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = RESULTS[method]?.(params ?? {});
    const outcome = result ? { result } : { error: { code: -32601, message: 'no' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
  })
  .on('close', () => process.exit(0));
