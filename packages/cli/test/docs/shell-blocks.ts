/**
 * The parts of a page that are played in a shell. Under `<!-- shell -->` a console block: lines that begin with
 * `$ ` are commands, the lines after each are what it prints. Under `<!-- file <path> -->` a block that is
 * written to that file first.
 */

export interface ShellCommand {
  readonly command: string;
  /** What the page says it prints, without white space at the ends of lines. */
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

/** How many marks there are: one without a block would silently not be played. */
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

/** Lines without white space at their ends, which editors of pages remove, and without empty last ones. */
export function toLines(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
}
