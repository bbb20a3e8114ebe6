import { EVERY_CONTENT } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import type { Cell } from './call-contract.js';
import { textOf } from './text-of.js';

const SERVER_INFO = { name: 'fixture-echo', version: '1.0.0', title: 'Fixture echo' };

/** `EVERY_CONTENT` as a server of the era sends it, without `resultType`. */
function onTheWire(era: 'legacy' | 'modern'): unknown {
  if (era === 'legacy') return EVERY_CONTENT;
  return {
    ...EVERY_CONTENT,
    _meta: { ...EVERY_CONTENT._meta, 'io.modelcontextprotocol/serverInfo': SERVER_INFO },
  };
}

/** Results are passed on unchanged, errors have codes. */
export function answersContract(cell: () => Cell): void {
  it('returns text, structured content and the failure of a tool', async () => {
    const { runtime } = cell();
    const text = 'zażółć 🦀 "\\ \u2028';
    expect(textOf(await runtime.callTool('main', 'echo', { text }))).toBe(text);
    const sum = await runtime.call({ tool: 'mcp__main__add', arguments: { a: 2, b: 3 } });
    expect(sum.structuredContent).toEqual({ sum: 5 });
    expect(await runtime.callTool('main', 'fail')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'failed as asked' }],
    });
    expect(await runtime.execute('mcp__main__fail')).toMatchObject({
      success: false,
      error: 'failed as asked',
    });
    expect(await runtime.execute('mcp__main__add', { a: 1, b: 1 })).toMatchObject({
      success: true,
      result: { sum: 2 },
      mcp: { server: 'main', tool: 'add', contentType: 'structured' },
    });
  });

  it('returns every kind of content, _meta and unknown members byte for byte', async () => {
    const { runtime, setting } = cell();
    // The SDK removes `resultType: "complete"`, which is the default.
    const { resultType: _, ...result } = await runtime.callTool('main', 'content');
    expect(result).toStrictEqual(onTheWire(setting.era));
    expect(JSON.stringify(result.content)).toBe(JSON.stringify(EVERY_CONTENT.content));
  });

  it("passes on a server's complete JSON-RPC error", async () => {
    await expect(cell().runtime.callTool('main', 'rpc_error', { code: -32050 })).rejects.toMatchObject({
      code: 'SERVER_ERROR',
      server: 'main',
      tool: 'rpc_error',
      data: { rpc: { code: -32050, message: 'error as asked', data: { reason: 'asked' } } },
    });
  });

  it('rejects unknown tools and wrong arguments before anything is sent', async () => {
    const { runtime } = cell();
    await expect(runtime.callTool('main', 'ecco')).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
      hint: 'Did you mean "echo"?',
    });
    await expect(runtime.callTool('main', 'echo', { text: 5 })).rejects.toMatchObject({
      code: 'ARGUMENTS_INVALID',
    });
  });

  it("sends the caller's _meta and mirrored arguments", async () => {
    const { runtime } = cell();
    const meta = { 'example.com/trace': { a: [1] } };
    const seen: unknown = JSON.parse(textOf(await runtime.callTool('main', 'meta', {}, { meta })));
    expect(seen).toMatchObject(meta);
    const args = { region: 'eu west – ż', level: 3, dry: false, nested: { zone: '=?base64?eA==?=' } };
    expect(JSON.parse(textOf(await runtime.callTool('main', 'header', args)))).toEqual(args);
  });

  it('returns to each of 50 concurrent callers its own result', async () => {
    const { runtime } = cell();
    const calls = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0
        ? runtime.callTool('main', 'echo', { text: `call ${index}` })
        : runtime.callTool('main', 'sleep', { ms: 60 - index }),
    );
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts).toEqual(
      texts.map((_, index) => (index % 2 === 0 ? `call ${index}` : `slept ${60 - index} ms`)),
    );
  });
}
