/** A quick look at plain data, such as JSON: is there anything in it that would have to go? Nearly always not. */
import { isOpen } from '../text/redact-shapes.js';
import { type DeepRules, isPublicName } from './redact-deep.js';

/** What is nested deeper is left to the slow look, and so are rings. */
const DEEPEST = 32;
const MOST_NAMES = 1_000;
const LONGEST_NAME = 64;

export interface CleanData {
  /** True only when nothing has to go; false may mean that it is not plain data. Makes nothing on the way. */
  check(value: unknown): boolean;
  /** Names that were clean may not be so any more. */
  forgetNames(): void;
}

export function createCleanData({ text, isSecretName }: DeepRules): CleanData {
  // The same few names come again and again.
  const cleanNames = new Set<string>();
  const isCleanName = (name: string): boolean => {
    if (cleanNames.has(name)) return true;
    if (text(name) !== name) return false;
    if (cleanNames.size >= MOST_NAMES) cleanNames.clear();
    if (name.length <= LONGEST_NAME) cleanNames.add(name);
    return true;
  };

  const isClean = (value: unknown, depth: number, hidden: boolean): boolean => {
    if (typeof value === 'string') return hidden ? isOpen(value) : text(value) === value;
    if (typeof value === 'number' || typeof value === 'bigint') return !hidden;
    if (typeof value !== 'object' || value === null) return true;
    if (depth > DEEPEST) return false;
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
    forgetNames: () => cleanNames.clear(),
  };
}
