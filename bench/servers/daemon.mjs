// The daemon as the command starts it. Prints its URL and token when it answers; ends when its stdin does.
// node daemon.mjs <state directory> <configuration file>
import { startDaemon } from '@turnbuckle/gateway';

const [stateDir, file] = process.argv.slice(2);
const daemon = await startDaemon({
  version: '0.0.0',
  stateDir,
  files: file === undefined ? [] : [file],
  environment: { ...process.env, HOME: stateDir },
  cwd: stateDir,
  port: 0,
});
process.stdout.write(`${JSON.stringify({ url: `${daemon.url}/mcp`, token: daemon.token })}\n`);
process.stdin.once('end', () => daemon.close(0).finally(() => process.exit(0))).resume();
