/** Texts that are recognizable as secrets: tokens in formats that issuers designed to be found. */

/**
 * The name and pattern of each; the match may be anywhere in the text. A prefix counts after anything but a letter or
 * digit: `MY_` may precede it. Tokens of this daemon have so many random letters that one truncated before its
 * sixteenth reveals nothing.
 */
export const SECRET_SHAPES: ReadonlyArray<readonly [what: string, pattern: RegExp]> = [
  ['a token for this daemon', /tbk_[A-Za-z0-9_-]{16,}/],
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
  // From the last possible start: matching from each start to the end would take quadratic time.
  [
    'a signed token',
    /(?<![A-Za-z0-9])eyJ(?:(?![_-]eyJ)[A-Za-z0-9_-]){10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  ],
];

const MAX_SCANNED_LENGTH = 64 * 1_024;

/** The kind of secret in the text, by its shape; undefined if none is known. */
export function findSecretShape(text: string): string | undefined {
  const start = text.slice(0, MAX_SCANNED_LENGTH);
  const found = SECRET_SHAPES.find(([, pattern]) => pattern.test(start))?.[0];
  return found ?? (hasCardNumber(start) ? 'a card number' : undefined);
}

/** Thirteen to nineteen digits with a valid check digit (ISO/IEC 7812). */
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
