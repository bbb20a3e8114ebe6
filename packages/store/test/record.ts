import type { Invocation } from '../src/index.js';

/** Near enough to now that nothing is too old to be kept. */
export const TIME = Math.floor(Date.now() / 1_000) * 1_000;

/** A record with everything in it; its id is its number. */
export const record = (number: number, more: Partial<Invocation> = {}): Invocation => ({
  id: `call-${number}`,
  startedAt: TIME + number,
  durationMs: number % 100,
  caller: 'agent-1',
  server: 'github',
  tool: 'search',
  toolName: 'mcp__github__search',
  kind: 'tool',
  arguments: `{"query":"issue ${number}"}`,
  argumentsBytes: 20,
  result: '{"content":[{"type":"text","text":"found it"}]}',
  resultBytes: 46,
  outcome: 'ok',
  attempts: 1,
  ...more,
});
