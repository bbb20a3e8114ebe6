/** Whose a message is, told from its first and last characters: for one that is too large to be read. */

export interface MessageEdges {
  /** The request that it answers; undefined when that cannot be told. */
  readonly id: number | string | undefined;
  /** A request or a notice: no answer to anything. */
  readonly hasMethod: boolean;
}

const MEMBER = String.raw`"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|true|false|null)`;
/** The members at the beginning of an object, and those at its end, that are plain: not lists, not objects. */
const FIRST = new RegExp(String.raw`^\s*\{\s*((?:${MEMBER}\s*,\s*)*)`);
const LAST = new RegExp(String.raw`((?:,\s*${MEMBER}\s*)*)\}\s*$`);

/** So much of either end is enough. */
export const EDGE_LENGTH = 1_024;

/** Exact: only members of the message itself count, however many others have the same names. */
export function readEdges(head: string, tail: string): MessageEdges {
  const members = { ...membersOf(FIRST.exec(head)?.[1]), ...membersOf(LAST.exec(tail)?.[1]) };
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

/** Of a message of which nothing was kept. */
export const NO_EDGES: MessageEdges = { id: undefined, hasMethod: false };
