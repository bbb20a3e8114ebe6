/**
 * Finds the parts of a page that tests run in a shell. After `<!-- shell -->`: a console block, in which lines that
 * begin with `$ ` are commands and the lines after each are its output. After `<!-- file <path> -->`: a block that
 * is written to that file first.
 */

export interface ShellCommand {
  readonly command: string;
  /** The output on the page, without white space at the ends of lines. */
  readonly output: readonly string[];
}

export type Step =
  | { readonly kind: 'file'; readonly line: number; readonly path: string; readonly text: string }
  | { readonly kind: 'shell'; readonly line: number; readonly commands: readonly ShellCommand[] };

const BLOCK = /^<!-- (shell|file (\S+)) -->\n```(\w+)\n([\s\S]*?)^```$/gm;

/** In the order of the page. A shell block that does not begin with a command is an error. */
export function findSteps(page: string, markdown: string): Step[] {
  return [...markdown.matchAll(BLOCK)].map((match) => {
    const [, mark, path = '', language, text = ''] = match;
    const line = markdown.slice(0, match.index).split('\n').length + 1;
    if (mark !== 'shell') return { kind: 'file', line, path, text };
    if (language !== 'console' || !text.startsWith('$ '))
      throw new Error(`${page}:${line} is marked as shell, but is no console block that begins with "$ ".`);
    return { kind: 'shell', line, commands: toCommands(text) };
  });
}

/** The number of marks: a mark without a block would silently not run. */
export const countMarks = (markdown: string): number =>
  [...markdown.matchAll(/^<!-- (shell|file\b.*) -->$/gm)].length;

function toCommands(text: string): ShellCommand[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = toLines(part);
      return { command, output };
    });
}

/** Lines without trailing white space, which editors remove from pages, and without trailing empty lines. */
export function toLines(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
}
