/**
 * The states of a connection as one table. Pure: the only way from one state to another is `transition`, and an event
 * that a state does not handle changes nothing.
 */

export type ConnectionState =
  | 'idle'
  | 'connecting'
  | 'ready'
  | 'waiting'
  | 'needs-auth'
  | 'failed'
  | 'closed';

export type ConnectionEvent =
  /** A start, a call or a timer needs the connection. */
  | 'open'
  | 'opened'
  /** An attempt failed or a live connection broke, and another attempt is scheduled. */
  | 'retry-scheduled'
  /** The same, without another attempt. */
  | 'gave-up'
  | 'refused-auth'
  /** A live connection broke, and is not needed before the next call. */
  | 'lost'
  /** The user disconnected it; it may be opened again. */
  | 'disconnect'
  /** Final: the server was removed or the runtime closed. */
  | 'close';

const TABLE: Readonly<Record<ConnectionState, Partial<Record<ConnectionEvent, ConnectionState>>>> = {
  idle: { open: 'connecting', close: 'closed' },
  connecting: {
    opened: 'ready',
    'retry-scheduled': 'waiting',
    'gave-up': 'failed',
    'refused-auth': 'needs-auth',
    disconnect: 'idle',
    close: 'closed',
  },
  ready: {
    lost: 'idle',
    'retry-scheduled': 'waiting',
    'gave-up': 'failed',
    'refused-auth': 'needs-auth',
    disconnect: 'idle',
    close: 'closed',
  },
  waiting: { open: 'connecting', disconnect: 'idle', close: 'closed' },
  'needs-auth': { open: 'connecting', disconnect: 'idle', close: 'closed' },
  failed: { open: 'connecting', disconnect: 'idle', close: 'closed' },
  closed: {},
};

export const CONNECTION_STATES = Object.keys(TABLE) as readonly ConnectionState[];

/** The state after the event; unchanged if the state does not handle it. */
export function transition(state: ConnectionState, event: ConnectionEvent): ConnectionState {
  return TABLE[state][event] ?? state;
}

/** True if the state handles the event. */
export function accepts(state: ConnectionState, event: ConnectionEvent): boolean {
  return TABLE[state][event] !== undefined;
}

export type PublicStatus = 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
export type PublicState = 'disconnected' | 'connecting' | 'connected' | 'reconnecting' | 'error';

/** The public status, derived only here. `wasReady`: it was connected at least once. */
export function describeState(
  state: ConnectionState,
  facts: { readonly enabled: boolean; readonly wasReady: boolean; readonly attempts: number },
): { readonly status: PublicStatus; readonly state: PublicState } {
  const again = facts.wasReady || facts.attempts > 1;
  const words: Record<ConnectionState, { status: PublicStatus; state: PublicState }> = {
    idle: { status: 'pending', state: 'disconnected' },
    connecting: again
      ? { status: 'failed', state: 'reconnecting' }
      : { status: 'pending', state: 'connecting' },
    ready: { status: 'connected', state: 'connected' },
    // A server that is being retried counts as failed until it connects: "pending" would hide that.
    waiting: { status: 'failed', state: 'reconnecting' },
    'needs-auth': { status: 'needs-auth', state: 'error' },
    failed: { status: 'failed', state: 'error' },
    closed: { status: 'pending', state: 'disconnected' },
  };
  const described = words[state];
  return facts.enabled ? described : { status: 'disabled', state: described.state };
}
