/** Takes the keys of one entry, so that what nobody took is known at the end. */
import { type Entry } from './plain-value.js';
export interface Fields {
  /** The first of these keys that is there: its text. */
  text(...keys: readonly string[]): string | undefined;
  texts(...keys: readonly string[]): string[] | undefined;
  textMap(...keys: readonly string[]): Record<string, string> | undefined;
  flag(key: string): boolean | undefined;
  amount(key: string): number | undefined;
  /** Any value; the caller checks it. */
  any(key: string): unknown;
  /** What is there and was not taken. */
  rest(): Record<string, unknown>;
  /** Keys whose value has the wrong type. */
  readonly faults: readonly string[];
}
/** Null counts as absent. A value of the wrong type is a fault, not an exception. */
export declare function takeFields(entry: Entry): Fields;
