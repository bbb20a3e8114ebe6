type Schema = Readonly<Record<string, unknown>>;
/** The arguments; a word that fits neither form, or JSON that is none, is an error that names it. */
export declare function readArguments(words: readonly string[], schema: Schema): Record<string, unknown>;
/** The required arguments that are not there. */
export declare function missingArguments(
  args: Readonly<Record<string, unknown>>,
  { required }: Schema,
): string[];
/** A text as the type that the schema asks for; as it is when it cannot be that, so that the check can say why. */
export declare function coerce(text: string, schema: Schema): unknown;
