import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['turnbuckle-source', 'import', 'node'] },
  ssr: { resolve: { conditions: ['turnbuckle-source', 'import', 'node'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'testing/test/**/*.test.ts', 'docs/**/*.test.ts'],
    globalSetup: ['testing/own-home.ts'],
    pool: 'threads',
    maxWorkers: 4,
    // The sources are read once by each worker and not once by each file: a minute less on two cores.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
