/** What a token must be good for: nothing, making calls, looking, or changing things. */
export type Access = 'open' | 'call' | 'look' | 'manage';

/** What a token can be given. */
export type TokenAccess = Exclude<Access, 'open'>;
