import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Family, renderFamilies } from '../../src/metrics/exposition.js';
import { parseExposition } from './parse-exposition.js';

const SCRIPT = fileURLToPath(new URL('./scrape-without-descriptors.mjs', import.meta.url));

describe('a scrape', () => {
  it.skipIf(process.platform !== 'linux')(
    'leaves out what a process without a free descriptor cannot read',
    async () => {
      const home = await temporaryDirectory();
      onTestFinished(home.remove);
      const { stdout } = await promisify(execFile)('sh', [
        '-c',
        'ulimit -n 128 && exec "$0" "$1" "$2"',
        process.execPath,
        SCRIPT,
        home.path,
      ]);
      const { before, during } = JSON.parse(stdout) as { before: string; during: string };
      const names = (text: string): string[] => [...parseExposition(text).keys()];
      const missing = names(before).filter((name) => !names(during).includes(name));
      expect(missing.sort()).toEqual(['process_resident_memory_bytes', 'turnbuckle_log_waiting_bytes']);
    },
  );

  it('does not hide a defect', () => {
    const broken: Family = {
      name: 'x',
      type: 'gauge',
      help: 'x',
      samples: () => {
        throw new TypeError('a defect');
      },
    };
    expect(() => renderFamilies([broken])).toThrow('a defect');
  });
});
