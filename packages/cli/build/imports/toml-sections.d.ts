export interface TomlSection {
  /** Empty for what stands before the first table. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
}
/** Every table header at the top level, in order; brackets inside values are not mistaken for one. */
export declare function tomlSections(text: string): TomlSection[];
