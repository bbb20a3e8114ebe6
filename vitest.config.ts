import { configDefaults, defineConfig } from 'vitest/config';
import { LONG_SUITES } from './e2e/long-suites.js';

const left = process.env.TURNBUCKLE_TESTS === 'all' ? [] : LONG_SUITES;

export default defineConfig({
  resolve: { conditions: ['turnbuckle-source', 'import', 'node'] },
  ssr: { resolve: { conditions: ['turnbuckle-source', 'import', 'node'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'testing/test/**/*.test.ts', 'docs/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...left],
    globalSetup: ['testing/own-home.ts'],
    setupFiles: ['testing/property-seed.ts'],
    pool: 'threads',
    maxWorkers: 4,
    // The sources are read once by each worker and not once by each file: a minute less on two cores.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine takes longer than the default second.
    expect: { poll: { timeout: 30_000 } },
  },
});
