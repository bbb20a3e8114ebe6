export type Segment =
  | {
      readonly kind: 'literal';
      readonly text: string;
    }
  | {
      readonly kind: 'env' | 'input' | 'secret';
      readonly name: string;
      readonly fallback?: string;
    }
  | {
      readonly kind: 'workspaceFolder' | 'userHome';
    }
  /** A placeholder that only the client itself can fill in. */
  | {
      readonly kind: 'foreign';
      readonly text: string;
    };
export interface PlaceholderStyle {
  parse(text: string): Segment[];
  /** Undefined when the style has no spelling for it. */
  print(segment: Segment): string | undefined;
  /** True when it is not documented that the client fills in placeholders at all. */
  readonly unsure?: boolean;
}
export interface Translation {
  readonly text: string;
  /** Placeholders of the source that nothing else can fill in. */
  readonly foreign: readonly string[];
  /** Placeholders that the target has no spelling for; they are in `text` in our own spelling. */
  readonly unspeakable: readonly string[];
  /** False when the target would read `text` as something else than the source meant. */
  readonly faithful: boolean;
  /** All of them, in our own spelling. */
  readonly placeholders: readonly string[];
}
export declare const isVariable: (name: string) => boolean;
/** The text in the spelling of `to`. */
export declare function translate(text: string, from: PlaceholderStyle, to: PlaceholderStyle): Translation;
/** A style whose placeholders a pattern finds; what `toSegment` gives no answer for is literal text. */
export declare function patternStyle(
  pattern: RegExp,
  toSegment: (match: RegExpExecArray) => Segment | undefined,
  print: PlaceholderStyle['print'],
): PlaceholderStyle;
/** Our own spelling; `$${` is a literal `${`. */
export declare const OURS: PlaceholderStyle;
