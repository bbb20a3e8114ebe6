// Checks the words of docs/glossary.md (CONTRIBUTING.md, "Words"). Fails if a word of its "not" column, or one of
// scripts/forbidden-words.json, is part of a name in packages/*/src, or occurs in a message or on a page.
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const GLOSSARY = 'docs/glossary.md';
/** A single word is a key or a value of a protocol or a file, not a message. */
const MIN_WORDS_OF_A_TEXT = 2;

const { words, names, prefixes, phrases, allowed } = JSON.parse(
  readFileSync('scripts/forbidden-words.json', 'utf8'),
);

/** The cells of the "not" column of every table. */
function notColumn(page) {
  let column = -1;
  return page.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    if (!line.startsWith('|')) column = -1;
    else if (column === -1) column = cells.indexOf('not');
    else if (!/^-+$/.test(cells[column] ?? '')) return (cells[column] ?? '').split(', ').filter(Boolean);
    return [];
  });
}

/** `McpEndpoint`, `#mcp_endpoint` and `MCP_ENDPOINT` are all "mcp endpoint". */
const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[_$#-]+/g, ' ')
    .trim()
    .toLowerCase();

/** Words that a line break may separate. */
const spaced = (words) => words.replaceAll(' ', '\\s+');
/** The word on its own, in singular or plural. */
const pattern = (word) => new RegExp(`(?<![\\w-])${spaced(word.replace(/s$/, ''))}(?:s|es)?(?![\\w-])`, 'i');

const glossaryWords = notColumn(readFileSync(GLOSSARY, 'utf8'));
const everywhere = [...new Set([...glossaryWords, ...words])].map((word) => ({ word, found: pattern(word) }));
const inNames = [...everywhere, ...names.map((word) => ({ word, found: pattern(word) }))];
const inTexts = [
  ...everywhere,
  ...phrases.map((phrase) => ({ word: phrase, found: new RegExp(`(?<!\\w)${spaced(phrase)}(?!\\w)`, 'i') })),
];

const used = new Set();
/** An exception is for one word: in one name, on one page, in one file or, if it ends with a slash, below one folder. */
function isAllowed(word, file, name) {
  const index = allowed.findIndex(
    (one) =>
      one.word === word && (one.in === (name ?? file) || (one.in.endsWith('/') && file.startsWith(one.in))),
  );
  if (index !== -1) used.add(index);
  return index !== -1;
}

function checkName(name, place) {
  const parts = wordsOf(name);
  return inNames
    .filter(({ word, found }) => found.test(parts) && !isAllowed(word, place, name))
    .map(({ word }) => word)
    .concat(prefixes.filter((prefix) => name.startsWith(prefix)))
    .map((word) => `${place}: the name ${name} has "${word}" in it.`);
}

function checkSource(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  // The names of the file and of its folders.
  const path = file.replace(/\.[^/]*$/, '').split('/src/')[1];
  const faults = path.split('/').flatMap((name) => checkName(name, file));
  const placeOf = (node) => `${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`;
  const checkText = (text, node) => {
    if (text.trim().split(/\s+/).length < MIN_WORDS_OF_A_TEXT) return;
    for (const { word, found } of inTexts)
      if (found.test(text) && !isAllowed(word, file))
        faults.push(`${placeOf(node)}: the text has "${word}" in it.`);
  };
  const visit = (node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
      faults.push(...checkName(node.text, placeOf(node)));
    else if (ts.isStringLiteralLike(node)) checkText(node.text, node);
    else if (ts.isTemplateExpression(node))
      // An interpolated value counts as one word.
      checkText([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'), node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

function checkPage(file) {
  const page = readFileSync(file, 'utf8');
  const lineOf = (position) => page.slice(0, position).split('\n').length;
  return inTexts.flatMap(({ word, found }) =>
    [...page.matchAll(new RegExp(found, 'gi'))]
      .filter(() => !isAllowed(word, file))
      .map(({ index }) => `${file}:${lineOf(index)}: the page has "${word}" in it.`),
  );
}

const list = (root, ending) =>
  readdirSync(root, { recursive: true })
    .map((path) => `${root}/${path.replaceAll('\\', '/')}`)
    .filter((path) => ending.test(path) && !/(?:^|\/)(?:node_modules|dist|test)\//.test(path));
const sources = readdirSync('packages').flatMap((name) => list(`packages/${name}/src`, /\.[cm]?[jt]s$/));
const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...['bench', 'docs', 'e2e', 'examples', 'packages', 'testing'].flatMap((root) => list(root, /\.md$/)),
].filter((page) => page !== GLOSSARY && !page.startsWith('docs/agents/'));

const faults = [
  ...(glossaryWords.length < 10
    ? [`${GLOSSARY}: only ${glossaryWords.length} words were found to forbid.`]
    : []),
  ...(sources.length < 100 || pages.length < 20 ? ['The paths are wrong: too few files were found.'] : []),
  ...new Set([...sources.flatMap(checkSource), ...pages.flatMap(checkPage)]),
  ...allowed
    .filter((_, index) => !used.has(index))
    .map(
      (one) =>
        `scripts/forbidden-words.json: "${one.word}" in ${one.in} does not occur: remove the exception.`,
    ),
];
for (const fault of faults) console.error(fault);
console.log(
  `Words: ${inNames.length + phrases.length} words, ${sources.length + pages.length} files, ${faults.length} faults`,
);
process.exit(faults.length === 0 ? 0 : 1);
