import * as z from 'zod/mini';

/** A whole number between these, inclusive. */
export const integer = (least: number, most: number) => z.number().check(z.int(), z.gte(least), z.lte(most));
