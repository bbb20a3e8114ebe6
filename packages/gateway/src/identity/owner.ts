/** The name of the owner's token, which has every access and always exists. */
export const OWNER = 'owner';
