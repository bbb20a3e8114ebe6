/** JSON5 as JSON: comments go, bare keys and single quotes become double ones. Everything else stays. */
/** Undefined when a text or comment has no end, or there is a character out of place. */
export declare function json5ToJson(text: string): string | undefined;
