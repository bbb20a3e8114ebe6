/** Which tools a test calls, and what it makes of their results. */
import { describe, expect, it } from 'vitest';
import { GOOD_TOOL, textsOf, tryServer, writeServer } from './stage.js';

// requirement E4
describe('a sample call', () => {
  it('is made only of tools that claim to be read-only', async () => {
    const tool = (name: string, annotations?: object): object => ({
      name,
      description: name,
      inputSchema: { type: 'object' },
      ...(annotations && { annotations }),
    });
    const tools = [
      tool('reads', { readOnlyHint: true }),
      tool('destroys', { readOnlyHint: true, destructiveHint: true }),
      tool('browses', { readOnlyHint: true, openWorldHint: true }),
      tool('says_so', { readOnlyHint: 'yes' }),
      tool('writes', { readOnlyHint: false }),
      tool('unknown'),
    ];
    const entry = await writeServer({
      tools,
      onCall: "process.stderr.write(params.name + '\\n'); return 'ok';",
    });
    const sampled = (report: Awaited<ReturnType<typeof tryServer>>): string[] =>
      report.tools.flatMap(({ name, sampled: call }) => (call === undefined ? [] : [name]));
    expect(sampled(await tryServer(entry))).toEqual(['reads']);
    expect(sampled(await tryServer(entry, { allowNetwork: true }))).toEqual(['browses', 'reads']);
    expect(sampled(await tryServer(entry, { sampleCalls: 0 }))).toEqual([]);
  });

  it('that the tool answers with an error of its own is recorded, and no failure of the test', async () => {
    const entry = await writeServer({ onCall: "return { isError: 'never mind' };" });
    const report = await tryServer(entry);
    expect(textsOf(report, 'fail')).toBe('');
    expect(textsOf(report, 'note')).toBe('call of good_one: The tool reported an error: never mind');
    expect(report.tools[0]?.sampled).toMatchObject({ ok: false });
    expect(report.verdict).toBe(report.sandboxed ? 'pass' : 'warn');
  });

  it('that ends the server is a failure of the test', async () => {
    const report = await tryServer(await writeServer({ onCall: 'process.exit(9);' }));
    expect(report.verdict).toBe('fail');
    expect(textsOf(report, 'fail')).toMatch(/server: SERVER_EXITED: .*code 9/);
  });

  it('with a malformed result is a failure, with one against its own schema a warning', async () => {
    const malformed = await tryServer(await writeServer({ onCall: 'return { invalid: 1 };' }));
    expect(textsOf(malformed, 'fail')).toMatch(/call of good_one: PROTOCOL_VIOLATION/);
    const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const tools = [{ ...GOOD_TOOL, outputSchema }];
    const against = await tryServer(await writeServer({ tools }));
    expect(textsOf(against, 'warn')).toMatch(/call of good_one: RESULT_INVALID/);
  });

  it('without an end is a warning', async () => {
    const silent = await writeServer({ onCall: 'return new Promise(() => {});' });
    const report = await tryServer(silent, { limits: { callMs: 200 } });
    expect(textsOf(report, 'warn')).toMatch(/call of good_one: CALL_TIMEOUT/);
  });

  it('that starts a flood is a failure', async () => {
    const onCall = `const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(60000) } }) + '\\n';
      const flood = () => process.stdout.write(line, () => setImmediate(flood));
      for (let streams = 0; streams < 64; streams += 1) flood();
      return new Promise(() => {});`;
    const report = await tryServer(await writeServer({ onCall }), { limits: { callMs: 8_000 } });
    expect(textsOf(report, 'fail')).toMatch(/SERVER_FLOODED/);
  });

  it('of a tool whose arguments cannot be made is left out', async () => {
    const entry = await writeServer({
      tools: [
        {
          name: 'impossible',
          description: 'Nobody can call it',
          inputSchema: {
            type: 'object',
            properties: { key: { type: 'string', description: 'a key', pattern: '^(?=secret)x$' } },
            required: ['key'],
          },
          annotations: { readOnlyHint: true },
        },
      ],
    });
    const report = await tryServer(entry);
    expect(textsOf(report, 'note')).toMatch(/impossible: Not called: no valid arguments/);
  });
});
