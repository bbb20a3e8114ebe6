/** The revisions of the protocol. */

/** The stateless revision. */
export const MODERN_REVISION = '2026-07-28';
/** The older ones that are supported for clients, newest first. */
export const SERVED_REVISIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
/** The older ones that are supported for servers, newest first. */
export const LEGACY_REVISIONS: readonly string[] = [...SERVED_REVISIONS, '2024-10-07'];
