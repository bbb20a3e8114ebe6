/** What is wrong with a text that should be JSON, in words: never a part of it, which may be a secret. */
import { type ParseError, parseTree } from 'jsonc-parser';
import { describeSyntax } from 'turnbuckle/issue-text';

/** `line 3, column 5: expected a comma`. */
export function describeJsonError(fault: ParseError, text: string): string {
  const before = text.slice(0, fault.offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return `line ${before.length}, column ${column}: ${describeSyntax(fault, text)}`;
}

/** The first fault of a text that has no comments either; undefined when there is none. */
export function findJsonError(text: string): string | undefined {
  const faults: ParseError[] = [];
  parseTree(text, faults, { allowTrailingComma: false, disallowComments: true });
  const [first] = faults;
  return first === undefined ? undefined : describeJsonError(first, text);
}
