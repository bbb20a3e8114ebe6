// node scripts/check-skips.mjs <results of vitest as JSON> ...
// Fails if a test was skipped in each of these runs: a machine with all programs needs to skip none. A test that only
// root can run, or only another user, is fine if it ran in the other run.
// `--files` prints the files with skipped tests instead, `--failed` those that failed.
import { readFileSync } from 'node:fs';

const [first, ...others] = process.argv.slice(2);
const listsFiles = first === '--files';
const listsFailed = first === '--failed';
const paths = listsFiles || listsFailed ? others : [first, ...others].filter((path) => path !== undefined);
if (paths.length === 0) {
  console.error('usage: node scripts/check-skips.mjs [--files | --failed] <results.json> ...');
  process.exit(2);
}

/** The path from the root of the repository, which differs between runs. */
const inRepository = (file) => /(?:packages|testing|docs|e2e)\/.*$/.exec(file)?.[0] ?? file;

const files = paths.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')).testResults);
const tests = files.flatMap(({ name, assertionResults }) =>
  assertionResults.map(({ fullName, status }) => ({ file: inRepository(name), fullName, status })),
);
/** A contract test runs for every transport that supports it: it counts as skipped only if it ran for none of them. */
const contractOf = (name) =>
  /^packages\/core\/test\/contract\/[^:]*: .*? lane (?<title>.*)$/.exec(name)?.groups?.title;
const hasRun = ({ status }) => status === 'passed' || status === 'failed';
const nameOf = ({ file, fullName }) => `${file}: ${fullName}`;
if (tests.length === 0) {
  console.error('There is no test in these results.');
  process.exit(1);
}
const print = (names) => process.stdout.write([...new Set(names)].map((name) => `${name}\n`).join(''));
if (listsFiles) {
  print(tests.filter((test) => !hasRun(test)).map(({ file }) => file));
} else if (listsFailed) {
  print(files.filter(({ status }) => status === 'failed').map(({ name }) => inRepository(name)));
} else {
  const ran = new Set(tests.filter(hasRun).map(nameOf));
  const held = new Set([...ran].flatMap((name) => contractOf(name) ?? []));
  const skipped = [...new Set(tests.map(nameOf))].filter(
    (name) => !ran.has(name) && !held.has(contractOf(name)),
  );
  for (const name of skipped) console.error(`skipped in every run: ${name}`);
  console.log(
    `${ran.size} tests ran in ${paths.length} runs, ${skipped.length} were skipped in each of them.`,
  );
  if (skipped.length > 0) process.exit(1);
}
