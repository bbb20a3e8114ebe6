/** Values of an answer that cannot be used are refused at once, and the approval can be answered again. */
import { afterEach, describe, expect, it } from 'vitest';
import { filesRecord, type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

let stage: StewardStage;
afterEach(() => stage.close());

const FIELDS = [
  { name: 'MODE', isRequired: true, choices: ['read', 'write'] },
  { name: 'LABEL' },
  { name: 'FILES_KEY', isSecret: true },
];

// requirement E3
describe('an answer with values that cannot be used', () => {
  it('is refused, and nothing of it counts', async () => {
    stage = await openStewardStage({ records: [filesRecord({ environmentVariables: FIELDS })] });
    const id = await stage.request('add_server', { registryName: 'io.github.acme/files' });
    const approval = String((await stage.approval(id)).id);
    const faults: ReadonlyArray<readonly [Json, string]> = [
      [{ MODE: 'delete' }, 'must be one of: read, write'],
      [{ MODE: 'read', LABEL: 'x'.repeat(9_000) }, 'longer than 8192 characters'],
      [{ MODE: 'read', LABEL: 'a\0b' }, 'contains a NUL character'],
      [{ MODE: 'read', FILES_KEY: 'a\0b' }, 'contains a NUL character'],
      [{ MODE: 'read', constructor: 'x' }, 'is not a field of this approval'],
      [{ LABEL: 'x' }, 'is required'],
    ];
    for (const [values, text] of faults) {
      const { status, body } = await stage.answer(approval, 'yes', values);
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'ARGUMENTS_INVALID' });
      expect(JSON.stringify(body)).toContain(text);
    }
    expect(await stage.status(id)).toMatchObject({ waitingFor: 'approval' });
    expect((await stage.answer(approval, 'yes', { MODE: 'read', LABEL: 'mine' })).status).toBe(200);
    expect(await stage.approveAll(id)).toMatchObject({ state: 'completed' });
    expect((stage.config().servers as Record<string, Json>).files?.env).toEqual({
      MODE: 'read',
      LABEL: 'mine',
    });
  });
});
