/**
 * Detects descriptions that address the model instead of describing a tool, by a short list of phrases. It finds
 * crude attempts; a clever one reads like any other sentence.
 */

const WHAT = '(?:instructions?|directions?|rules?|prompts?|messages?|guidelines?|context|commands?)';
const WHO = '(?:the |this |your |any )?(?:users?|humans?|person|operator|anyone|anybody)';

/** Each with the phrase by which it is documented. */
const PHRASES: ReadonlyArray<readonly [phrase: string, pattern: string]> = [
  [
    'ignore previous instructions',
    `(?:ignore|disregard|forget|override|bypass) (?:\\w+ ){0,3}?(?:previous|prior|above|earlier|preceding|other|existing|system|safety) (?:\\w+ ){0,2}?${WHAT}`,
  ],
  [
    'do not tell the user',
    `(?:do not|don['’]?t|never|must not|should not|without) (?:\\w+ ){0,2}?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|disclos(?:e|ing)|let) (?:\\w+ ){0,5}?${WHO}\\b`,
  ],
  [
    'without the user knowing',
    `without asking ${WHO}\\b|(?:hide|conceal|keep) (?:\\w+ ){0,3}?(?:from|secret from) ${WHO}\\b`,
  ],
  [
    'even if the user',
    `(?:even if|regardless of (?:what|whether)|no matter what) ${WHO} (?:ask|say|want|object|tell|request)`,
  ],
  [
    'system prompt',
    'system prompt|developer message|hidden instructions?|(?:reveal|print|repeat|output) your instructions',
  ],
  ['you are now', 'you are now (?:a|an|in|the)\\b|new instructions?:|from now on,? you'],
  [
    '<IMPORTANT>',
    '</?(?:important|system|secret|instructions?|hidden|admin|override|assistant)>|<\\|[a-z ]{2,20}\\|>|\\[/?inst\\]|<<sys>>',
  ],
  [
    'ignoriere vorherige',
    'ignorier\\w* (?:\\w+ ){0,3}?(?:vorherigen?|bisherigen?|obigen?|fruheren?) |(?:sag|verrate|erzahl)\\w* (?:\\w+ ){0,3}?(?:dem |der )?(?:benutzer|nutzer)\\w* nichts',
  ],
  [
    'ignore les instructions',
    "ignore[rz]? (?:\\w+ ){0,3}?(?:instructions|consignes|messages) (?:\\w+ ){0,2}?(?:precedente?s|anterieure?s)|ne (?:dis|dites|revele[zr]?) (?:\\w+ ){0,3}?a l['’]?utilisateur",
  ],
  [
    'ignora las instrucciones',
    'ignor[ae]\\w* (?:\\w+ ){0,3}?instruc\\w+ (?:\\w+ ){0,2}?(?:anteriores|previas)|no (?:le )?(?:digas|reveles|menciones) (?:\\w+ ){0,4}?usuario',
  ],
];

const ANY_PHRASE = new RegExp(PHRASES.map(([, pattern]) => `(?:${pattern})`).join('|'));
const PHRASE_PATTERNS = PHRASES.map(([phrase, pattern]) => [phrase, new RegExp(pattern)] as const);

/** The documented phrase that the text matches; undefined if it only describes. */
export function findInstruction(text: string): string | undefined {
  const words = toPlain(text);
  if (!ANY_PHRASE.test(words)) return undefined;
  return PHRASE_PATTERNS.find(([, pattern]) => pattern.test(words))?.[0];
}

/** Lower case, single spaces, no accents, nothing invisible between the letters. */
function toPlain(text: string): string {
  const ascii = /^[\n\t\x20-\x7e]*$/.test(text)
    ? text
    : text
        .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
        .normalize('NFKD')
        .replace(/\p{M}/gu, '');
  return ascii.toLowerCase().replace(/[\s_*"`]+/g, ' ');
}
