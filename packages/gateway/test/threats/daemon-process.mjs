// A daemon in a process of its own; prints its address and its token when it answers, and ends with stdin.
// node daemon-process.mjs <directory with mcp.json> [options as JSON]; `warns`: print defects to stderr
import { join } from 'node:path';
import { startDaemon } from '@turnbuckle/gateway';

const [directory = '', given = '{}'] = process.argv.slice(2);
const { warns = false, ...options } = JSON.parse(given);
const daemon = await startDaemon({
  version: '0.0.0',
  stateDir: join(directory, 'state'),
  cwd: directory,
  environment: { ...process.env, HOME: directory, XDG_CONFIG_HOME: join(directory, 'config') },
  files: [join(directory, 'mcp.json')],
  port: 0,
  ...(warns && {
    operatorLog: {
      write: (line) => {
        if (['internal-error', 'log-failed'].includes(JSON.parse(line).kind))
          process.stderr.write(`WARNING ${line}`);
      },
    },
  }),
  ...options,
});
process.stdout.write(`${JSON.stringify({ url: daemon.url, token: daemon.token })}\n`);
process.once('SIGTERM', () => void daemon.close(2_000).then(() => process.exit(0)));
// Its parent may have died without stopping it.
process.stdin.on('end', () => process.exit(0)).resume();
