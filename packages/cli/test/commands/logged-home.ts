/** A home with a call log, as a daemon leaves it. */
import { join } from 'node:path';
import { CallLog, type CallRecord, type ServerRecord } from '@turnbuckle/store';
import { createHome, type Home } from './turnbuckle.js';

export const logOf = ({ path }: Home): string => join(path, 'state', 'log');

export const call = (id: string, more: Partial<CallRecord> = {}): CallRecord => ({
  id,
  startedAt: Date.now() - 60_000,
  durationMs: 12,
  caller: 'claude',
  server: 'demo',
  tool: 'echo',
  toolName: 'mcp__demo__echo',
  kind: 'tool',
  arguments: '{"text":"hi"}',
  argumentsBytes: 13,
  result: '{"content":[{"type":"text","text":"hi"}]}',
  resultBytes: 41,
  outcome: 'ok',
  attempts: 1,
  decision: 'allow',
  reason: 'by default',
  ...more,
});

export async function createLoggedHome(
  calls: readonly CallRecord[],
  {
    configured,
    servers = [],
  }: {
    readonly configured?: Readonly<Record<string, unknown>>;
    readonly servers?: readonly ServerRecord[];
  } = {},
): Promise<Home> {
  const home = await createHome(configured);
  const log = new CallLog({ directory: logOf(home) });
  for (const server of servers) log.recordServer(server);
  for (const one of calls) log.append(one);
  await log.flush();
  await log.close();
  return home;
}
