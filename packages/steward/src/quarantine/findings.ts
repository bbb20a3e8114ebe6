/** Collects findings while a test runs: each once, and not more than anybody reads. */
import type { Finding } from './report.js';

export interface FindingList {
  add(level: Finding['level'], where: string, text: string): void;
  addAll(findings: Iterable<Finding>): void;
  readonly all: readonly Finding[];
}

/** More than a report shows; of each level, so that notes never displace failures. */
const MAX_FINDINGS = 500;

export function createFindings(): FindingList {
  const known = new Map<string, Finding>();
  const counts = { fail: 0, warn: 0, note: 0 };
  const put = (finding: Finding): void => {
    const { level, where, text } = finding;
    const key = JSON.stringify([level, where, text]);
    if (known.has(key) || counts[level] >= MAX_FINDINGS) return;
    counts[level] += 1;
    known.set(key, finding);
  };
  return {
    add: (level, where, text) => put({ level, where, text }),
    addAll: (findings) => {
      for (const finding of findings) put(finding);
    },
    get all() {
      return [...known.values()];
    },
  };
}
