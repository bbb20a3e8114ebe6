import { afterEach, describe, expect, it } from 'vitest';
import { type Asked, form, openAsked, WAYS } from './asked.js';

const WAY = WAYS.find(
  ({ era, transport, expressLane }) => era === 'modern' && transport === 'stdio' && expressLane,
);

let asked: Asked | undefined;
afterEach(async () => {
  await asked?.close();
});

describe('a caller that answers itself', () => {
  const call = async (
    options: Parameters<typeof openAsked>[1],
    params: Readonly<Record<string, unknown>>,
  ) => {
    if (WAY === undefined) throw new Error('there is no such way');
    asked = await openAsked(WAY, options);
    return asked.runtime.callTool(
      'asker',
      'ask',
      { kind: 'elicitation', params },
      { inputRequired: 'return' },
    );
  };

  it('gets the requests that are allowed', async () => {
    const result = await call({}, form({ name: { type: 'string' } }));
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { answer1: {} } });
    expect(asked?.events).toMatchObject([{ outcome: 'answered', reason: 'passed to the caller' }]);
  });

  it('does not get a form that asks for a secret', async () => {
    const refused = call({}, form({ password: { type: 'string' } }));
    await expect(refused).rejects.toMatchObject({
      code: 'INPUT_REQUIRED',
      message: expect.stringContaining('asks for a secret'),
    });
    expect(asked?.events).toMatchObject([{ outcome: 'refused' }]);
  });

  it('does not get what the configuration does not allow', async () => {
    const refused = call({ mayAsk: ['roots'] }, form({ name: { type: 'string' } }));
    await expect(refused).rejects.toMatchObject({
      code: 'INPUT_REQUIRED',
      hint: expect.stringContaining('mayAsk'),
    });
  });
});
