// Claims a state directory like a daemon: prints its pid, and keeps the claim until its input ends.
import { claimInstance } from '../../dist/instance/instance.js';

const [stateDir, url, end] = process.argv.slice(2);
try {
  const instance = claimInstance({ stateDir, version: '1.2.3' });
  if (url !== '') instance.announce(url);
  process.stdout.write(`${JSON.stringify({ pid: process.pid })}\n`);
  process.stdin.on('end', () => {
    if (end === 'release') instance.release();
    process.exit(0);
  });
  process.stdin.resume();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ code: error.code, message: error.message, data: error.data })}\n`);
}
