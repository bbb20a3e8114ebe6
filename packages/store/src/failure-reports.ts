/** What fails, told apart by its message: each is reported once, until it works again. */
export class FailureReports {
  readonly #report: (message: string) => void;
  #failing: ReadonlySet<string> = new Set();

  constructor(report: (message: string) => void) {
    this.#report = report;
  }

  /** Takes everything that fails now. A failure that lasts must not hide another one. */
  update(errors: readonly unknown[]): void {
    const failing = new Set(errors.map(messageOf));
    for (const message of failing) if (!this.#failing.has(message)) this.#report(message);
    this.#failing = failing;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
