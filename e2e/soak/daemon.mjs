// A daemon for the soak tests: prints its URL and token when it is ready.
// node daemon.mjs <state directory> <configuration file>
import { startDaemon } from '@turnbuckle/gateway';

const [stateDir = '', file = ''] = process.argv.slice(2);
const daemon = await startDaemon({
  version: '0.0.0',
  stateDir,
  cwd: stateDir,
  environment: { ...process.env, HOME: stateDir },
  files: [file],
  port: 0,
});
process.stdout.write(`${JSON.stringify({ url: daemon.url, token: daemon.token })}\n`);
process.once('SIGTERM', () => void daemon.close(10_000).then(() => process.exit(0)));
