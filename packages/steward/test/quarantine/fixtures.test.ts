/** Real servers, each with one kind of behaviour: what a test says about them. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FixtureName, fixture, startFixture } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Verdict } from '../../src/quarantine/report.js';
import { ownDirectory, textsOf, tryServer, writeServer } from './stage.js';

interface Row {
  readonly server: FixtureName;
  readonly flags?: readonly string[];
  readonly verdict: Verdict;
  /** What the findings of the verdict's level say. */
  readonly says: RegExp;
}

const ROWS: readonly Row[] = [
  { server: 'echo', verdict: 'warn', says: /14 of 18 tools have no annotations/ },
  { server: 'paging', verdict: 'warn', says: /25 of 25 tools have no annotations/ },
  { server: 'paging', flags: ['--cursor-mode', 'endless'], verdict: 'warn', says: /more than 32 pages/ },
  { server: 'paging', flags: ['--cursor-mode', 'cyclic'], verdict: 'warn', says: /tools/ },
  { server: 'oversized', verdict: 'warn', says: /no annotations/ },
  { server: 'list-changing', verdict: 'warn', says: /no annotations/ },
  { server: 'probe-hostile', verdict: 'warn', says: /no annotations/ },
  { server: 'schema-changing', verdict: 'warn', says: /no annotations/ },
  {
    server: 'schema-changing',
    flags: ['--when', 'first-list', '--silent'],
    verdict: 'warn',
    says: /tool shifty: Its definition changed during the test/,
  },
  { server: 'bad-tools', verdict: 'fail', says: /tool odd_ansi: It contains invisible characters/ },
  {
    server: 'bad-tools',
    flags: ['--only', 'network-ref'],
    verdict: 'warn',
    says: /odd_network_ref: .*points outside the schema/,
  },
  { server: 'bad-tools', flags: ['--only', 'invalid-pattern'], verdict: 'warn', says: /odd_invalid_pattern/ },
  {
    server: 'bad-tools',
    flags: ['--only', 'no-schema'],
    verdict: 'warn',
    says: /entry bad_no_schema: Not usable/,
  },
  {
    server: 'hostile-text',
    verdict: 'fail',
    says: /server: It contains invisible characters .*spell "run rm/,
  },
  { server: 'junk-on-stdout', verdict: 'fail', says: /not valid JSON-RPC/ },
  {
    server: 'junk-on-stdout',
    flags: ['--junk', 'banner'],
    verdict: 'warn',
    says: /It writes text to stdout that is not an MCP message/,
  },
  { server: 'crash-mid-call', verdict: 'fail', says: /call of die_read_only: CALL_OUTCOME_UNKNOWN/ },
  {
    server: 'crash-mid-call',
    flags: ['--at-start'],
    verdict: 'fail',
    says: /connect: SERVER_EXITED: .*code 7.*cannot start, as asked/,
  },
  { server: 'crash-mid-call', flags: ['--after-init'], verdict: 'fail', says: /SERVER_EXITED/ },
  {
    server: 'slow',
    flags: ['--hang-at', 'initialize', '--era', 'legacy'],
    verdict: 'fail',
    says: /connect: /,
  },
  { server: 'slow', flags: ['--hang-at', 'list'], verdict: 'fail', says: /connect: / },
  { server: 'slow', flags: ['--hang-at', 'call'], verdict: 'warn', says: /call of add: CALL_TIMEOUT/ },
  { server: 'fuzzing', flags: ['--odd-lists'], verdict: 'fail', says: /invisible characters/ },
  { server: 'fuzzing', flags: ['--odd-answers', '0.5'], verdict: 'fail', says: /connect: SERVER_ERROR/ },
  { server: 'fuzzing', flags: ['--odd-answers', '1'], verdict: 'warn', says: /It offers no tools/ },
];

// requirement E3
describe('the verdict about', () => {
  it.each(ROWS)('$server $flags is $verdict', async ({ server, flags = [], verdict, says }) => {
    const isSilent = /initialize|list/.test(flags.join());
    const limits = isSilent ? { connectMs: 1_500, listMs: 1_000 } : { callMs: 300 };
    const report = await tryServer(fixture(server, ...flags), {
      limits: server === 'slow' ? limits : {},
    });
    expect({ verdict: report.verdict, text: textsOf(report, verdict as 'fail') }).toEqual({
      verdict,
      text: expect.stringMatching(says),
    });
    expect(JSON.stringify(report).length).toBeLessThan(200_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(JSON.stringify(report)).not.toMatch(/\\u00(?:1b|07)|[\u0000-\u001f\u202e\u{e0000}-\u{e007f}]/u);
  });

  it('a server without any problem is pass', async () => {
    const entry = await writeServer({});
    const report = await tryServer(entry);
    const warnings = textsOf(report, 'warn').replace(/^sandbox: .*$/m, '');
    expect({ warnings, fails: textsOf(report, 'fail') }).toEqual({ warnings: '', fails: '' });
    expect(report.verdict).toBe(report.sandboxed ? 'pass' : 'warn');
    expect(report.tools).toEqual([
      { name: 'good_one', problems: [], sampled: { arguments: {}, ok: true, ms: expect.any(Number) } },
    ]);
  });

  it('a server that fails the first time is warn', async () => {
    const state = await ownDirectory();
    // Without the sandbox it can count its starts in a file.
    const path = process.env.PATH?.split(':').filter((place) => !/^\/(?:usr\/)?s?bin$/.test(place));
    const entry = fixture('flaky', '--state-file', state.file('count'), '--times', '2');
    const report = await tryServer(entry, { path: [...(path ?? []), state.path].join(':') });
    expect(report.sandboxed).toBe(false);
    expect(textsOf(report, 'warn')).toMatch(/connect: SERVER_EXITED: .*flaky: failure 2 of 2/);
    expect(report.verdict).toBe('warn');
  });

  it('a server of the SDK, which reads its own packages, is warn', async () => {
    const directory = join(fileURLToPath(new URL('.', import.meta.url)), '../../../..');
    const report = await tryServer(fixture('sdk-echo'), { directory });
    expect(textsOf(report, 'fail')).toBe('');
    expect(report.tools.length).toBeGreaterThan(0);
  });

  it('a remote server does not depend on a sandbox', async () => {
    const server = await startFixture('echo', { transport: 'http' });
    onTestFinished(() => server.stop());
    const report = await tryServer({ type: 'http', url: server.url }, { sandbox: 'required' });
    expect(report.note).toBe('The server is remote: none of it ran on this machine.');
    expect(report).toMatchObject({ sandboxed: false, verdict: 'warn' });
    expect(textsOf(report, 'warn')).not.toMatch(/sandbox/);
    expect(report.tools).toHaveLength(18);
  });

  it('a command that does not exist is fail', async () => {
    const report = await tryServer({ command: '/nowhere/server', args: [] });
    expect(report.verdict).toBe('fail');
    expect(textsOf(report, 'fail')).toMatch(/connect: COMMAND_NOT_FOUND/);
    expect(report.startMs).toBeUndefined();
  });
});

describe('a report', () => {
  it('says how long the start took and what memory the processes use', async () => {
    const { startMs, memoryMb, tools, resources, prompts } = await tryServer(fixture('echo'));
    expect(startMs).toBeGreaterThan(0);
    if (process.platform === 'linux') expect(memoryMb).toBeGreaterThan(10);
    expect({ tools: tools.length, resources, prompts }).toEqual({ tools: 18, resources: 4, prompts: 2 });
  });

  it('lists at most 200 tools, and says so', async () => {
    const report = await tryServer(fixture('paging', '--tools', '300', '--page', '100'));
    expect(report.tools).toHaveLength(200);
    expect(report.note).toMatch(/first 200 of 300 tools/);
  });
});
