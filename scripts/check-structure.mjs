// Checks the structure of the sources (CONTRIBUTING.md, "Style"). Fails on a folder with too many files, an unexpected file
// at the root of core, a name that two files of a package declare and export, and a function that is too long. Biome checks
// the length of files and the number of parameters.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import ts from 'typescript';

const MAX_FILES_PER_FOLDER = 20;
const MAX_LINES_PER_FUNCTION = 60;
const CORE_ROOT = ['errors.ts', 'events.ts', 'index.ts'];
/** One file for each item of a table: these folders grow with the table, and their files export the same names. */
const TABLE_FOLDERS = ['packages/cli/src/commands', 'packages/cli/src/imports/clients'];

const packages = readdirSync('packages').map((name) => `packages/${name}`);
const roots = [...packages, 'testing'].map((path) => `${path}/src`);
const files = roots.flatMap((root) =>
  readdirSync(root, { recursive: true })
    .map((path) => `${root}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.[cm]?[jt]s$/.test(path)),
);

function checkFolders() {
  const counts = groupBy(files, dirname);
  const crowded = [...counts]
    .filter(([folder, inside]) => inside.length > MAX_FILES_PER_FOLDER && !TABLE_FOLDERS.includes(folder))
    .map(([folder, inside]) => `${folder} has ${inside.length} files, more than ${MAX_FILES_PER_FOLDER}.`);
  const gone = TABLE_FOLDERS.filter((folder) => !counts.has(folder)).map(
    (folder) => `${folder} does not exist: remove it from TABLE_FOLDERS.`,
  );
  const atRoot = files.filter((file) => dirname(file) === 'packages/core/src').map((file) => basename(file));
  const loose = atRoot.filter((name) => !CORE_ROOT.includes(name)).map((name) => `packages/core/src/${name}`);
  const missing = CORE_ROOT.filter((name) => !atRoot.includes(name)).map(
    (name) => `packages/core/src/${name}`,
  );
  return [
    ...crowded,
    ...gone,
    ...loose.map((file) => `${file} is at the root of core: move it into a folder.`),
    ...missing.map((file) => `${file} is missing.`),
  ];
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Names that the file declares and exports. Re-exports from another file do not count. */
function declaredExports(source) {
  const declared = new Map();
  for (const statement of source.statements) {
    const names = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.flatMap(({ name }) => boundNames(name))
      : statement.name !== undefined && ts.isIdentifier(statement.name)
        ? [statement.name.text]
        : [];
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    for (const name of names) declared.set(name, declared.get(name) === true || isExported);
  }
  const listed = source.statements
    .filter((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier === undefined)
    .flatMap(({ exportClause }) => exportClause?.elements ?? [])
    .filter(({ propertyName, name }) => declared.has((propertyName ?? name).text));
  return new Set([
    ...[...declared].filter(([, isExported]) => isExported).map(([name]) => name),
    ...listed.map(({ name }) => name.text),
  ]);
}

const boundNames = (name) =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (element.name === undefined ? [] : boundNames(element.name)));

function checkExports(sources) {
  return roots.flatMap((root) => {
    const places = new Map();
    for (const source of sources.filter(({ fileName }) => fileName.startsWith(`${root}/`)))
      if (!TABLE_FOLDERS.includes(dirname(source.fileName)))
        for (const name of declaredExports(source))
          places.set(name, [...(places.get(name) ?? []), source.fileName]);
    return [...places]
      .filter(([, where]) => where.length > 1)
      .map(([name, where]) => `"${name}" is exported by more than one file: ${where.join(', ')}.`);
  });
}

/** Counts all lines from the signature to the closing brace. */
function checkFunctions(source) {
  const faults = [];
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const start = node.getStart(source);
      const lines = lineOf(node.end) - lineOf(start) + 1;
      if (lines > MAX_LINES_PER_FUNCTION)
        faults.push(
          `${source.fileName}:${lineOf(start) + 1} has a function of ${lines} lines, more than ${MAX_LINES_PER_FUNCTION}.`,
        );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

const sources = files.map((file) =>
  ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
);
const faults = [
  ...(sources.length < 100 ? [`Only ${sources.length} source files were found: the paths are wrong.`] : []),
  ...checkFolders(),
  ...checkExports(sources),
  ...sources.flatMap(checkFunctions),
];
for (const fault of faults) console.error(fault);
console.log(`Structure: ${sources.length} files, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
