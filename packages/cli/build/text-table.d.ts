/** Rows as aligned columns; the last column is as long as it is. */
export declare function textTable(rows: ReadonlyArray<readonly string[]>, gap?: number): string[];
