export interface EventLimit {
  /** Most characters of one event. */
  readonly maxCharacters: number;
  readonly createError: () => Error;
}

/**
 * Takes a stream of events apart, however its text is cut: answers the function that takes the next piece. It throws
 * where an event is too long.
 */
export function createEventReader(
  onEvent: (name: string, data: string) => void,
  { maxCharacters, createError }: EventLimit,
): (text: string) => void {
  let parts: string[] = [];
  let length = 0;
  return (text) => {
    if (text === '') return;
    length += text.length;
    if (length > maxCharacters) throw createError();
    // Joined only where an event may have ended: one in many pieces would be read again with each of them.
    const isEnd = text.includes('\n\n') || (text.startsWith('\n') && parts.at(-1)?.endsWith('\n') === true);
    parts.push(text);
    if (!isEnd) return;
    const blocks = parts.join('').split('\n\n');
    const rest = blocks.pop() ?? '';
    parts = [rest];
    length = rest.length;
    for (const block of blocks) {
      const lines = block.split('\n');
      const fieldOf = (field: string): string[] =>
        lines.flatMap((line) => (line.startsWith(`${field}: `) ? [line.slice(field.length + 2)] : []));
      const data = fieldOf('data');
      if (data.length > 0) onEvent(fieldOf('event')[0] ?? 'message', data.join('\n'));
    }
  };
}
