// A steward that only uses energy: each row is written before it is reported, and confirmed in the same file.

import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export const readRows = (file) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line))
    : [];

export function openSteward(file) {
  return {
    poll: async ({ after }) => {
      appendFileSync(file, `${JSON.stringify({ ref: randomUUID(), thousandths: 7, at: Date.now() })}\n`);
      const rows = readRows(file);
      const confirmed = new Set(rows.flatMap(({ confirmed: refs = [] }) => refs));
      const energy = rows.filter(({ ref }) => ref !== undefined && !confirmed.has(ref));
      return { news: [], readTo: after, energy, hasWork: true, hasOwnWork: true };
    },
    confirmEnergy: async (refs) => appendFileSync(file, `${JSON.stringify({ confirmed: refs })}\n`),
    pause: async () => {},
    resume: async () => {},
    cancelAllOf: async () => {},
  };
}
