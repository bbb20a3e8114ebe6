import type { FixtureName } from '@turnbuckle/testing';
import type { ServerInput } from 'turnbuckle';

/** A fixture that can be reached, and how a runtime is told to reach it. */
export interface Port {
  readonly config: ServerInput;
  close(): Promise<void>;
}

export type OpenPort = (fixture: FixtureName, ...flags: string[]) => Promise<Port>;

/** One cell of the matrix: the way to a server, the revision it speaks, and the lane that is taken. */
export interface Setting {
  readonly transport: string;
  readonly era: 'legacy' | 'modern';
  readonly expressLane: boolean;
  readonly open: OpenPort;
  /** What `status()` calls the transport. */
  readonly reportedTransport: string;
  /** A server that answers in plain JSON has no way to report progress in the modern era. */
  readonly carriesProgress: boolean;
  /** Progress and the answer come over two connections, in whatever order. */
  readonly progressApart?: boolean;
  /** The answer still comes after the fixture broke the line: a stream is resumed, and a pipe cannot be broken so. */
  readonly outlivesDrop: boolean;
}

/** Both eras and both lanes of one way to reach a server. */
export function everyLane(
  way: Pick<Setting, 'transport' | 'open' | 'reportedTransport'>,
  facts: (era: Setting['era']) => Pick<Setting, 'carriesProgress' | 'progressApart' | 'outlivesDrop'>,
): Setting[] {
  return (['legacy', 'modern'] as const).flatMap((era) =>
    [true, false].map((expressLane) => ({ ...way, era, expressLane, ...facts(era) })),
  );
}
