import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

describe.each([{ timeoutMs: 500 }, { maxTotalMs: 500 }])('a call with %j that needs a sign-in', (limits) => {
  it('ends in time although nobody signs in, and leaves the sign-in to the person', async () => {
    const { open, prompts, pages } = await setStage();
    const late: (() => Promise<void>)[] = [];
    const runtime = await open(undefined, {
      signIn: {
        open: (page) => {
          late.push(async () => prompts.open(page));
        },
      },
    });
    const started = performance.now();
    await expect(runtime.callTool('web', 'echo', { text: 'x' }, limits)).rejects.toMatchObject({
      code: 'CALL_TIMEOUT',
      message: expect.stringMatching(/500 ms.*sign in|500 ms.*the connection/),
    });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(pages).toEqual([]);
    // It goes on: whoever signs in after all did not do so in vain.
    for (const signIn of late) await signIn();
    if (late.length > 0) expect(await echo(runtime)).toBe('hi');
  });
});
