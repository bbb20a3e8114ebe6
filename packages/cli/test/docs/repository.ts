/** Access to the pages of the repository, for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Every page of the repository, by its path from the root. */
export const PAGES: readonly string[] = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.md') && !/(^|\/)(node_modules|dist|build|\.[^/]+)\//.test(path),
);

/** A file's text, by its path from the root. */
export const readText = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The cells of each row of the table with this header row; empty if the page has no such table. */
export function rowsOf(markdown: string, head: readonly string[]): string[][] {
  const lines = markdown.split('\n').map((line) => (line.startsWith('|') ? cellsOf(line) : undefined));
  const start = lines.findIndex((cells) => cells?.join('\n') === head.join('\n'));
  if (start < 0) return [];
  const rest = lines.slice(start + 2);
  const end = rest.indexOf(undefined);
  return rest.slice(0, end < 0 ? undefined : end).flatMap((cells) => (cells === undefined ? [] : [cells]));
}

const cellsOf = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
