import * as z from 'zod/mini';

const toTime = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text));

/** A time in a query: ISO 8601, or milliseconds since 1970. */
export const TIME = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (text) => Number.isFinite(toTime(text)),
        'expected a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970',
      ),
    ),
  z.transform(toTime),
);
