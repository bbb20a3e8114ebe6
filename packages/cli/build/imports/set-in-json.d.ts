export type JsonPath = readonly (string | number)[];
/** Undefined removes. Parents that are missing are made. Throws when a parent is neither a map nor a list. */
export declare function setInJson(text: string, path: JsonPath, value: unknown): string;
