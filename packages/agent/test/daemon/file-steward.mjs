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
    sendRequest: async () => 'r',
    pollMessages: () => [],
    getSubAgentEnergyConsumption: () => 0,
    unconfirmedEnergy: async () => {
      appendFileSync(file, `${JSON.stringify({ ref: randomUUID(), thousandths: 7 })}\n`);
      const rows = readRows(file);
      const confirmed = new Set(rows.flatMap(({ confirmed: refs = [] }) => refs));
      return rows.filter(({ ref }) => ref !== undefined && !confirmed.has(ref));
    },
    confirmEnergy: async (refs) => appendFileSync(file, `${JSON.stringify({ confirmed: refs })}\n`),
    hasActiveWork: () => true,
    getStatus: async () => ({}),
    cancelRequest: async () => ({}),
    pause: async () => {},
    resume: async () => {},
    cancelAll: async () => {},
  };
}
