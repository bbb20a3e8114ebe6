/** Log levels of the protocol, from the lowest to the highest. */
import { CODES, RpcError } from './protocol.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

export type LogLevel = (typeof LEVELS)[number];

export function readLevel(value: unknown): LogLevel {
  const level = LEVELS.find((one) => one === value);
  if (level === undefined)
    throw new RpcError(CODES.invalidParams, `Unknown log level: ${String(value).slice(0, 40)}`);
  return level;
}

/** Whether a message is at or above the level; a message of an unknown level is. */
export function isAtLeast(level: unknown, least: LogLevel): boolean {
  const at = (LEVELS as readonly unknown[]).indexOf(level);
  return at === -1 || at >= LEVELS.indexOf(least);
}
