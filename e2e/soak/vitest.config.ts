import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The files of the hostile suite that do more here than in other runs. */
function measuringFiles(): string[] {
  const folder = fileURLToPath(new URL('../../packages/core/test/hostile/', import.meta.url));
  const measures = /\b(?:strainOf|expectCalm|timeBound|sampled|rounds)\b|\bfc\./;
  return readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts') && measures.test(readFileSync(folder + name, 'utf8')))
    .map((name) => `packages/core/test/hostile/${name}`);
}

const conditions = ['turnbuckle-source', 'import', 'node'];

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // What measures runs here too: its time limits hold only on a quiet machine. Property tests run here with more cases.
    include: [
      'e2e/soak/*.test.ts',
      ...measuringFiles(),
      'packages/gateway/test/fuzz/*.test.ts',
      'packages/gateway/test/daemon/{large-inputs,large-lists}.test.ts',
      'packages/core/test/auth/race.test.ts',
      'packages/core/test/redaction/redact-slices.test.ts',
      'packages/core/test/redaction/find-secrets.test.ts',
      'packages/core/test/policy/{possible-addresses,decision-budget}.test.ts',
      'packages/core/test/config/hostile-files.test.ts',
      'packages/cli/test/imports/hostile-texts.test.ts',
      'packages/core/test/redaction/redact-properties.test.ts',
    ],
    setupFiles: ['testing/property-seed.ts'],
    pool: 'threads',
    // Each file measures times or needs the whole machine: they run one after the other.
    fileParallelism: false,
    // Time limits hold on a quiet machine, which this one may not be: each test gets a second try.
    retry: 1,
    reporters: ['verbose'],
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
  },
});
