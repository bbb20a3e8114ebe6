/** What a server takes by itself: from the start of its process to its first answer to a call, nothing between. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bare', version: '1' },
};

/** What else is in the environment (certificates to load, say) can double the start; the daemon passes on little. */
const { PATH, HOME } = process.env;

/** Milliseconds for one start; the process is gone afterwards. */
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
