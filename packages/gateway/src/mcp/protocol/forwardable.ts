/** Which methods that nobody here knows may go on to a server. */

/** Whoever knows these answers them here, by the rules for what they name. */
const PROTOCOL = [
  'initialize',
  'ping',
  'server/discover',
  'subscriptions/listen',
  'logging/setLevel',
  'completion/complete',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
];
const PLAIN = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w$./-]+$/;

const fold = (method: string): string => method.toLowerCase().replace(/[^a-z\d]+/g, '');
const FOLDED: ReadonlySet<string> = new Set(PROTOCOL.map(fold));

/**
 * False for what a careless server may take for a method of the protocol: it would be decided as a method of that
 * name, and do what a rule denies. And for notices: an id makes no request of them.
 */
export const isPassable = (method: string): boolean =>
  PLAIN.test(method) && !FOLDED.has(fold(method)) && !fold(method).startsWith('notifications');
