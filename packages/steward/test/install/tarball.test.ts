/** What is inspected is what npm unpacks: headers that readers understand differently are refused. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inspectTarball } from '../../src/install/npm/inspect-tarball.js';

const LIMITS = { maxFiles: 100, maxBytes: 1 << 20 };
const BLOCK = 512;

interface Part {
  readonly path: string;
  readonly type?: string;
  readonly content?: string;
  readonly sum?: number;
  readonly link?: string;
}

function blocks({ path, type = '0', content = '', sum, link = '' }: Part): Buffer {
  const data = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100);
  header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write('ustar\u000000', 257);
  const real = header.reduce((total, byte) => total + byte, 0);
  header.write(`${(sum ?? real).toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)]);
}

const tarball = (...parts: readonly Part[]): Buffer =>
  gzipSync(Buffer.concat([...parts.map(blocks), Buffer.alloc(2 * BLOCK)]));

/** A record with the right length. */
function record(text: string): string {
  const bytes = Buffer.byteLength(text) + 2;
  const digits = String(bytes + String(bytes).length).length;
  return `${bytes + digits} ${text}\n`;
}

const pax = (...records: readonly string[]): Part => ({
  path: 'PaxHeader/a',
  type: 'x',
  content: records.join(''),
});
const file = { path: 'package/a', content: 'hello' };

// requirement E4
describe('an archive', () => {
  it.each<[string, readonly Part[], string]>([
    ['another size in an extended header', [pax(record('size=0')), file], 'two different sizes'],
    ['a size that is no number', [pax(record('size=0x5')), file], 'not valid'],
    [
      'two paths in an extended header',
      [pax(record('path=package/a'), record('path=../escaped')), file],
      'several values of "path"',
    ],
    [
      'a path that npm ignores for its wrong length, before a name outside',
      [pax('99 path=package/a\n'), { path: '../escaped' }],
      'not valid',
    ],
    ['a path outside', [pax(record('path=../escaped')), file], 'outside its directory'],
    ['a value with a line break', [pax(record(`comment=a\n${record('path=../b')}`)), file], 'not valid'],
    ['a NUL in a path', [pax(record('path=package/a\0b')), file], 'not valid'],
    ['a type in an extended header', [pax(record('type=Link')), file], 'sets "type"'],
    ['the target of a link', [pax(record('linkpath=/etc/passwd')), file], 'sets "linkpath"'],
    ['a path for all files', [{ ...pax(record('path=package/b')), type: 'g' }, file], 'names all its files'],
    ['a damaged header', [{ ...file, sum: 1 }], 'has a damaged header'],
    ['a directory with content', [{ ...file, path: 'package/a/' }], 'with content'],
    ['a file that names a target', [{ ...file, link: '/etc/passwd' }], 'is a link'],
    ['an entry without a name', [{ ...file, path: '' }], 'without a name'],
  ])('with %s is refused', async (_what, parts, reason) => {
    await expect(inspectTarball(tarball(...parts), LIMITS)).rejects.toThrow(reason);
  });

  it('of npm is accepted, with its extended headers', async () => {
    const long = `package/${'d/'.repeat(120)}a`;
    const parts = [
      { ...pax(record('comment=0123456789abcdef')), type: 'g' },
      pax(record(`path=${long}`), record('size=5'), record('mtime=499162500')),
      { path: 'package/x', content: 'hello' },
      { path: 'package/d/', type: '5' },
    ];
    await expect(inspectTarball(tarball(...parts), LIMITS)).resolves.toMatchObject({ files: 2 });
  });
});
