/**
 * Files that interpreters find by something other than a file name: `node server` runs server.js, `python -m a.b`
 * runs a/b.py, `npm --prefix sub start` runs what sub/package.json says.
 */
import { stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { errorWithCode, readFileText } from '../../files/read-file.js';
import { isRecord } from '../../json/is-record.js';

const INTERPRETER =
  /^(?:node(?:js)?|bunx?|deno|tsx|ts-node(?:-esm)?|nodemon|electron|python[\d.]*w?|pypy[\d.]*|uv|ruby|perl|php|lua|(?:ba|z|da|k|fi)?sh|pwsh|powershell)(?:\.exe|\.cmd)?$/i;
/** Options with a separate value, which is then not the program. */
const WITH_VALUE =
  /^(?:-[rCWXIm]|--(?:require|import|(?:experimental-)?loader|conditions|env-file|prefix|cwd|dir|config|tsconfig|project|with|preload))$/;
/** Programs that run a named script of a project file, some of them without a subcommand. */
const SCRIPT_RUNNER = /^(?:npm|pnpm|yarn|bun)(?:\.exe|\.cmd)?$/i;
const SCRIPT_WORD = /^(?:run|run-script|rum|urn|start|stop|restart|test|tst|t|--run)$/;
const DIRECTORY_OPTION = /^(?:-C|--prefix|--cwd|--dir|--directory|cd)$/;
const SUBCOMMAND = /^(?:run|exec|start|test|watch)$/;
const MAX_DIRECTORIES = 8;
const MAX_MANIFEST_BYTES = 1_048_576;
const SUFFIXES = ['.js', '.cjs', '.mjs', '.ts', '.cts', '.mts', '.json', '.node', '.py'];
const INDEXES = SUFFIXES.map((suffix) => (suffix === '.py' ? '__main__.py' : `index${suffix}`));

/** Maximum number of paths. The rest cannot be omitted: it could run, and its changes would go unnoticed. */
export class PathSet {
  readonly paths = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws an error with the code E2BIG if there are too many. */
  add(path: string): void {
    this.paths.add(path);
    if (this.paths.size > this.#max) throw errorWithCode('E2BIG');
  }
}

/** Adds everything that the words of a command, including shell lines, can make an interpreter run. */
export async function addProgramFiles(paths: PathSet, words: readonly string[], cwd: string): Promise<void> {
  const bases = [cwd, ...directoriesIn(words).map((directory) => resolve(cwd, directory))];
  for (const name of programsIn(words))
    for (const base of bases) for (const path of await loaderCandidates(resolve(base, name))) paths.add(path);
  for (const name of modulesIn(words))
    for (const base of bases) for (const path of moduleFiles(base, name)) paths.add(path);
  if (runsScripts(words)) for (const base of bases) paths.add(join(base, 'package.json'));
}

function directoriesIn(words: readonly string[]): string[] {
  const found = words.flatMap((word, index) => {
    const [option = '', value] = word.split(/=(.*)/s);
    if (!DIRECTORY_OPTION.test(option)) return [];
    return [value ?? words[index + 1] ?? '.'];
  });
  return [...new Set(found)].slice(0, MAX_DIRECTORIES);
}

/** The words after an interpreter, up to the first that is neither an option nor its value. */
function programsIn(words: readonly string[]): string[] {
  const found = new Set<string>();
  let at = 0;
  for (const [index, word] of words.entries()) {
    // Skips words that an earlier interpreter already covers.
    if (index < at || !INTERPRETER.test(basename(word))) continue;
    for (at = index + 1; at < words.length; at += 1) {
      const next = words[at] ?? '';
      if (next.startsWith('-') || SUBCOMMAND.test(next)) {
        if (SUBCOMMAND.test(next)) found.add(next);
        continue;
      }
      found.add(next);
      if (!WITH_VALUE.test(words[at - 1] ?? '')) break;
    }
  }
  return [...found].filter((name) => name !== '' && name.length <= 4_096 && !name.includes('\0'));
}

const modulesIn = (words: readonly string[]): ReadonlySet<string> =>
  new Set(
    words.flatMap((word, index) => {
      const name = word === '-m' ? words[index + 1] : /^-m(.+)$/s.exec(word)?.[1];
      return name !== undefined && /^[\w.]{1,512}$/.test(name) ? [name] : [];
    }),
  );

/** A module, and its parent packages, which run first. */
function moduleFiles(base: string, name: string): string[] {
  const packages: string[] = [];
  let place = base;
  for (const step of name.split('.').filter((one) => one !== '')) {
    // Not joined: that would scan the whole path again at each step.
    place = `${place}${sep}${step}`;
    packages.push(`${place}${sep}__init__.py`);
  }
  return [`${place}.py`, `${place}${sep}__main__.py`, ...packages];
}

function runsScripts(words: readonly string[]): boolean {
  const runner = words.find((word) => SCRIPT_RUNNER.test(basename(word)));
  const says = words.some((word) => SCRIPT_WORD.test(word.replace(/=.*$/s, '')));
  if (runner === undefined) return words.some((word) => /^--run(?:=|$)/.test(word));
  return says || !/^npm/i.test(basename(runner));
}

/** What a loader tries for a path: itself, with an extension, and as a directory. */
async function loaderCandidates(path: string): Promise<string[]> {
  const tried = [path, ...SUFFIXES.map((suffix) => `${path}${suffix}`)];
  const isDirectory = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isDirectory) return tried;
  const main = await mainOf(path);
  const ofMain =
    main === undefined
      ? []
      : [main, ...SUFFIXES.map((suffix) => `${main}${suffix}`), ...INDEXES.map((index) => join(main, index))];
  return [...tried, join(path, 'package.json'), ...ofMain, ...INDEXES.map((index) => join(path, index))];
}

async function mainOf(directory: string): Promise<string | undefined> {
  try {
    const file = join(directory, 'package.json');
    const manifest: unknown = JSON.parse(await readFileText(file, { maxBytes: MAX_MANIFEST_BYTES }));
    return isRecord(manifest) && typeof manifest.main === 'string'
      ? resolve(directory, manifest.main)
      : undefined;
  } catch {
    return undefined;
  }
}
