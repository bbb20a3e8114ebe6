/** Text that a server wrote, made safe to show: control and hidden characters become visible, lengths bounded. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]|[\u{e0000}-\u{e007f}]/gu;
/** Line breaks and tabs stay; what a terminal would obey or an eye would miss is spelt out. */
export function showText(text) {
  return text.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
/** One line of at most so many characters. */
export function showLine(text, width = 100) {
  const line = showText(text).replace(/\s+/g, ' ').trim();
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}
//# sourceMappingURL=untrusted-text.js.map
