import { CALL_COLUMN_LIST, type CallRecord } from '@turnbuckle/store';
import { describe, expect, it } from 'vitest';
import { openStage } from './api-stage.js';

const toRecord = (id: string, more: Partial<CallRecord> = {}): CallRecord => ({
  id,
  startedAt: Date.now(),
  durationMs: 1,
  server: 'demo',
  tool: 'echo',
  toolName: 'mcp__demo__echo',
  kind: 'tool',
  argumentsBytes: 0,
  resultBytes: 0,
  outcome: 'ok',
  attempts: 1,
  ...more,
});

describe('calls of the log', () => {
  it('are found by their run, and by the former name of the parameter', async () => {
    const { ask, log } = await openStage();
    for (const run of ['a', 'b', undefined]) log.append(toRecord(`in-${run}`, { run }));
    await log.flush();
    const find = async (query: string): Promise<unknown> =>
      (await ask('GET', `/api/calls?server=demo&${query}`)).body.calls;
    expect(await find('run=a')).toMatchObject([{ id: 'in-a', run: 'a' }]);
    expect(await find('conversation=b')).toMatchObject([{ id: 'in-b', run: 'b' }]);
    expect(await find('run=a&conversation=b')).toMatchObject([{ id: 'in-a' }]);
    expect((await ask('GET', '/api/calls/in-undefined')).body).not.toHaveProperty('run');
  });

  it('are described in the OpenAPI document with the text of each column', async () => {
    const { ask } = await openStage();
    const document = JSON.stringify((await ask('GET', '/openapi.json')).body);
    for (const { description } of CALL_COLUMN_LIST) expect(document).toContain(JSON.stringify(description));
  });
});
