import { expect, it } from 'vitest';
import type { Cell } from './call-contract.js';
import { textOf } from './text-of.js';

const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };

/** Server requests, in the form of each era. */
export function serverRequestsContract(cell: () => Cell): void {
  it('answers server requests, round by round', async () => {
    const { runtime } = cell();
    const ask = async (kind: string, rounds: number): Promise<unknown> =>
      JSON.parse(textOf(await runtime.callTool('main', 'ask', { kind, rounds }, { timeoutMs: 10_000 })));
    expect(await ask('elicitation', 2)).toMatchObject([ACCEPTED, ACCEPTED]);
    expect(await ask('sampling', 1)).toMatchObject([{ role: 'assistant', model: 'test' }]);
    expect(await ask('roots', 1)).toMatchObject([{ roots: [{ uri: 'file:///tmp' }] }]);
  });

  it('reports that input is required if there is no handler', async () => {
    const call = cell().bare.callTool('main', 'ask', {}, { timeoutMs: 10_000 });
    await expect(call).rejects.toMatchObject({ code: 'INPUT_REQUIRED', server: 'main', tool: 'ask' });
  });

  it('passes the request to the caller, which continues with the answer', async ({ skip }) => {
    const { runtime, setting } = cell();
    if (setting.era === 'legacy') skip();
    const asked = await runtime.callTool('main', 'ask', { rounds: 2 }, { inputRequired: 'return' });
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: { answer1: { method: 'elicitation/create', params: { message: 'Question 1?' } } },
    });
    const again = await runtime.callTool(
      'main',
      'ask',
      { rounds: 2 },
      {
        inputRequired: 'return',
        inputResponses: { answer1: { action: 'decline' } },
        requestState: Reflect.get(asked, 'requestState'),
      },
    );
    expect(again).toMatchObject({ inputRequests: { answer2: {} } });
    const done = await runtime.callTool(
      'main',
      'ask',
      { rounds: 2 },
      { inputResponses: { answer2: ACCEPTED }, requestState: Reflect.get(again, 'requestState') },
    );
    expect(JSON.parse(textOf(done))).toEqual([{ action: 'decline' }, ACCEPTED]);
  });
}
