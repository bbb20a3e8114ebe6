import { appendFileSync, readFileSync } from 'node:fs';
import type { FixtureTool } from '../kernel/behaviour.js';
import { createTool, toText } from './tool.js';

/** Appends one line per effect to a file, so that a test can prove how often something really happened. */
export class EffectLog {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Adds a line and returns the new number of lines; 0 if no file was named. */
  add(line: string): number {
    if (this.#file === '') return 0;
    appendFileSync(this.#file, `${line}\n`);
    return readFileSync(this.#file, 'utf8').split('\n').length - 1;
  }
}

/** `count` has an effect that must not be repeated; `read_only` may be repeated. Both add a line to the log. */
export function createEffectTools(log: EffectLog): FixtureTool[] {
  return [
    createTool(
      {
        name: 'count',
        description: 'Adds one line to the counter file',
        input: { label: { type: 'string' } },
        required: [],
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
      },
      ({ label = 'count' }) => toText(String(log.add(String(label)))),
    ),
    createTool(
      {
        name: 'read_only',
        description: 'Says it changes nothing; leaves a line in the counter file all the same',
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      },
      () => toText(String(log.add('read_only'))),
    ),
  ];
}
