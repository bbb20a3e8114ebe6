/** A client follows a resource, for as long as its caller may read it. */
import type { Caller, Decision, Runtime } from 'turnbuckle';
import { hostOrCaller } from '../identity/host-or-caller.js';
import { isUnknown, unknownResource } from './dispatcher-errors.js';

interface ResourceSubscription {
  readonly uri: string;
  /** Its capabilities can change while the subscription lasts. */
  readonly callerNow: () => Caller;
  readonly updated: () => void;
}

interface SubscriptionParts {
  readonly runtime: Runtime;
  readonly ownerOf: (
    uri: string,
    caller: Caller,
  ) => Promise<{ readonly server: string; readonly uri: string }>;
  readonly decide: (server: string, uri: string) => Decision;
  /** Records that the resource is unknown, and throws. */
  readonly refuse: (caller: Caller, thrown: unknown) => Promise<never>;
}

export async function subscribeResource(
  { uri, callerNow, updated }: ResourceSubscription,
  { runtime, ownerOf, decide, refuse }: SubscriptionParts,
): Promise<() => Promise<void>> {
  const asking = callerNow();
  const owner = await ownerOf(uri, asking).catch((thrown) => refuse(asking, thrown));
  const caller = hostOrCaller(callerNow());
  // The caller may be allowed less by the time the resource changes.
  const listener = (): void => {
    if (decide(owner.server, owner.uri).action === 'allow') updated();
  };
  return runtime.subscribeResource(owner.server, owner.uri, listener, { caller }).catch((thrown) => {
    throw isUnknown(thrown) ? unknownResource(uri) : thrown;
  });
}
