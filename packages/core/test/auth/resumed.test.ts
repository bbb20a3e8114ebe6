import { expect, it } from 'vitest';
import { setStage } from './stage.js';

/** A call whose stream breaks; requests to resume it are refused, once or always. */
async function setBrokenStage(refusals: number) {
  const stage = await setStage({}, { flags: ['--era', 'legacy', '--answers', 'sse'] });
  const { guard } = stage.server;
  const refuse = guard.check.bind(guard);
  let left = refusals;
  guard.check = async (request, what) => {
    if (request.headers['last-event-id'] === undefined || left === 0) return refuse(request, what);
    left -= 1;
    return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
  };
  return stage;
}

it('a call whose stream is resumed with a new token is not repeated', async () => {
  const { server, open, prompts } = await setBrokenStage(1);
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  const result = await runtime.callTool('web', 'drop', {});
  expect(result.content).toEqual([{ type: 'text', text: 'answered after the break' }]);
  expect(server.guard.requests.filter(({ tool }) => tool === 'drop').length).toBe(1);
});

it('a call whose stream cannot be resumed may have run, and is not repeated', async () => {
  const { server, open, prompts, pages } = await setBrokenStage(Number.POSITIVE_INFINITY);
  const runtime = await open(undefined, { signIn: prompts });
  await runtime.signIn('web');
  await expect(runtime.callTool('web', 'drop', {})).rejects.toMatchObject({ code: 'CALL_OUTCOME_UNKNOWN' });
  expect(server.guard.requests.filter(({ tool }) => tool === 'drop').length).toBe(1);
  expect(pages.length).toBe(1);
});
