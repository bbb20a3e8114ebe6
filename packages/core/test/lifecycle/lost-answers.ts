import { readFileSync } from 'node:fs';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { expect } from 'vitest';
import { openRuntime, record, textOf } from './open-runtime.js';

/** Lets a server die `times` times between the effect of a call and its result, and checks the outcome. */
export async function loseAnswers(times: number, how: 'exit' | 'kill'): Promise<void> {
  const directory = await temporaryDirectory();
  const file = directory.file('effects');
  const server = fixture('crash-mid-call', '--how', how, '--counter-file', file);
  const runtime = await openRuntime({ servers: { server } });
  await runtime.connectAll();
  const settled = record(runtime, 'call.settled');
  for (let round = 0; round < times; round += 1) {
    await expect(runtime.callTool('server', 'die')).rejects.toMatchObject({ code: 'CALL_OUTCOME_UNKNOWN' });
    expect(textOf(await runtime.callTool('server', 'echo', { text: `${round}` }))).toBe(`${round}`);
  }
  const outcomes = settled.map(({ tool, outcome, attempts }) => `${tool} ${outcome} ${attempts}`);
  expect(outcomes).toEqual(Array.from({ length: times }, () => ['die failed 1', 'echo ok 1']).flat());
  expect(new Set(settled.map(({ requestId }) => requestId)).size).toBe(2 * times);
  expect(readFileSync(file, 'utf8')).toBe('die\n'.repeat(times));
  await directory.remove();
}
