/** Which unknown methods may be forwarded to a server. */

/** Methods that are handled here, with the rules for the items they name. */
const PROTOCOL_METHODS = [
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
const METHOD_PATTERN = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w$./-]+$/;

const normalizeMethod = (method: string): string => method.toLowerCase().replace(/[^a-z\d]+/g, '');
const NORMALIZED_PROTOCOL_METHODS: ReadonlySet<string> = new Set(PROTOCOL_METHODS.map(normalizeMethod));

/**
 * False for names that a lenient server could take for a method of the protocol: they would be authorized under one
 * name and do what a rule denies under another. Also false for notifications, even with an id.
 */
export const isForwardable = (method: string): boolean =>
  METHOD_PATTERN.test(method) &&
  !NORMALIZED_PROTOCOL_METHODS.has(normalizeMethod(method)) &&
  !normalizeMethod(method).startsWith('notifications');
