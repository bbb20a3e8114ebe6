/** One line of what `doctor` found. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** It works, and is still to be looked at. */
  readonly warns?: boolean;
  readonly what: string;
  readonly next?: string | undefined;
}
