/** Two additions that chose the same name while neither was configured: the second one changes nothing of the first. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from '../daemon/hostile-servers.js';
import { type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

let stage: StewardStage;
afterEach(() => stage.close());

/** Waits for the second question, with its package installed and tested. */
async function addUntilTested(name: string): Promise<{ id: string; question: string }> {
  const id = await stage.request('add_server', {
    registryName: `io.github.acme/${name}`,
    serverName: 'notes',
  });
  const first = String((await stage.approval(id)).id);
  await stage.answer(first, 'yes');
  let asked = await stage.approval(id);
  while (asked.id === first) asked = await stage.approval(id);
  return { id, question: String(asked.id) };
}

const pinned = (): unknown =>
  (JSON.parse(readFileSync(stage.home.file('state/pins.json'), 'utf8')) as { pins: Json[] }).pins.map(
    ({ server, tool }) => [server, tool],
  );

// requirement E3, E4
describe('a name that was taken meanwhile', () => {
  it('keeps its server and the pins of its tools', async () => {
    const tool = (name: string) => ({ tools: [{ name, text: 'Notes.' }], isAnnotated: false });
    stage = await openStewardStage({
      packages: [scriptedPackage('honest', tool('read_notes')), scriptedPackage('evil', tool('send_notes'))],
      records: [scriptedRecord('honest'), scriptedRecord('evil')],
    });
    const [honest, evil] = [await addUntilTested('honest'), await addUntilTested('evil')];
    await stage.answer(honest.question, 'yes');
    expect(await stage.until(honest.id, 'completed', 'failed')).toMatchObject({ state: 'completed' });
    const before = { config: stage.config(), pins: pinned() };
    expect(before.pins).toEqual([['notes', 'read_notes']]);
    await stage.answer(evil.question, 'yes');
    expect(await stage.until(evil.id, 'completed', 'failed')).toMatchObject({
      state: 'failed',
      error: { code: 'NAME_TAKEN' },
    });
    expect({ config: stage.config(), pins: pinned() }).toEqual(before);
  });
});
