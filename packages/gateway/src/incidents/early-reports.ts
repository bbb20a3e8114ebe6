import type { Incident, Report } from './incident.js';

/** Keeps what is reported before the log is open, and passes it on. */
export class EarlyReports {
  #kept: Incident[] = [];
  #report: Report = (incident) => void this.#kept.push(incident);

  readonly report: Report = (incident) => this.#report(incident);

  /** From now on, and for all that was kept. */
  passTo(report: Report): void {
    this.#report = report;
    for (const incident of this.#kept) report(incident);
    this.#kept = [];
  }
}
