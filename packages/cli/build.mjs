// The command as a split bundle: a command loads only its own chunk, and the heavy parts when it needs them.
import { chmod, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * A second zod for the MCP SDK. With one for both, the little that the configuration needs would come in one chunk
 * with the much that the SDK needs, and every command would load it.
 * @type {import('esbuild').Plugin}
 */
const zodOfSdk = {
  name: 'zod of the SDK',
  setup(bundler) {
    const namespace = 'zod-of-sdk';
    const again = { skip: true };
    bundler.onResolve(
      { filter: /^zod(\/|$)|^\./ },
      async ({ path, importer, resolveDir, kind, pluginData, ...from }) => {
        const ofSdk = path.startsWith('.')
          ? from.namespace === namespace
          : importer.includes('@modelcontextprotocol');
        if (!ofSdk || pluginData === again) return undefined;
        const found = await bundler.resolve(path, { kind, resolveDir, pluginData: again });
        return { ...found, namespace };
      },
    );
    bundler.onLoad({ filter: /./, namespace }, async ({ path }) => ({
      contents: await readFile(path, 'utf8'),
      resolveDir: dirname(path),
    }));
  },
};

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
  external: ['bufferutil', 'utf-8-validate', '@napi-rs/keyring'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  plugins: [zodOfSdk],
  logLevel: 'warning',
});
await chmod(at('dist.new/bin.js'), 0o755);
await rm(at('dist.old'), { recursive: true, force: true });
await rename(at('dist'), at('dist.old')).catch(() => {});
await rename(at('dist.new'), at('dist'));
await rm(at('dist.old'), { recursive: true, force: true });
