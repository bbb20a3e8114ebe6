/** Measures a server alone: from the start of its process to its first response to a call, without a daemon. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bare', version: '1' },
};

/** Other environment variables (such as certificates to load) can double the start time; the daemon passes few of them. */
const { PATH, HOME } = process.env;

/** Milliseconds for one start; the process has ended afterwards. */
export async function bareStart({ command, args }: { command: string; args: string[] }): Promise<number> {
  const began = performance.now();
  const child = spawn(command, args, { env: { PATH, HOME }, stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout });
  const send = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const answerTo = (id: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (line: string): void => {
        const message = JSON.parse(line) as { id?: number; result?: unknown };
        if (message.id !== id) return;
        lines.off('line', look);
        if (message.result === undefined) reject(new Error(line));
        else resolve();
      };
      lines.on('line', look);
    });
  send({ id: 1, method: 'initialize', params: INITIALIZE });
  await answerTo(1);
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'first' } } });
  await answerTo(2);
  const took = performance.now() - began;
  const exited = once(child, 'exit');
  child.stdin.end();
  await exited;
  return took;
}
