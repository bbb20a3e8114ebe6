/** Makes tar archives byte by byte, so that they can contain what no program would write. */
import { gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly path: string;
  readonly content?: string;
  /** `0` a file, `1` a hard link, `2` a symbolic link, `3` a device, `5` a directory. */
  readonly type?: '0' | '1' | '2' | '3' | '5';
  /** Of a link. */
  readonly target?: string;
}

const BLOCK = 512;

export function makeTarball(entries: readonly TarEntry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.flatMap(entryBlocks), Buffer.alloc(2 * BLOCK)]), { level: 1 });
}

function entryBlocks({ path, content = '', type = '0', target = '' }: TarEntry): Buffer[] {
  const data = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100);
  header.write('0000755\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(target, 157, 100);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)];
}
