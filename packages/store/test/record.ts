import type { CallRecord } from '../src/index.js';

/** Close to now, so that no record is too old to be kept. */
export const TIME = Math.floor(Date.now() / 1_000) * 1_000;

/** A complete record; its id contains its number. */
export const record = (number: number, more: Partial<CallRecord> = {}): CallRecord => ({
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
