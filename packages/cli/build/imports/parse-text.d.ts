export type FileFormat = 'json' | 'toml' | 'yaml' | 'frontmatter';
export declare const MAX_FILE_BYTES: number;
export type ParsedDocument =
  | {
      readonly value: unknown;
    }
  | {
      readonly problem: string;
    };
/**
 * `value` is undefined for an empty text. Comments and trailing commas are fine in JSON, and bare keys and
 * single quotes too when it is only read.
 */
export declare function parseText(text: string, format: FileFormat, forReading?: boolean): ParsedDocument;
export declare const withoutByteOrderMark: (text: string) => string;
