/** The blocks of a page that are marked to be run, and the expected output of each. */

export interface Snippet {
  readonly page: string;
  /** Line of the opening fence, for messages. */
  readonly line: number;
  readonly language: 'ts' | 'js';
  readonly code: string;
  readonly output: string | undefined;
}

const BLOCK = /^<!-- run -->\n```(\w+)\n([\s\S]*?)^```$(?:\n+<!-- output -->\n```text\n([\s\S]*?)^```$)?/gm;

/** A block is run when the line before its fence is `<!-- run -->`; its output follows under `<!-- output -->`. */
export function findSnippets(page: string, markdown: string): Snippet[] {
  return [...markdown.matchAll(BLOCK)].map((match) => {
    const [, language, code = '', output] = match;
    const line = markdown.slice(0, match.index).split('\n').length + 1;
    if (language !== 'ts' && language !== 'js')
      throw new Error(`${page}:${line} is marked to be run, but ${language} cannot be.`);
    return { page, line, language, code, output };
  });
}

/** Counts the marks: a mark without a block would be a block that is silently not run. */
export function countMarks(markdown: string): { readonly run: number; readonly output: number } {
  const count = (mark: RegExp): number => [...markdown.matchAll(mark)].length;
  return { run: count(/^<!-- run -->$/gm), output: count(/^<!-- output -->$/gm) };
}
