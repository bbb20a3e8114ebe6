/**
 * The problems of one file: the first ones in full, and the number of the rest, because describing each takes time.
 */
import type { TurnbuckleError } from '../../errors.js';
import { type ConfigDocument, type DocumentFault, MAX_FAULTS } from './document.js';
import { faultError } from './file-errors.js';
import { keyPath } from './parse.js';

export class FileProblems {
  readonly #file: string;
  readonly #document: ConfigDocument;
  readonly #reported: TurnbuckleError[] = [];
  #omittedCount = 0;

  constructor(file: string, document: ConfigDocument) {
    this.#file = file;
    this.#document = document;
  }

  /** Whether the next one is only counted, so that its description need not be computed. */
  get isFull(): boolean {
    return this.#reported.length >= MAX_FAULTS;
  }

  add(keys: readonly PropertyKey[], text: string, hint?: string): void {
    if (this.isFull) this.#omittedCount += 1;
    else this.addFault({ ...this.#document.positionOf(keys), path: keyPath('', keys), text }, hint);
  }

  addFault(fault: DocumentFault, hint?: string): void {
    if (this.isFull) this.#omittedCount += 1;
    else this.#reported.push(faultError(this.#file, fault, { hint }));
  }

  list(): readonly TurnbuckleError[] {
    if (this.#omittedCount === 0) return this.#reported;
    const text = `${this.#omittedCount} more errors in this file`;
    return [...this.#reported, faultError(this.#file, { line: 1, column: 1, path: '', text })];
  }
}
