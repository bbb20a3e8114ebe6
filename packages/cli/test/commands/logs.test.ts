import type { ChildProcess } from 'node:child_process';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHome, finished, start, turnbuckle } from './turnbuckle.js';

/** A working server that runs this code first. */
function serverThat(code: string): { command: string; args: string[] } {
  const { command, args } = fixture('echo');
  return { command, args: ['--import', `data:text/javascript,${encodeURIComponent(code)}`, ...args] };
}

const NOTIFICATION = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'warning', data: 'from the protocol' },
});
/** Repeats: a numbered line on stderr, a log notification, half a line on stderr. */
const CHATTY = serverThat(`
  let count = 0;
  setInterval(() => {
    count += 1;
    process.stderr.write('line ' + count + ' \\u001b[31mred\\nhalf ');
    process.stdout.write(${JSON.stringify(`${NOTIFICATION}\n`)});
  }, 30).unref();
`);

async function follow(...flags: string[]): Promise<{ child: ChildProcess; seen: () => string }> {
  const home = await createHome({ chatty: CHATTY });
  const child = start(['logs', 'chatty', ...flags], { home });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { child, seen: () => text };
}

describe('logs --follow', () => {
  it.each([[['--follow']], [['-f']], [[]]])(
    'shows lines and log notifications as they arrive, until it is interrupted: %j',
    async (flags) => {
      const { child, seen } = await follow(...flags);
      await waitUntil(() => /^stderr +(half )?line 3 /m.test(seen()), 15_000);
      await waitUntil(() => /^warning +from the protocol$/m.test(seen()));
      expect(child.exitCode).toBeNull();
      expect(seen()).toContain('\\u{1b}[31mred');
      expect(seen()).not.toContain('\u001b');
      const ended = finished(child);
      child.kill('SIGINT');
      expect((await ended).code).toBe(130);
      const numbers = [...seen().matchAll(/^stderr +(?:half )?line (\d+) /gm)].map(([, number]) => number);
      expect(numbers).toEqual(numbers.map((_, index) => String(index + 1)));
    },
  );

  it('prints one JSON object per line', async () => {
    const { child, seen } = await follow('--follow', '--json');
    await waitUntil(() => seen().includes('line 2 '), 15_000);
    await waitUntil(() => seen().includes('from the protocol'));
    const ended = finished(child);
    child.kill('SIGINT');
    await ended;
    const lines = seen()
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));
    const common = { server: 'chatty', time: expect.any(String) };
    expect(lines).toContainEqual({ ...common, kind: 'stderr', text: 'line 1 \u001b[31mred' });
    expect(lines).toContainEqual({ ...common, kind: 'warning', text: 'from the protocol' });
  });
});

it('logs ends after --seconds and prints everything, also an unfinished last line', async () => {
  const code = `process.stderr.write('one\\n\\n  \\ntwo, not ended');`;
  const home = await createHome({ brief: serverThat(code) });
  const { code: exit, stdout } = await turnbuckle(['logs', 'brief', '--seconds', '0.5'], { home });
  expect(exit).toBe(0);
  expect(stdout.match(/^stderr .*$/gm)?.map((line) => line.replace(/^stderr +/, ''))).toEqual([
    'one',
    'two, not ended',
  ]);
});
