import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { CallLog, LogReader } from '../src/index.js';

async function start(): Promise<{ directory: string; journal: string }> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return { directory: home.path, journal: home.file('journal') };
}

/** The lines that the child printed: the acknowledged ids, and the error if there was one. */
function runChild(
  command: string,
  args: readonly string[],
  killAfter = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    said += part;
    if (said.length > killAfter) child.kill('SIGKILL');
  });
  return new Promise((resolve) =>
    child.once('close', () => resolve(said.slice(0, said.lastIndexOf('\n')).split('\n'))),
  );
}

const SCRIPT = fileURLToPath(new URL('append-until-killed.mjs', import.meta.url));

it('a killed process loses nothing that it acknowledged, and nothing comes twice', async () => {
  const { directory, journal } = await start();
  const said: string[] = [];
  // Two at a time write to the same journal.
  for (let round = 0; round < 3; round += 1) {
    const pair = [`${round}-a`, `${round}-b`].map((name) =>
      runChild(process.execPath, [SCRIPT, journal, name], 5_000),
    );
    said.push(...(await Promise.all(pair)).flat());
  }
  expect(said.length).toBeGreaterThan(1_000);
  const log = new CallLog({ directory });
  await log.flush();
  const [all] = await log.serverAnalytics();
  const found = new Set<unknown>();
  for (let after = 0; ; ) {
    const rows = await log.find({ after, limit: 1_000 });
    if (rows.length === 0) break;
    for (const row of rows) found.add(row.id);
    after = Number(rows.at(-1)?.number);
  }
  await log.close();
  expect(said.filter((id) => !found.has(id))).toEqual([]);
  expect(found.size).toBe(all?.calls);
  expect(readdirSync(journal)).toEqual([]);
});

it('a process that closes the log can exit by itself', async () => {
  const { directory } = await start();
  const url = new URL('../dist/index.js', import.meta.url).href;
  const code = `
    const { CallLog } = await import(${JSON.stringify(url)});
    const log = new CallLog({ directory: ${JSON.stringify(directory)} });
    await log.flush();
    await log.close();
    await log.close();
    console.log('closed');
    // A log that is left open does not keep the process alive.
    new CallLog({ directory: ${JSON.stringify(directory)} });
    console.log('end');
    console.log('');
  `;
  expect(await runChild(process.execPath, ['--input-type=module', '--eval', code])).toEqual([
    'closed',
    'end',
    '',
  ]);
});

it.skipIf(process.platform === 'win32')(
  'a full disk is reported, and everything before it is kept',
  async () => {
    const { directory, journal } = await start();
    // The kernel lets no file grow beyond 32 blocks of 512 or 1,024 bytes, and writes only a part of the last line.
    const limit = `trap '' XFSZ; ulimit -f 32; exec "$0" "$@"`;
    const said = await runChild('bash', [
      '-c',
      limit,
      process.execPath,
      SCRIPT,
      journal,
      'full',
      'until-refused',
    ]);
    expect(said.at(-1)).toMatch(/^refused: (Short write: \d+ of \d+ bytes|EFBIG)/);
    const reader = await LogReader.open(directory);
    const calls = reader?.serverAnalytics()[0]?.calls;
    reader?.close();
    expect(calls).toBe(said.length - 1);
  },
);
