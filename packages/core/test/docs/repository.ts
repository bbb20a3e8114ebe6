/** Access to the files of the repository, and to its pages without their code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

const SKIPPED = new Set(['node_modules', 'dist', 'coverage']);

/** Paths relative to the root, below `directory`, of files whose name matches; nothing generated or hidden. */
export function listFiles(directory: string, name: RegExp): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) return [];
    if (entry.isDirectory()) return listFiles(path, name);
    return name.test(entry.name) ? [path] : [];
  });
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** A page without its fenced blocks: what is inside those is neither a heading nor a link. */
export function withoutFences(markdown: string): string {
  return markdown.replace(/^( *)(`{3,}).*\n[\s\S]*?^\1\2 *$/gm, '');
}

/** Source text without comments, so that a comment does not count as code. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}
