/** JSON5 as JSON: comments go, bare keys and single quotes become double ones. Everything else stays. */

const TOKENS: readonly { readonly pattern: RegExp; turn(token: string): string }[] = [
  { pattern: /"(?:[^"\\]|\\[\s\S])*"/y, turn: (token) => token },
  {
    pattern: /'(?:[^'\\]|\\[\s\S])*'/y,
    turn: (token) => `"${token.slice(1, -1).replace(/\\(\r\n|[\s\S])|"/g, convertEscape)}"`,
  },
  { pattern: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y, turn: () => ' ' },
  { pattern: /[A-Za-z_$][\w$]*(?=\s*:)/y, turn: (token) => `"${token}"` },
  { pattern: /[^"'/A-Za-z_$]+|[A-Za-z_$][\w$]*/y, turn: (token) => token },
];

/** Undefined when a text or comment has no end, or there is a character out of place. */
export function json5ToJson(text: string): string | undefined {
  const parts: string[] = [];
  for (let index = 0; index < text.length; ) {
    const found = TOKENS.map(({ pattern, turn }) => {
      pattern.lastIndex = index;
      const token = pattern.exec(text)?.[0];
      return token === undefined ? undefined : { length: token.length, text: turn(token) };
    }).find((token) => token !== undefined);
    if (found === undefined) return undefined;
    parts.push(found.text);
    index += found.length;
  }
  return parts.join('');
}

function convertEscape(whole: string, escaped: string | undefined): string {
  if (escaped === undefined) return '\\"';
  if (escaped === "'") return "'";
  return /[\r\n]/.test(escaped) ? '' : whole;
}
