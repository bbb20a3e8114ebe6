/**
 * Loads the large files of the bundle with the code that V8 compiled for them in an earlier run: compiling is a quarter
 * of the time of a call that starts its own server (docs/decisions/0022).
 */
import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { basename, dirname } from 'node:path';
import { constants, Script } from 'node:vm';
import type { CodeCache } from './code-cache.js';

/** A smaller file compiles in less time than it takes to open and check its compiled code. */
const MIN_FILE_CHARACTERS = 100_000;
/** A long run compiles much that a short one does not need, and would have to load each time. */
const MAX_RUN_S = 30;

type Extension = (module: Module, filename: string) => void;

export interface CompiledChunksOptions {
  /** The directory of the bundle. The names of its files contain a hash of their content. */
  readonly directory: string;
  readonly cache: CodeCache;
}

/** From now on, `require` uses the cache for files of the bundle, and the exit of the process fills it. */
export function useCompiledChunks({ directory, cache }: CompiledChunksOptions): void {
  const extensions = Reflect.get(Module, '_extensions') as Record<string, Extension>;
  const loadPlainly = extensions['.js'];
  if (loadPlainly === undefined) return;
  const compiled: Array<[name: string, script: Script]> = [];
  extensions['.js'] = (module, filename) => {
    if (dirname(filename) !== directory) return loadPlainly(module, filename);
    const source = readFileSync(filename, 'utf8');
    if (source.length < MIN_FILE_CHARACTERS) return loadPlainly(module, filename);
    const name = basename(filename, '.js');
    const cachedData = cache.read(name);
    const script = new Script(`(function (exports, require, module, __filename, __dirname) { ${source}\n})`, {
      filename,
      ...(cachedData && { cachedData }),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (cachedData === undefined || script.cachedDataRejected === true) compiled.push([name, script]);
    const run: unknown = script.runInThisContext();
    const values = [module.exports, createRequire(filename), module, filename, directory];
    if (typeof run === 'function') run.apply(module.exports, values);
  };
  process.on('exit', () => {
    if (process.uptime() > MAX_RUN_S) return;
    for (const [name, script] of compiled) cache.write(name, script.createCachedData());
  });
}
