/** The one place that writes: results to stdout, everything else to stderr, colour on a terminal only. */
import { createColors } from 'picocolors';

type Colors = ReturnType<typeof createColors>;
export interface Output {
  readonly json: boolean;
  /** A person sits there: stdin and stderr are a terminal. */
  readonly interactive: boolean;
  readonly color: Colors;
  /** A line of the result. */
  line(text?: string): void;
  /** The whole result, for programs. */
  data(value: unknown): void;
  /** For people only: progress, notes, warnings. */
  note(text: string): void;
  /** Shows that something is going on while it takes more than a moment; ends by itself. */
  during<T>(text: string, work: Promise<T>): Promise<T>;
}
export interface OutputOptions {
  readonly json: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}
export declare function createOutput({ json, environment }: OutputOptions): Output;
