export interface DiffLine {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}
/** Exact for the small files this is for: what both texts share at the ends is left out, the middle is compared. */
export declare function textDiff(before: string, after: string): DiffLine[];
