/** Takes a stream of events apart, however its text is cut: answers the function that takes the next piece. */
export function createEventReader(onEvent: (name: string, data: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const fieldOf = (field: string): string[] =>
        lines.flatMap((line) => (line.startsWith(`${field}: `) ? [line.slice(field.length + 2)] : []));
      const data = fieldOf('data');
      if (data.length > 0) onEvent(fieldOf('event')[0] ?? 'message', data.join('\n'));
    }
  };
}
