/** Words of purposes and records: how they are separated and reduced, and which mean the same here. */

/** In nearly every record or request: they say nothing about the purpose. */
const STOP_WORDS = new Set(
  (
    'a an and any are as at be by can do for from get give have help how i in into is it its let like me my need of on ' +
    'or our server servers mcp service so some something that the their them then this to tool tools up use used user ' +
    'users using want we what when which who will with you your able allow allows enable enables provide provides via ' +
    'model context protocol ai llm agent agents assistant assistants interact access integration'
  ).split(' '),
);

/** What is done with everything: of little weight beside what it is done with. */
const WEAK_WORDS = new Set(
  (
    'add analyze api app build change check connect control create data delete edit execute fetch find handle list ' +
    'look make manage open operation perform process query read remove run save search send see show store update view write'
  )
    .split(' ')
    .map(stem),
);

/** Each line: words for the same thing. A word of a purpose also finds the others of its line, with less weight. */
const SAME_THINGS = [
  'spreadsheet excel xlsx sheet workbook csv',
  'file filesystem folder directory disk',
  'web browser browse website page webpage internet url chromium',
  'browser playwright puppeteer automation selenium chromium',
  'database sql db table',
  'postgres postgresql',
  'email mail gmail imap smtp inbox outlook',
  'chat message slack discord team',
  'calendar event schedule meeting appointment',
  'issue ticket bug jira linear',
  'payment invoice billing stripe charge',
  'git commit branch repository github gitlab',
  'map geocode place direction location',
  'weather forecast temperature',
  'note wiki notion document knowledge',
  'memory remember knowledge graph',
  'container docker image kubernetes pod',
  'log error monitoring sentry observability metric',
  'image picture photo drawing',
  'pdf document',
  'time clock timezone date',
  'translate translation language',
  'video youtube transcript',
  'shop store ecommerce product order',
  'crm customer contact lead',
  'cloud aws azure gcp',
  'music song playlist spotify',
].map((line) => line.split(' ').map(stem));

const MAX_WORDS = 400;
const MAX_WORD_LENGTH = 40;

/** The words of a text, separated at everything but letters and digits, and where capitals begin a word. */
export function wordsOf(text: string): string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u, MAX_WORDS)
    .filter((word) => word !== '');
}

/** The reduced form in which words are compared; undefined for a word that says nothing. */
export function toTerm(word: string): string | undefined {
  if (STOP_WORDS.has(word) || word.length > MAX_WORD_LENGTH) return undefined;
  return stem(word);
}

/** English endings, roughly: records and purposes only have to be reduced alike. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && /(?:ch|sh|ss|x)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith('s') && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1);
  if (word.length > 6 && word.endsWith('ing')) return undouble(word.slice(0, -3));
  return word;
}

function undouble(word: string): string {
  return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}

export interface SearchedWord {
  /** As it was written. */
  readonly word: string;
  readonly term: string;
  /** Less for words that are done with everything. */
  readonly weight: number;
  /** Terms for the same thing. */
  readonly others: readonly string[];
}

const MAX_SEARCHED_WORDS = 12;
const WEAK_WEIGHT = 0.25;

/** What a purpose asks for. */
export function searchedWords(purpose: string): SearchedWord[] {
  const words = new Map<string, string>();
  for (const word of wordsOf(purpose.slice(0, 2_000))) {
    const term = toTerm(word);
    if (term !== undefined && !words.has(term)) words.set(term, word);
  }
  return [...words].slice(0, MAX_SEARCHED_WORDS).map(([term, word]) => ({
    word,
    term,
    weight: WEAK_WORDS.has(term) ? WEAK_WEIGHT : 1,
    others: [...new Set(SAME_THINGS.filter((line) => line.includes(term)).flat())].filter(
      (one) => one !== term,
    ),
  }));
}
