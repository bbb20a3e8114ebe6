/**
 * The one decision about a call: may this caller make it with these arguments? Every surface passes here.
 * The host's own code (no caller) is allowed by default; an agent is asked for unless its call only reads
 * from a server whose word is trusted.
 */
import { type Caller, findGrant, type KnownTools } from './capabilities.js';

export type Action = 'allow' | 'ask' | 'deny';

export interface Decision {
  readonly action: Action;
  readonly reason: string;
  /** The caller may not even know that it exists: answer as if it did not. */
  readonly hidden: boolean;
  /** A word of the caller that would have granted it if it had one meaning only. */
  readonly ambiguous?: { readonly word: string; readonly meanings: readonly string[] } | undefined;
}

export interface Subject {
  readonly server: string;
  readonly tool: string;
  readonly kind: 'tool' | 'resource' | 'prompt';
  readonly readOnlyHint: boolean;
}

export interface ServerPolicy {
  readonly trusted: boolean;
  readonly requires: readonly string[];
  /** Needs no capability: the host's own functions, registered for its agents. */
  readonly open?: boolean;
}

export interface PolicyOptions {
  /** What holds when nothing more special does; absent: allow for the host, ask for agents. */
  readonly defaultDecision?: Action | undefined;
  readonly known: KnownTools;
  /** What the server's configuration says: is its word believed, what does it require? */
  readonly serverPolicy: (server: string) => ServerPolicy;
}

const allow = (reason: string): Decision => ({ action: 'allow', reason, hidden: false });
const hide = (reason: string): Decision => ({ action: 'deny', reason, hidden: true });

const HOST_ALLOWED = allow('the host itself calls');

export function decide(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  if (caller === undefined) {
    const action = options.defaultDecision ?? 'allow';
    return action === 'allow' ? HOST_ALLOWED : { action, reason: `the default is ${action}`, hidden: false };
  }
  const visible = mayKnow(caller, subject, options);
  if (visible.action === 'deny') return visible;
  if (options.defaultDecision !== undefined) {
    return {
      action: options.defaultDecision,
      reason: `the default is ${options.defaultDecision}`,
      hidden: false,
    };
  }
  if (subject.kind !== 'tool') return allow('reading is allowed to who may use the server');
  if (subject.readOnlyHint && options.serverPolicy(subject.server).trusted)
    return allow('a trusted server says that it only reads');
  return { action: 'ask', reason: 'calls of agents are asked for by default', hidden: false };
}

/** The part of the decision that lists share with calls: whether the caller may see the tool at all. */
export function mayKnow(
  caller: Caller,
  subject: { server: string; tool: string },
  options: PolicyOptions,
): Decision {
  const { requires, open } = options.serverPolicy(subject.server);
  if (open === true) return allow('a function of the host');
  const grant = findGrant(caller, subject, options.known);
  if (!grant.granted) {
    const [ambiguous] = grant.ambiguous;
    if (ambiguous === undefined) return hide('the caller has no capability for it');
    return { ...hide(`"${ambiguous.word}" could mean ${ambiguous.meanings.join(' or ')}`), ambiguous };
  }
  const missing = requires.find((word) => !caller.capabilities.includes(word));
  return missing === undefined ? allow(`granted by "${grant.by}"`) : hide(`the caller lacks "${missing}"`);
}
