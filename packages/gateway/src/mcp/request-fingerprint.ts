/** What tells a request from every other, and what its params take in memory: short, however long they are. */
import { createHash } from 'node:crypto';
import { identityOf, writeInSlices } from 'turnbuckle';
import type { SurfaceRequest } from './surface-request.js';

export interface Fingerprint {
  /** Only the same caller has it, for the same request; answers and states are not part of it. */
  readonly mark: string;
  /** About how many bytes are held as long as the params are. */
  readonly weight: number;
}

export async function fingerprintOf({ caller, method, params }: SurfaceRequest): Promise<Fingerprint> {
  const { _meta, inputResponses, requestState, ...same } = params;
  const text = await writeInSlices([identityOf(caller), method, same]);
  const rest = await writeInSlices([_meta ?? null, inputResponses ?? null, requestState ?? null]);
  const mark = createHash('sha256').update(text).digest('base64url');
  return { mark, weight: weightOf(text) + weightOf(rest) };
}

/** Many small parts take much more than their text does. */
const BYTES_OF_PART = 32;
const [COMMA, LIST, OBJECT] = [',', '[', '{'].map((sign) => sign.charCodeAt(0));

/** What stands in texts counts as if it were parts: rather too much than too little. */
function weightOf(text: string): number {
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === LIST || code === OBJECT) parts += 1;
  }
  return text.length + parts * BYTES_OF_PART;
}
