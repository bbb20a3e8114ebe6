/** What tells a request from every other, and what its params take in memory: short, however long they are. */
import { createHash } from 'node:crypto';
import { identityOf, keepSpelling, weighJson, writeInSlices } from 'turnbuckle';
import type { SurfaceRequest } from './surface-request.js';

export interface Fingerprint {
  /**
   * Only the same caller has it, for the same request in the same view; answers and states are not part of it. Nor is
   * `_meta`: nothing of that goes to the server when a call goes on.
   */
  readonly mark: string;
  /** About how many bytes are held as long as the params are. */
  readonly weight: number;
}

export async function fingerprintOf({ caller, view, method, params }: SurfaceRequest): Promise<Fingerprint> {
  const { _meta, inputResponses, requestState, ...others } = params;
  // Objects, not lists: what is in those is not written as it was spelled.
  const same = { identity: identityOf(caller), view, method, params: keepSpelling(params, others) };
  const text = await writeInSlices(same);
  const rest = await writeInSlices({ _meta, inputResponses, requestState });
  const mark = createHash('sha256').update(text).digest('base64url');
  return { mark, weight: (await weighJson(text)) + (await weighJson(rest)) };
}
