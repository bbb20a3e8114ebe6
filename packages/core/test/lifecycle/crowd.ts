import { fixture } from '@turnbuckle/testing';
import type { ServerInput } from 'turnbuckle';
import { ONCE } from './open-runtime.js';

export interface Crowd {
  readonly servers: Record<string, ServerInput>;
  readonly good: readonly string[];
  /** The final result of `status()` for each server: its status and, if any, the error code. */
  readonly expected: Readonly<Record<string, string>>;
}

export interface CrowdOptions {
  /** The timeout of the bad servers. */
  readonly connectTimeoutMs: number;
  /** The start time of the slowest good server; the others take a share of it. */
  readonly slowestMs?: number;
}

/** Twenty servers: ten good ones, five that hang in different places, three that crash, two that do not exist. */
export function crowd({ connectTimeoutMs, slowestMs = 0 }: CrowdOptions): Crowd {
  const servers: Record<string, ServerInput> = {};
  const expected: Record<string, string> = {};
  const add = (name: string, server: ServerInput, told: string): void => {
    servers[name] = server;
    expected[name] = told;
  };
  const good = Array.from({ length: 10 }, (_, index) => `good-${index}`);
  for (const [index, name] of good.entries()) {
    const startMs = Math.round((slowestMs * (index + 1)) / good.length);
    const era = index % 2 === 0 ? 'both' : 'legacy';
    add(name, fixture('slow', '--era', era, '--start-ms', `${startMs}`), 'connected');
  }
  const bad = { connectTimeoutMs, reconnect: ONCE };
  const hanging = [
    ['--era', 'legacy', '--hang-at', 'initialize'],
    ['--revision', '2024-11-05', '--hang-at', 'initialize'],
    ['--start-ms', '60000'],
    ['--era', 'legacy', '--answer-ms', '60000'],
    ['--era', 'modern', '--answer-ms', '60000'],
  ];
  for (const [index, flags] of hanging.entries())
    add(`hang-${index}`, { ...fixture('slow', ...flags), ...bad }, 'failed CONNECT_TIMEOUT');
  const crashing = [['--at-start'], ['--at-start', '--how', 'kill'], ['--after-init', '--era', 'legacy']];
  for (const [index, flags] of crashing.entries())
    add(`crash-${index}`, { ...fixture('crash-mid-call', ...flags), ...bad }, 'failed SERVER_EXITED');
  add('missing-0', { command: 'no-such-command-anywhere', ...bad }, 'failed COMMAND_NOT_FOUND');
  add('missing-1', { command: '/no/such/path/server', ...bad }, 'failed COMMAND_NOT_FOUND');
  return { servers, good, expected };
}
