import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['turnbuckle-source', 'import', 'node'] },
  ssr: { resolve: { conditions: ['turnbuckle-source', 'import', 'node'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'testing/test/**/*.test.ts', 'docs/**/*.test.ts'],
    globalSetup: ['testing/own-home.ts'],
    pool: 'threads',
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
