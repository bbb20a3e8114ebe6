// A daemon in a process of its own; prints its address and its token when it answers, and ends with stdin.
// node daemon-process.mjs <directory with mcp.json> [limits as JSON]
import { join } from 'node:path';
import { startDaemon } from '@turnbuckle/gateway';

const [directory = '', limits = '{}'] = process.argv.slice(2);
const daemon = await startDaemon({
  version: '0.0.0',
  stateDir: join(directory, 'state'),
  cwd: directory,
  environment: { ...process.env, HOME: directory, XDG_CONFIG_HOME: join(directory, 'config') },
  files: [join(directory, 'mcp.json')],
  port: 0,
  limits: JSON.parse(limits),
});
process.stdout.write(`${JSON.stringify({ url: daemon.url, token: daemon.token })}\n`);
process.once('SIGTERM', () => void daemon.close(1_000).then(() => process.exit(0)));
// Whoever started it may be gone without a word.
process.stdin.on('end', () => process.exit(0)).resume();
