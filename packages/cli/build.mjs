// The command as a split bundle: a command loads only its own chunk, and the heavy parts when it needs them.
import { chmod, rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

// Built beside and swapped in, so that a command that is running meanwhile never finds half of it.
await rm(at('dist.new'), { recursive: true, force: true });
await build({
  entryPoints: [at('src/bin.ts')],
  outdir: at('dist.new'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  sourcemap: false,
  conditions: ['turnbuckle-source'],
  // jsonc-parser's main entry is a form that bundlers cannot follow.
  mainFields: ['module', 'main'],
  external: ['bufferutil', 'utf-8-validate'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(at('dist.new/bin.js'), 0o755);
await rm(at('dist.old'), { recursive: true, force: true });
await rename(at('dist'), at('dist.old')).catch(() => {});
await rename(at('dist.new'), at('dist'));
await rm(at('dist.old'), { recursive: true, force: true });
