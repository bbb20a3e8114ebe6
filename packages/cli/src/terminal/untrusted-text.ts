/** Text that a server wrote, made safe to show: control and hidden characters become visible, lengths bounded. */
import { showLine as showCharacters, showText } from 'turnbuckle/text';
import { truncateToWidth } from './display-width.js';

/** Hints are indented as well, without the bar. */
const CONTINUATION_INDENT = '    | ';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours, as picocolors writes them
const COLOR = /(\u001b\[[0-9;]*m)/;

export { escapeHidden, showText } from 'turnbuckle/text';

/** A message: where it has several lines, none of them can pass for one of ours. */
export const showMessage = (text: string): string =>
  showText(text).replaceAll('\n', `\n${CONTINUATION_INDENT}`);

/** All of it in one line, line breaks made visible: for what must not be shortened, such as a name to agree to. */
export const showFullLine = (text: string): string =>
  showText(text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t'));

/** What is about to be written. Whatever was not made safe before is now: only our own colours get through. */
export function sanitizeLine(text: string, hasColors: boolean): string {
  if (!hasColors) return showText(text);
  return text
    .split(COLOR)
    .map((part, at) => (at % 2 === 1 ? part : showText(part)))
    .join('');
}

/** One line of at most this many columns. */
export function showLine(text: string, width = 100): string {
  // Cut roughly first: a text may be very long, and characters may take no room at all.
  return truncateToWidth(showCharacters(text, width * 4), width);
}
