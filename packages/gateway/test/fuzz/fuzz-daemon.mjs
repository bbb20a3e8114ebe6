// The daemon for the fuzzer: prints its address and token when it answers; says on stderr what should not have happened.
// node fuzz-daemon.mjs <directory with mcp.json>
import { join } from 'node:path';
import { startDaemon } from '@turnbuckle/gateway';

const [directory = ''] = process.argv.slice(2);
const daemon = await startDaemon({
  version: '0.0.0',
  stateDir: join(directory, 'state'),
  cwd: directory,
  environment: { ...process.env, HOME: directory, XDG_CONFIG_HOME: join(directory, 'config') },
  files: [join(directory, 'mcp.json')],
  port: 0,
  // A server that was left alone would say nothing.
  breaker: { openMs: 50, maxOpenMs: 50 },
  onWarning: (message) => process.stderr.write(`WARNING ${message}\n`),
});
process.stdout.write(`${JSON.stringify({ url: daemon.url, token: daemon.token })}\n`);
process.once('SIGTERM', () => void daemon.close(2_000).then(() => process.exit(0)));
process.stdin.on('end', () => process.exit(0)).resume();
