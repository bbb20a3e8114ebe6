/** What is wrong with one file: the first faults in full, and how many more there are. Telling each costs time. */
import type { TurnbuckleError } from '../errors.js';
import { type ConfigDocument, type DocumentFault, MAX_FAULTS } from './document.js';
import { faultError } from './file-fault.js';
import { keyPath } from './parse.js';

export class FileProblems {
  readonly #file: string;
  readonly #document: ConfigDocument;
  readonly #told: TurnbuckleError[] = [];
  #untold = 0;

  constructor(file: string, document: ConfigDocument) {
    this.#file = file;
    this.#document = document;
  }

  /** Whether the next one is told. What only its text needs is not worth finding out otherwise. */
  get isFull(): boolean {
    return this.#told.length >= MAX_FAULTS;
  }

  add(keys: readonly PropertyKey[], text: string): void {
    if (this.isFull) this.#untold += 1;
    else this.addFault({ ...this.#document.placeOf(keys), path: keyPath('', keys), text });
  }

  addFault(fault: DocumentFault): void {
    if (this.isFull) this.#untold += 1;
    else this.#told.push(faultError(this.#file, fault));
  }

  list(): readonly TurnbuckleError[] {
    if (this.#untold === 0) return this.#told;
    const text = `and ${this.#untold} more faults in this file`;
    return [...this.#told, faultError(this.#file, { line: 1, column: 1, path: '', text })];
  }
}
