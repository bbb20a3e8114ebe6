/** Text that a server wrote, made safe to show: control and hidden characters become visible, lengths bounded. */
// An emoji may carry the mark that gives it its colours; anywhere else it hides something.
const HIDDEN =
  /(?![\n\t])\p{Cc}|(?!\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?<!\p{Extended_Pictographic})\ufe0f/gu;

/** Line breaks and tabs stay; what a terminal would obey or an eye would miss is spelt out. */
export function showText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same JSON with those characters in its own escapes: nothing is lost, and nothing is obeyed. */
export function escapeHidden(json: string): string {
  return json.replace(HIDDEN, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** One line of at most so many characters. */
export function showLine(text: string, width = 100): string {
  const line = showText(text).replace(/\s+/g, ' ').trim();
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}
