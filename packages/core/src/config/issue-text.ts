/** What a validation says, in English: the small validator brings no words of its own. */
import en from 'zod/v4/locales/en.js';

/** For `safeParse`: the sentence for an issue. */
export const describeType = en().localeError;
