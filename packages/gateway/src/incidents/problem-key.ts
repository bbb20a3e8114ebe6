/** What makes a problem of a config file the same one, although an edit elsewhere has moved it to another line. */
export const problemKey = (message: string): string => message.replace(/:\d+:\d+:/, ':');
