export declare const VERSION = '0.1.0';
export interface MainOptions {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}
export declare function main({ words, environment, signal }: MainOptions): Promise<number>;
