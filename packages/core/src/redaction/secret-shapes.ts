/** Texts that are secrets by the way they look: what issuers give a form of its own so that it can be found. */

/**
 * What each is, and how it looks; the first match of each is somewhere in the text. A prefix counts behind anything but
 * a letter or digit: `MY_` may stand before it. Those of this daemon have so many random letters that what was cut
 * off before the sixteenth of them gives nothing away.
 */
export const SECRET_SHAPES: ReadonlyArray<readonly [what: string, pattern: RegExp]> = [
  ['a token of this daemon', /tbk_[A-Za-z0-9_-]{16,}/],
  ['a private key', /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/],
  ['a GitHub token', /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/],
  ['a GitLab token', /(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt|soat|cbt|ft|agent)-[A-Za-z0-9_-]{20,}/],
  ['an AWS key', /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  [
    'a Google key',
    /(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})/,
  ],
  ['a Slack token', /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,})/],
  [
    "a model provider's key",
    /(?<![A-Za-z0-9])(?:sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,})/,
  ],
  ['a payment key', /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/],
  ['an npm token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}\b/],
  ['a PyPI token', /(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{50,}/],
  ['a Docker token', /(?<![A-Za-z0-9])dckr_pat_[A-Za-z0-9_-]{20,}/],
  // From the last one that could begin it: from each of them to the end would take for ever where there are many.
  [
    'a signed token',
    /(?<![A-Za-z0-9])eyJ(?:(?![_-]eyJ)[A-Za-z0-9_-]){10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  ],
];

const MOST_READ = 64 * 1_024;

/** What kind of secret is in the text, by its shape; undefined when none is known. */
export function findSecretShape(text: string): string | undefined {
  const start = text.slice(0, MOST_READ);
  const found = SECRET_SHAPES.find(([, pattern]) => pattern.test(start))?.[0];
  return found ?? (hasCardNumber(start) ? 'a card number' : undefined);
}

/** Thirteen to nineteen digits whose check digit is right (ISO/IEC 7812). */
function hasCardNumber(text: string): boolean {
  for (const [run] of text.matchAll(/(?<!\d)[3-6]\d{3}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}(?!\d)/g)) {
    const digits = [...run.replace(/\D/g, '')].map(Number).reverse();
    const sum = digits.reduce((total, digit, index) => {
      const doubled = index % 2 === 1 ? digit * 2 : digit;
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
    if (digits.length >= 13 && sum % 10 === 0) return true;
  }
  return false;
}
