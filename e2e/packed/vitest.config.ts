import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const conditions = ['turnbuckle-source', 'import', 'node'];

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['e2e/packed/*.test.ts'],
    reporters: ['verbose'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
