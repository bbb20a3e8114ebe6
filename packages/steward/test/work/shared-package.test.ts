/** Two additions of the same package share its directory. */
import { appendFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from '../daemon/hostile-servers.js';
import { type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

let stage: StewardStage;
beforeEach(async () => {
  stage = await openStewardStage({
    packages: [scriptedPackage('warned', { isAnnotated: false })],
    records: [scriptedRecord('warned')],
  });
});
afterEach(() => stage.close());

/** An addition that waits for the second question, with its package installed and tested. */
async function addUntilTested(serverName: string): Promise<{ id: string; question: string }> {
  const id = await stage.request('add_server', { registryName: 'io.github.acme/warned', serverName });
  const first = String((await stage.approval(id)).id);
  await stage.answer(first, 'yes');
  let asked = await stage.approval(id);
  while (asked.id === first) asked = await stage.approval(id);
  return { id, question: String(asked.id) };
}

const packages = (): string[] =>
  existsSync(stage.packageRoot)
    ? readdirSync(stage.packageRoot).filter((name) => !name.endsWith('.lock'))
    : [];

// requirement E3
describe('a package of two additions', () => {
  it('stays when one of them is cancelled, and goes with the last one', async () => {
    const one = await addUntilTested('one');
    const two = await addUntilTested('two');
    await stage.api('POST', `/api/steward/requests/${one.id}/cancel`, {});
    await stage.until(one.id, 'cancelled');
    expect(packages()).toHaveLength(1);
    await stage.answer(two.question, 'yes');
    expect(await stage.until(two.id, 'completed', 'failed')).toMatchObject({ state: 'completed' });
    expect(packages()).toHaveLength(1);
    const removal = await stage.request('remove_server', { serverName: 'two' });
    expect(await stage.approveAll(removal)).toMatchObject({ result: { uninstalled: true } });
    expect(packages()).toEqual([]);
  });

  it('stays when a server of it is removed while another one is being added', async () => {
    const one = await addUntilTested('one');
    await stage.answer(one.question, 'yes');
    await stage.until(one.id, 'completed');
    const two = await addUntilTested('two');
    const removal = await stage.request('remove_server', { serverName: 'one' });
    expect(await stage.approveAll(removal)).toMatchObject({ result: { uninstalled: false } });
    await stage.api('POST', `/api/steward/requests/${two.id}/cancel`, {});
    await stage.until(two.id, 'cancelled');
    expect(packages()).toEqual([]);
  });
});

describe('a package that was changed after its test', () => {
  it.each([
    ['changed', (file: string) => appendFileSync(file, '// more')],
    ['deleted', () => rmSync(stage.packageRoot, { recursive: true })],
  ])('is not configured: %s', async (_what, harm) => {
    const { id, question } = await addUntilTested('one');
    const [name = ''] = packages();
    harm(join(stage.packageRoot, name, 'node_modules/@acme/server-warned/server.js'));
    await stage.answer(question, 'yes');
    const status = await stage.until(id, 'completed', 'failed');
    expect(status).toMatchObject({ state: 'failed', error: { code: 'RESULT_INVALID' } });
    expect(String((status.error as Json).message)).toContain('was not added');
    expect(stage.config()).not.toHaveProperty('servers');
    expect(packages()).toEqual([]);
  });
});
