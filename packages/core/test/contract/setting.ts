import type { FixtureName } from '@turnbuckle/testing';
import type { ServerInput } from 'turnbuckle';

/** A running fixture, and its configuration for a runtime. */
export interface Port {
  readonly config: ServerInput;
  close(): Promise<void>;
}

export type OpenPort = (fixture: FixtureName, ...flags: string[]) => Promise<Port>;

/** One cell of the matrix: a transport, an era and a lane. */
export interface Setting {
  readonly transport: string;
  readonly era: 'legacy' | 'modern';
  readonly expressLane: boolean;
  readonly open: OpenPort;
  /** The transport in `status()`. */
  readonly reportedTransport: string;
  /** In the modern era, a server that answers in plain JSON cannot report progress. */
  readonly carriesProgress: boolean;
  /** Progress and the result arrive over two connections, in any order. */
  readonly progressApart?: boolean;
  /** The result still arrives after the fixture breaks the connection: a stream is resumed, and a pipe cannot be broken like this. */
  readonly outlivesDrop: boolean;
}

/** Both eras and both lanes of one transport. */
export function everyLane(
  way: Pick<Setting, 'transport' | 'open' | 'reportedTransport'>,
  facts: (era: Setting['era']) => Pick<Setting, 'carriesProgress' | 'progressApart' | 'outlivesDrop'>,
): Setting[] {
  return (['legacy', 'modern'] as const).flatMap((era) =>
    [true, false].map((expressLane) => ({ ...way, era, expressLane, ...facts(era) })),
  );
}
