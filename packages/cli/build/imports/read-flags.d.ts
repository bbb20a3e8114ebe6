/** A small reader for the command lines of known wrappers; an unknown option makes it give up. */
export interface FlagRules {
  /** Options and how many values follow each. */
  readonly known: Readonly<Record<string, number>>;
}
export interface ReadFlags {
  readonly positional: readonly string[];
  /** Every value list that an option was given. */
  all(name: string): readonly (readonly string[])[];
  has(name: string): boolean;
}
/** Undefined when there is an option it does not know, or one without its values. */
export declare function readFlags(args: readonly string[], { known }: FlagRules): ReadFlags | undefined;
