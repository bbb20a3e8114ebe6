/** The parts of a result for people: text as text, binary parts as files, never dumped. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { makeDirectory } from 'turnbuckle/host';
import { errorCode } from 'turnbuckle/light';
import type { Output } from './output.js';
import { showLine, showText } from './untrusted-text.js';

export interface ShowOptions {
  readonly output: Output;
  /** Where files go. */
  readonly directory: string;
  /** What they are named after. */
  readonly stem: string;
}

type Part = Readonly<Record<string, unknown>>;

export async function showContent(parts: readonly Part[], options: ShowOptions): Promise<void> {
  for (const [index, part] of parts.entries()) await showPart(part, index + 1, options);
}

async function showPart(part: Part, number: number, options: ShowOptions): Promise<void> {
  const { output } = options;
  switch (part.type) {
    case 'text':
      return output.line(showText(String(part.text)));
    case 'image':
    case 'audio':
      return saveBinary({ base64: String(part.data), mimeType: String(part.mimeType) }, number, options);
    case 'resource':
      return showResource((part.resource ?? {}) as Part, number, options);
    case 'resource_link':
      return output.line(
        `${output.color.dim('resource')} ${showLine(String(part.uri), 2_000)}${part.name === undefined ? '' : ` (${showLine(String(part.name))})`}`,
      );
    default:
      return output.line(showText(JSON.stringify(part)));
  }
}

/** The contents of a resource: text, or a file. */
export async function showResource(contents: Part, number: number, options: ShowOptions): Promise<void> {
  if (typeof contents.blob === 'string')
    return saveBinary({ base64: contents.blob, mimeType: String(contents.mimeType ?? '') }, number, options);
  options.output.line(showText(String(contents.text ?? '')));
}

async function saveBinary(
  { base64, mimeType }: { readonly base64: string; readonly mimeType: string },
  number: number,
  { output, directory, stem }: ShowOptions,
): Promise<void> {
  const bytes = Buffer.from(base64, 'base64');
  const name = `${stem.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60)}-${number}`;
  const file = await Promise.resolve()
    .then(() => makeDirectory(resolve(directory), 0o777))
    .then(() => writeNewFile(join(resolve(directory), name), extensionOf(mimeType), bytes))
    .catch((cause: unknown) => {
      throw new TurnbuckleError('ARGUMENTS_INVALID', `Cannot write to ${resolve(directory)}.`, {
        cause,
        hint: 'The content was received but not saved. Specify a writable directory: --output <directory>',
      });
    });
  output.line(`${output.color.dim('saved')} ${file} (${showLine(mimeType, 60)}, ${bytes.length} bytes)`);
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'image/jpeg': 'jpg',
  'text/plain': 'txt',
  'application/octet-stream': 'bin',
};

function extensionOf(mimeType: string): string {
  const subtype = /^[a-z]+\/(?:x-)?([a-z0-9]{1,12})(?:\+.*)?$/i.exec(mimeType)?.[1];
  return (Object.hasOwn(EXTENSIONS, mimeType) ? EXTENSIONS[mimeType] : undefined) ?? subtype ?? 'bin';
}

const MAX_FILE_NAME_ATTEMPTS = 1_000;

/** Never overwrites a file or follows a link: content from a server always gets a new file. */
async function writeNewFile(stem: string, extension: string, bytes: Buffer): Promise<string> {
  for (let count = 1; ; count += 1) {
    const file = `${stem}${count === 1 ? '' : `-${count}`}.${extension}`;
    try {
      await writeFile(file, bytes, { flag: 'wx' });
      return file;
    } catch (error) {
      const taken = errorCode(error) === 'EEXIST';
      if (!taken || count >= MAX_FILE_NAME_ATTEMPTS) throw error;
    }
  }
}
