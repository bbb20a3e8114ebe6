/** That a secret is about to stand in a file, and where it could be instead. */
import type { Output } from './output.js';
import { writtenSecrets } from './redact-diff.js';
import { showLine } from './untrusted-text.js';

export interface SecretsOf {
  readonly name: string;
  readonly config: object;
  /** What becomes of it: copied, written. */
  readonly done: string;
  readonly indent?: string;
}

/** Says nothing where there is none; never says a value. */
export function warnOfSecrets(output: Output, { name, config, done, indent = '' }: SecretsOf): void {
  const found = writtenSecrets({ ...config });
  if (found.length === 0) return;
  const word = /^[\w.-]{1,64}$/.test(name) ? name : '<name>';
  const warning = output.color.yellow('warning');
  output.warn(`${indent}${warning} A secret is ${done} in plain text: ${showLine(found.join(', '), 200)}`);
  output.warn(
    `${indent}        To keep it in the vault: turnbuckle secrets set ${word}, then write \${secret:${word}} in its place.`,
  );
}
