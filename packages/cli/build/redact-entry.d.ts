export declare function redactEntry(entry: Readonly<Record<string, unknown>>): Record<string, unknown>;
