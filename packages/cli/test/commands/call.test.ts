import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { descendants, fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { argumentServer, tattletale } from './local-servers.js';
import {
  BIN,
  createHome,
  environmentOf,
  finished,
  type Home,
  QUIET,
  start,
  turnbuckle,
} from './turnbuckle.js';

let home: Home;
let started: string;
beforeAll(async () => {
  const empty = await createHome();
  started = empty.file('started');
  home = await createHome({ echo: fixture('echo'), kinds: argumentServer, other: tattletale(started) });
});

/** Sends progress notifications whose total and message have the wrong type. */
const WRONG_PROGRESS = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize')
    return say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
  if (method === 'tools/list') return say({ id, result: { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] } });
  for (const message of [7, null, {}, [], true])
    say({ method: 'notifications/progress', params: { progressToken: params?._meta?.progressToken, progress: 1, total: message, message } });
  say({ id, result: { content: [{ type: 'text', text: 'told' }] } });
});`;

const call = (words: readonly string[], stdin?: string) =>
  turnbuckle(['call', ...words], { home, ...(stdin !== undefined && { stdin }) });

it('a call succeeds when the progress messages of its server are not strings', async () => {
  const own = await createHome({
    teller: { command: process.execPath, args: ['-e', WRONG_PROGRESS], era: 'legacy' },
  });
  expect(await turnbuckle(['call', 'teller', 'tell'], { home: own })).toMatchObject({
    code: 0,
    stdout: 'told\n',
  });
});

describe('arguments', () => {
  it('are converted to the types of the schema', async () => {
    const words = [
      'text=5',
      'number=2.5',
      'integer=-3',
      'flag=yes',
      'tags=a, b',
      'counts=1,2',
      'box={"a":1}',
    ];
    const more = ['level=2', 'either=null', 'pointed=007', 'loose=[1]', 'a:b=colon'];
    const { code, stdout } = await call(['kinds', 'take', ...words, ...more]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      text: '5',
      number: 2.5,
      integer: -3,
      flag: true,
      tags: ['a', 'b'],
      counts: [1, 2],
      box: { a: 1 },
      level: 2,
      either: null,
      pointed: '007',
      loose: [1],
      'a:b': 'colon',
    });
  });

  it('are JSON with :=, come from a file or stdin, and key=value overrides the file', async () => {
    const file = await home.write('arguments.json', { text: 'file', integer: 1 });
    const [inline, fromFile, fromStdin] = await Promise.all([
      call(['kinds', 'take', 'tags:=["x"]', 'loose:=null']),
      call(['kinds', 'take', '--args-file', file, 'text=word']),
      call(['kinds', 'take', '--args-file', '-'], '{"text":"stdin"}'),
    ]);
    expect(JSON.parse(inline.stdout)).toEqual({ tags: ['x'], loose: null });
    expect(JSON.parse(fromFile.stdout)).toEqual({ text: 'word', integer: 1 });
    expect(JSON.parse(fromStdin.stdout)).toEqual({ text: 'stdin' });
  });

  it.each([
    [['echo', 'add', 'a=1'], /\bb\b/, /turnbuckle tools echo add --schema/],
    [['echo', 'add', 'a=one', 'b=2'], /a.*number/, /--schema/],
    [['echo', 'add', 'word'], /Invalid argument "word"/, /key=value/],
    [['echo', 'add', 'a:=oops'], /value of a is not JSON/, /key:=json/],
    [
      ['echo', 'add', '--args-file', 'nowhere.json'],
      /Cannot read the arguments file \S*nowhere\.json/,
      /JSON object/,
    ],
    [['echo', 'add', '--args-file', '-'], /stdin is not a JSON object/, /as a JSON object/],
    [['kinds', 'take', 'integer=9007199254740993'], /integer/, /--schema/],
    [['echo', 'add', 'a=1', 'b=2', '--timeout', 'soon'], /Invalid --timeout "soon"/, /--timeout 30/],
  ])('%j are refused with the reason and a next step', async (words, reason, hint) => {
    const { code, stdout, stderr } = await call(words, '[]');
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(stderr).toMatch(/^error ARGUMENTS_INVALID /);
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(hint);
  });
});

describe('finding the tool', () => {
  it('starts only the server it needs, also by the name an agent sees', async () => {
    const [plain, full] = await Promise.all([
      call(['echo', 'add', 'a=1', 'b=2']),
      call(['mcp__echo__add', 'a=1', 'b=2']),
    ]);
    for (const done of [plain, full]) expect(done).toEqual({ code: 0, stdout: '{"sum":3}\n', stderr: QUIET });
    expect(existsSync(started)).toBe(false);
  });

  it.each([
    [['echo', 'ad'], 12, 'There is no tool "ad" on server "echo".', 'Did you mean "add"?'],
    [['mcp__echo__ad'], 12, 'There is no tool "mcp__echo__ad".', 'Did you mean "mcp__echo__add"?'],
    [['ecko', 'add'], 11, 'There is no server named "ecko"', 'Did you mean "echo"?'],
    [
      ['entirely', 'wrong'],
      11,
      'There is no server named "entirely"',
      'Configured servers: echo, kinds, other',
    ],
  ])('%j does not exist, and no other server is started to find out', async (words, exit, message, hint) => {
    const { code, stderr } = await call(words);
    expect(code).toBe(exit);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(existsSync(started)).toBe(false);
  });
});

it('a tool name without a server is answered with the server to name', async () => {
  const { code, stderr } = await call(['take', 'text=x']);
  expect(code).toBe(12);
  expect(stderr).toContain(
    'Server "kinds" has a tool with this name. To call it: turnbuckle call kinds take',
  );
});

describe('results', () => {
  it('that cannot be saved are an arguments error, not an internal one', async () => {
    const file = await home.write('project/taken', '');
    const { code, stderr } = await call(['echo', 'content', '-o', file]);
    expect(code).toBe(13);
    expect(stderr).toContain(`Cannot write to ${file}.`);
    expect(stderr).toContain('--output <directory>');
  });

  it('of a failed tool are shown, with exit code 1', async () => {
    const { code, stdout, stderr } = await call(['echo', 'fail']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'failed as asked\n' });
    expect(stderr).toContain('The tool reported an error');
  });

  it('with --json are the whole result and nothing else', async () => {
    const { code, stdout, stderr } = await call(['echo', 'fail', '--json']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ isError: true, content: [{ text: 'failed as asked' }] });
  });

  it('have their images and audio saved to files, never printed, and no file is overwritten', async () => {
    const directory = home.file('pictures');
    const first = await call(['echo', 'content', '--output', directory]);
    const second = await call(['echo', 'content', '-o', directory]);
    expect(first.stdout).toContain(`saved ${directory}/echo-content-2.png (image/png, 70 bytes)`);
    expect(first.stdout).not.toContain('iVBOR');
    expect(second.stdout).toContain('echo-content-2-2.png');
    expect((await readdir(directory)).sort()).toEqual([
      'echo-content-2-2.png',
      'echo-content-2.png',
      'echo-content-3-2.wav',
      'echo-content-3.wav',
      'echo-content-6-2.bin',
      'echo-content-6.bin',
    ]);
    expect((await readFile(`${directory}/echo-content-2.png`)).subarray(1, 4).toString()).toBe('PNG');
  });

  it('have terminal escapes and invisible characters spelt out', async () => {
    const { stdout } = await call(['kinds', 'say']);
    expect(stdout).toBe('\\u{1b}[2Jcleared \\u{202e}reversed\\u{200b} \\u{e0041}tag\n');
    const raw = await call(['kinds', 'say', '--json']);
    for (const hidden of ['\u001b', '\u202e', '\u200b', '\u{e0041}'])
      expect(raw.stdout).not.toContain(hidden);
    expect(JSON.parse(raw.stdout)).toMatchObject({
      content: [{ text: '\u001b[2Jcleared \u202ereversed\u200b \u{e0041}tag' }],
    });
  });

  it.each([
    [['echo', 'rpc_error'], 14, 'SERVER_ERROR'],
    [['other', 'x'], 17, 'SERVER_EXITED'],
    [['echo', 'sleep', 'ms=5000', 'everyMs=5000', '--timeout', '0.3'], 19, 'CALL_TIMEOUT'],
  ])('%j fails with the exit code of the table', async (words, exit, name) => {
    const { code, stderr } = await call(words);
    expect(code).toBe(exit);
    expect(stderr).toContain(`error ${name} `);
  });
});

describe('a call', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends at once on %s and leaves no server running', async (signal, exit) => {
    const child = start(['call', 'echo', 'sleep', 'ms=20000'], { home });
    const end = finished(child);
    await waitUntil(() => descendants(child.pid ?? 0).length > 0);
    const servers = descendants(child.pid ?? 0);
    await new Promise((resolve) => setTimeout(resolve, 600));
    const before = performance.now();
    child.kill(signal);
    expect(await end).toMatchObject({ code: exit, stdout: '' });
    expect(performance.now() - before).toBeLessThan(4_000);
    expect(servers.filter(isAlive)).toEqual([]);
  });

  it.skipIf(!existsSync('/dev/full'))('fails when stdout cannot be written', async () => {
    const file = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [BIN, 'call', 'echo', 'echo', 'text=x'], {
      cwd: home.project,
      env: environmentOf(home),
      stdio: ['ignore', file.fd, 'pipe'],
    });
    const [[code], stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stderr ?? Readable.from([])),
    ]);
    await file.close();
    expect(code).toBe(74);
    expect(stderr).toContain('Cannot write output: ENOSPC');
  });

  it.skipIf(!existsSync('/dev/full'))('continues when stderr cannot be written', async () => {
    const file = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [BIN, 'call', 'echo', 'fail'], {
      cwd: home.project,
      env: environmentOf(home),
      stdio: ['ignore', 'pipe', file.fd],
    });
    const [[code], stdout] = await Promise.all([
      once(child, 'close'),
      text(child.stdout ?? Readable.from([])),
    ]);
    await file.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'failed as asked\n' });
  });

  it('exits with 0 when the reader closes the pipe, and leaves no server running', async () => {
    const child = start(['call', 'echo', 'big', 'bytes=4000000'], { home });
    child.stdout?.once('data', () => child.stdout?.destroy());
    await waitUntil(() => descendants(child.pid ?? 0).length > 0);
    const servers = descendants(child.pid ?? 0);
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(0);
    expect(servers.filter(isAlive)).toEqual([]);
  });
});
