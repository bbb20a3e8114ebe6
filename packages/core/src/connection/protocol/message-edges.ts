/** Identifies a message by its first and last characters: for one that is too large to parse. */

export interface MessageEdges {
  /** The request that it responds to; undefined if that cannot be determined. */
  readonly id: number | string | undefined;
  /** A request or a notification: not a response. */
  readonly hasMethod: boolean;
}

const MEMBER = String.raw`"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|true|false|null)`;
/** The primitive members at the beginning and at the end of an object. */
const LEADING_MEMBERS = new RegExp(String.raw`^\s*\{\s*((?:${MEMBER}\s*,\s*)*)`);
const TRAILING_MEMBERS = new RegExp(String.raw`((?:,\s*${MEMBER}\s*)*)\}\s*$`);

/** This much of either end is enough. */
export const EDGE_LENGTH = 1_024;

/** Exact: only members of the message itself count, even if nested ones have the same names. */
export function readEdges(head: string, tail: string): MessageEdges {
  const members = {
    ...membersOf(LEADING_MEMBERS.exec(head)?.[1]),
    ...membersOf(TRAILING_MEMBERS.exec(tail)?.[1]),
  };
  const { id } = members;
  return {
    id: typeof id === 'number' || typeof id === 'string' ? id : undefined,
    hasMethod: Object.hasOwn(members, 'method'),
  };
}

function membersOf(list = ''): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(`{${list.replace(/^,|,\s*$/g, '')}}`);
  } catch {
    return {};
  }
}

/** For a message of which nothing was kept. */
export const NO_EDGES: MessageEdges = { id: undefined, hasMethod: false };
