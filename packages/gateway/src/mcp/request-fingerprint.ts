/** What tells a request from every other, and what its params take in memory: short, however long they are. */
import { createHash } from 'node:crypto';
import { identityOf, weighJson, writeInSlices } from 'turnbuckle';
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
  return { mark, weight: (await weighJson(text)) + (await weighJson(rest)) };
}
