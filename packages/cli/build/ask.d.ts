interface Declared {
  readonly description?: string | undefined;
  readonly password: boolean;
  readonly default?: string | undefined;
  readonly options?: readonly string[] | undefined;
}
/** The value of `${input:id}`. */
export declare function askInput(id: string, declared: Declared | undefined): Promise<string>;
export declare function askText(message: string): Promise<string>;
export declare function askYes(message: string): Promise<boolean>;
