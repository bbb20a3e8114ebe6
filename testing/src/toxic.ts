/** The direction of a toxic: towards the server, towards the client (the default), or both. */
export type Direction = 'upstream' | 'downstream' | 'both';

/** One kind of disturbance of a connection. */
export type Toxic = { readonly direction?: Direction } & (
  | { readonly kind: 'latency'; readonly latencyMs: number; readonly jitterMs?: number }
  /** The port is closed, and open connections are cut. */
  | { readonly kind: 'down' }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /** The end of a connection is passed on late. */
  | { readonly kind: 'slow-close'; readonly delayMs: number }
  /** Bytes vanish; with `closeAfterMs` the connection is closed in the end. */
  | { readonly kind: 'timeout'; readonly closeAfterMs?: number }
  /** Both ends get a TCP reset: instead of the first bytes in this direction, or `afterMs` after the connection. */
  | { readonly kind: 'reset-peer'; readonly afterMs?: number }
  /** Bytes arrive in small pieces. */
  | {
      readonly kind: 'slicer';
      readonly sliceBytes: number;
      readonly variation?: number;
      readonly delayMs?: number;
    }
  /** The connection is closed after so many bytes. */
  | { readonly kind: 'limit-data'; readonly bytes: number }
);

export type ToxicOf<Kind extends Toxic['kind']> = Extract<Toxic, { kind: Kind }>;

/** The first toxic of a kind. */
export function findToxic<Kind extends Toxic['kind']>(
  toxics: readonly Toxic[],
  kind: Kind,
): ToxicOf<Kind> | undefined {
  return toxics.find((toxic): toxic is ToxicOf<Kind> => toxic.kind === kind);
}

/** True if the toxic applies to this direction. */
export function worksOn({ direction = 'downstream' }: Toxic, way: 'upstream' | 'downstream'): boolean {
  return direction === 'both' || direction === way;
}
