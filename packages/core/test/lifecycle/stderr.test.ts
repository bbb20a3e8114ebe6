import { fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { StderrLines } from '../../src/connection/processes/stderr-lines.js';
import { expectCalm, strainOf } from '../hostile/strain.js';
import { openRuntime, record } from './open-runtime.js';

const MB = 1_024 * 1_024;

/** A working server that runs this code first. */
function serverThat(code: string): { command: string; args: string[] } {
  const { command, args } = fixture('echo');
  return { command, args: ['--import', `data:text/javascript,${encodeURIComponent(code)}`, ...args] };
}

const write = (text: string): string => `process.stderr.write(${JSON.stringify(text)});`;

describe('what a server writes to stderr', () => {
  it('is reported line by line, with whole characters and whole lines', async () => {
    const code = `${write('first\r\n\nsec')} setTimeout(() => {
      process.stderr.write(Buffer.from([0x6f, 0x6e, 0x64, 0x20, 0xe2]));
      setTimeout(() => process.stderr.write(Buffer.from([0x82, 0xac, 0x0a])), 50);
    }, 50);`;
    const runtime = await openRuntime({ servers: { one: serverThat(code) } });
    const events = record(runtime, 'server.stderr');
    await runtime.connectAll();
    await waitUntil(() => events.length === 3);
    expect(events).toEqual([
      { server: 'one', text: 'first' },
      { server: 'one', text: '' },
      { server: 'one', text: 'second €' },
    ]);
  });

  it('is reported for a server that does not start, including an unterminated last line', async () => {
    const runtime = await openRuntime({
      servers: { one: { ...serverThat(`${write('a\nlast words')} process.exit(3);`), start: 'lazy' } },
    });
    const events = record(runtime, 'server.stderr');
    await expect(runtime.connect('one')).rejects.toMatchObject({ code: 'SERVER_EXITED' });
    await waitUntil(() => events.some(({ text }) => text === 'last words'));
    expect(events.slice(0, 2).map(({ text }) => text)).toEqual(['a', 'last words']);
  });

  it('is reported from the first listener until the last one leaves', async () => {
    const runtime = await openRuntime({
      servers: { one: serverThat(`setInterval(() => { ${write('tick\n')} }, 5).unref();`) },
    });
    await runtime.connectAll();
    const heard: string[] = [];
    const stop = runtime.on('server.stderr', ({ text }) => heard.push(text));
    await waitUntil(() => heard.length > 2);
    stop();
    const before = heard.length;
    await waitUntil(() => (runtime.serverStatus('one').stderr?.split('\n').length ?? 0) > before + 5);
    expect(heard).toHaveLength(before);
    expect(new Set(heard)).toEqual(new Set(['tick']));
  });

  it('does not block the host if it floods a listener', async () => {
    const runtime = await openRuntime({ servers: { wet: fixture('oversized') } });
    const events = record(runtime, 'server.stderr');
    const strain = await strainOf(async () => {
      await runtime.callTool('wet', 'stderr_flood', { size: 48 * MB }, { timeoutMs: 20_000 });
    });
    expectCalm(strain.stallMs);
    expect(strain.peakBytes).toBeLessThan(100 * MB);
    expect(Math.max(...events.map(({ text }) => text.length))).toBeLessThanOrEqual(8_192);
  });
});

describe('lines', () => {
  function createLines() {
    const told: Array<[text: string, dropped: number]> = [];
    const state = { wanted: true, now: 0 };
    const lines = new StderrLines({
      isWanted: () => state.wanted,
      onLine: (text, dropped) => told.push([text, dropped]),
      now: () => state.now,
    });
    return { lines, told, state };
  }

  it('that are too long are reported in pieces', () => {
    const { lines, told } = createLines();
    lines.push(Buffer.from(`${'x'.repeat(20_000)}\n${'y'.repeat(9_000)}`));
    lines.end();
    expect(told.map(([text]) => text.length)).toEqual([8_192, 8_192, 3_616, 8_192, 808]);
  });

  it('without an end are not buffered', () => {
    const { lines, told } = createLines();
    for (let index = 0; index < 100; index += 1) lines.push(Buffer.from('x'.repeat(1_000)));
    expect(told).toHaveLength(12);
    lines.end();
    expect(told.map(([text]) => text).join('')).toBe('x'.repeat(100_000));
  });

  it('above the rate limit are dropped, and counted with the next one', () => {
    const { lines, told, state } = createLines();
    for (let index = 0; index < 1_500; index += 1) lines.push(Buffer.from(`${index}\n`));
    expect(told.at(-1)).toEqual(['999', 0]);
    state.now = 1_000;
    lines.push(Buffer.from('next\nafter\n'));
    expect(told.slice(1_000)).toEqual([
      ['next', 500],
      ['after', 0],
    ]);
  });

  it('that were dropped last are counted at the end', () => {
    const { lines, told } = createLines();
    lines.push(Buffer.from('x\n'.repeat(1_010)));
    lines.end();
    expect(told.slice(1_000)).toEqual([['', 10]]);
  });

  it('without a listener are not stored', () => {
    const { lines, told, state } = createLines();
    state.wanted = false;
    lines.push(Buffer.from('half of '));
    state.wanted = true;
    lines.push(Buffer.from('it\nmore\n'));
    state.wanted = false;
    lines.push(Buffer.from('x'));
    lines.end();
    expect(told.map(([text]) => text)).toEqual(['it', 'more']);
  });
});
