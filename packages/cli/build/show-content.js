/** The parts of a result for people: text as text, binary parts as files, never dumped. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { showText } from './untrusted-text.js';
export async function showContent(parts, options) {
  for (const [index, part] of parts.entries()) await showPart(part, index + 1, options);
}
async function showPart(part, number, options) {
  const { output } = options;
  switch (part.type) {
    case 'text':
      return output.line(showText(String(part.text)));
    case 'image':
    case 'audio':
      return saveBinary(String(part.data), String(part.mimeType), number, options);
    case 'resource':
      return showResource(part.resource ?? {}, number, options);
    case 'resource_link':
      return output.line(
        `${output.color.dim('resource')} ${showText(String(part.uri))}${part.name === undefined ? '' : ` (${showText(String(part.name))})`}`,
      );
    default:
      return output.line(showText(JSON.stringify(part)));
  }
}
/** The contents of a resource: text, or a file. */
export async function showResource(contents, number, options) {
  if (typeof contents.blob === 'string')
    return saveBinary(contents.blob, String(contents.mimeType ?? ''), number, options);
  options.output.line(showText(String(contents.text ?? '')));
}
async function saveBinary(base64, mimeType, number, { output, directory, stem }) {
  const bytes = Buffer.from(base64, 'base64');
  const extension = /^[a-z]+\/([a-z0-9.+-]{1,20})$/i.exec(mimeType)?.[1]?.replace(/^x-|\+.*$/g, '') ?? 'bin';
  const name = `${stem.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60)}-${number}.${extension}`;
  const file = join(resolve(directory), name);
  await mkdir(resolve(directory), { recursive: true });
  await writeFile(file, bytes);
  output.line(`${output.color.dim('saved')} ${file} (${showText(mimeType)}, ${bytes.length} bytes)`);
}
//# sourceMappingURL=show-content.js.map
