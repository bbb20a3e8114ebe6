import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

describe.each([{ timeoutMs: 500 }, { maxTotalMs: 500 }])('a call with %j that needs a sign-in', (limits) => {
  it('times out if no one signs in, and leaves the sign-in open', async () => {
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
    // The sign-in stays open: it still counts when the user completes it later.
    for (const signIn of late) await signIn();
    if (late.length > 0) expect(await echo(runtime)).toBe('hi');
  });
});
