/** A quick check of plain data, such as JSON, for anything to redact. Usually there is nothing. */

import { isPublicName, type RedactionRules } from './redact-deep.js';
import { isOnlyPlaceholders } from './redact-shapes.js';

/** Deeper nesting and cycles are left to the slow check. */
const MAX_QUICK_DEPTH = 32;
const MAX_CACHED_NAMES = 1_000;
const MAX_CACHED_NAME_LENGTH = 64;

export interface CleanCheck {
  /** True only if there is nothing to redact; false may also mean that it is not plain data. Allocates nothing. */
  check(value: unknown): boolean;
  /** Names that were clean may no longer be. */
  clearNameCache(): void;
}

export function createCleanCheck({ text, isSecretName }: RedactionRules): CleanCheck {
  // The same few names occur again and again.
  const cleanNames = new Set<string>();
  const isCleanName = (name: string): boolean => {
    if (cleanNames.has(name)) return true;
    if (text(name) !== name) return false;
    if (cleanNames.size >= MAX_CACHED_NAMES) cleanNames.clear();
    if (name.length <= MAX_CACHED_NAME_LENGTH) cleanNames.add(name);
    return true;
  };

  const isClean = (value: unknown, depth: number, hidden: boolean): boolean => {
    if (typeof value === 'string') return hidden ? isOnlyPlaceholders(value) : text(value) === value;
    if (typeof value === 'number' || typeof value === 'bigint') return !hidden;
    if (typeof value !== 'object' || value === null) return true;
    if (depth > MAX_QUICK_DEPTH) return false;
    if (Array.isArray(value)) {
      for (const part of value) if (!isClean(part, depth + 1, hidden)) return false;
      return true;
    }
    if (Object.getPrototypeOf(value) !== Object.prototype) return false;
    for (const name in value) {
      if (!isCleanName(name)) return false;
      const isHidden = (hidden && !isPublicName(name)) || isSecretName(name);
      if (!isClean(Reflect.get(value, name), depth + 1, isHidden)) return false;
    }
    return true;
  };

  return {
    check: (value) => {
      try {
        return isClean(value, 0, false);
      } catch {
        return false;
      }
    },
    clearNameCache: () => cleanNames.clear(),
  };
}
