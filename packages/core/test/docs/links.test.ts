import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, readText, root, withoutFences } from './repository.js';

const pages = listFiles('', /\.md$/);

interface Link {
  readonly page: string;
  readonly target: string;
}

/** Links inside the repository; external links are not followed. */
function findLinks(page: string): Link[] {
  const text = withoutFences(readText(page)).replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) =>
    /^[a-z][a-z\d+.-]*:/i.test(target) ? [] : [{ page, target }],
  );
}

/** Anchors as GitHub makes them from headings. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutFences(readText(page)).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** What is wrong with a link, or undefined. */
function faultOf({ page, target }: Link): string | undefined {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (!existsSync(join(root, file))) return `${page}: ${target} leads nowhere`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(file).has(anchor) ? undefined : `${page}: ${target} names no heading`;
}

describe('links in the pages of the repository', () => {
  const links = pages.flatMap(findLinks);

  it('are found', () => {
    expect(pages).toContain('README.md');
    expect(links.length).toBeGreaterThan(20);
  });

  it('lead to files and headings that exist', () => {
    expect(links.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('are reported if they are broken', () => {
    expect(faultOf({ page: 'README.md', target: 'docs/no-such-page.md' })).toContain('leads nowhere');
    expect(faultOf({ page: 'README.md', target: 'docs/errors.md#no-such-code' })).toContain('no heading');
  });
});
