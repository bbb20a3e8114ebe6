/** One sentence for approvals and one for all other keys; none when nothing is left. */
export declare function describeRest(rest: Readonly<Record<string, unknown>>): string[];
