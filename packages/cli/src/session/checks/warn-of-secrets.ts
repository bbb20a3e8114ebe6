/** Warns that a secret is written to a file in plain text. */
import type { Output } from '../../terminal/output.js';
import { findPlaintextSecrets } from '../../terminal/redact-lines.js';
import { showLine } from '../../terminal/untrusted-text.js';

export interface SecretWarning {
  readonly name: string;
  readonly config: object;
  /** What becomes of it: copied, written. */
  readonly action: string;
  readonly indent?: string;
}

/** Prints nothing if there is none; never prints a value. */
export function warnOfSecrets(output: Output, { name, config, action, indent = '' }: SecretWarning): void {
  const found = findPlaintextSecrets({ ...config });
  if (found.length === 0) return;
  const word = /^[\w.-]{1,64}$/.test(name) ? name : '<name>';
  const warning = output.color.yellow('warning');
  output.warn(`${indent}${warning} A secret is ${action} in plain text: ${showLine(found.join(', '), 200)}`);
  output.warn(
    `${indent}        To store the secret in the vault, replace it with \${secret:${word}} and run: turnbuckle secrets set ${word}`,
  );
}
