import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser } from '../../src/fetching/open-browser.js';

const directory = await temporaryDirectory();
const record = join(directory.path, 'record');
const marker = join(directory.path, 'marker');
const before = process.env.PATH;
// A script, like the real openers. Writes one line for each argument, and one at the end.
const opener = join(directory.path, 'xdg-open');
await writeFile(
  opener,
  `#!/bin/sh\nfor word in "$@"; do printf '%s\\n' "$word" >> '${record}'; done\necho END >> '${record}'\n`,
);
await chmod(opener, 0o755);
process.env.PATH = `${directory.path}:${before}`;
afterAll(async () => {
  process.env.PATH = before;
  await directory.remove();
});
beforeEach(() => writeFile(record, ''));

const linux = { platform: 'linux' } as const;
const recorded = async (): Promise<string[]> => (await readFile(record, 'utf8')).split('\n').slice(0, -1);

async function argumentsOf(url: string | URL): Promise<string[]> {
  await openBrowser(url, linux);
  await waitUntil(async () => (await recorded()).at(-1) === 'END');
  return (await recorded()).slice(0, -1);
}

describe.skipIf(process.platform === 'win32')('with an opener that records', () => {
  it('passes the address as its only argument', async () => {
    const url = 'https://example.com/authorize?client_id=a%20b&scope=c+d&state=x-y_z~1#top';
    expect(await argumentsOf(url)).toEqual([url]);
    await writeFile(record, '');
    expect(await argumentsOf(new URL('http://[::1]:8080/a'))).toEqual(['http://[::1]:8080/a']);
  });

  it.each([
    ['javascript:alert(1)', 'scheme'],
    ['data:text/html,<script>alert(1)</script>', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['ms-msdt:/id PCWDiagnostic /skip force', 'scheme'],
    ['a:$(calc.exe)?response_type=code', 'scheme'],
    ['vbscript:msgbox(1)', 'scheme'],
    ['search-ms:query=x', 'scheme'],
    ['smb://10.0.0.1/share', 'scheme'],
    ['https://user:password@example.com/', 'credentials'],
    ['https://user@example.com/', 'credentials'],
    ['https://$(calc.exe).example.com/', 'url'],
    ['https://`id`.example.com/', 'url'],
    ['https://a"b.example.com/', 'url'],
    ['https://a;b/', 'url'],
    ['--help', 'url'],
    ['-a Calculator', 'url'],
    ['example.com', 'url'],
    ['', 'url'],
    ['https://', 'url'],
    ['https://exa mple.com/', 'url'],
  ])('runs nothing for %j', async (url, reason) => {
    await expect(openBrowser(url, linux)).rejects.toMatchObject({ code: 'FETCH_REFUSED', data: { reason } });
    expect(await recorded()).toEqual([]);
  });

  it.each([
    `https://example.com/$(touch ${marker})`,
    `https://example.com/\`touch ${marker}\``,
    `https://example.com/?a=";touch ${marker};"`,
    `https://example.com/?a=';touch ${marker};'`,
    `https://example.com/?a=|touch ${marker}&b=<x>`,
    `https://example.com/#$(touch ${marker})`,
    `https://example.com/\n--new-window\n/`,
    'https://example.com/a b\tc\r\nd',
    'https://example.com/%00\0end',
    'https://example.com/?redirect=javascript:alert(1)',
    'https://example.com/?a={{1+1}}&b=!x!&c=%PATH%&d=^&e=*',
    '  https://example.com/\u202e\u0007  ',
    'HTTPS:\\\\example.com\\a',
  ])('passes one harmless argument for %j', async (url) => {
    const words = await argumentsOf(url);
    expect(words).toEqual([expect.stringMatching(/^https:\/\/example\.com\/[\w/:?#&=%.,~@+-]*$/)]);
    expect(new URL(words[0] ?? '').origin).toBe('https://example.com');
    await expect(readFile(marker)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

it('fails if there is no opener', async () => {
  const path = process.env.PATH;
  process.env.PATH = join(directory.path, 'nothing');
  try {
    await expect(openBrowser('https://example.com/', linux)).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
      message: 'Cannot open a browser because "xdg-open" failed to start.',
    });
  } finally {
    process.env.PATH = path;
  }
});

it.each([
  ['darwin', 'open', []],
  ['win32', expect.stringMatching(/\\System32\\rundll32\.exe$/), ['url.dll,FileProtocolHandler']],
  ['linux', 'xdg-open', []],
  ['freebsd', 'xdg-open', []],
] as const)('on %s it starts one program without a shell', async (platform, command, args) => {
  const started: unknown[] = [];
  await openBrowser("https://example.com/?a='b'&c=d", {
    platform,
    spawn: (...all) => {
      started.push(all);
      const once = (event: string, listener: (error: Error) => void) =>
        event === 'spawn' && listener(new Error('not looked at'));
      return { once, unref: () => {} };
    },
  });
  expect(started).toEqual([
    [
      command,
      [...args, 'https://example.com/?a=%27b%27&c=d'],
      expect.objectContaining({ shell: false, detached: true, stdio: 'ignore' }),
    ],
  ]);
});
