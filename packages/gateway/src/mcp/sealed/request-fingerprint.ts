/** A short fingerprint of a request, and the memory its params take. */
import { createHash } from 'node:crypto';
import { copyRawNumbers, estimateJsonMemory, identityOf, writeInSlices } from 'turnbuckle/host';
import type { DispatcherRequest } from '../dispatcher-request.js';

export interface Fingerprint {
  /**
   * Only the same caller has the same fingerprint, for the same request in the same view. Inputs, states and `_meta` are
   * not part of it: none of these reach the server when a call resumes.
   */
  readonly hash: string;
  /** Approximate memory of the params in bytes. */
  readonly weight: number;
}

export async function fingerprintOf({
  caller,
  view,
  method,
  params,
}: DispatcherRequest): Promise<Fingerprint> {
  const { _meta, inputResponses, requestState, ...others } = params;
  // Objects, not arrays: raw numbers are not kept inside arrays.
  const same = { identity: identityOf(caller), view, method, params: copyRawNumbers(params, others) };
  const text = await writeInSlices(same);
  const rest = await writeInSlices({ _meta, inputResponses, requestState });
  const hash = createHash('sha256').update(text).digest('base64url');
  return { hash, weight: (await estimateJsonMemory(text)) + (await estimateJsonMemory(rest)) };
}
