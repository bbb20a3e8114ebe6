/** Text that a server wrote, made safe to show: control and hidden characters become visible, lengths bounded. */
import { showLine as showCharacters } from 'turnbuckle/text';
import { cutToWidth } from './display-width.js';

export { escapeHidden, showText } from 'turnbuckle/text';

/** One line of at most so many columns. */
export function showLine(text: string, width = 100): string {
  // Cut roughly first: a text may be very long, and characters may take no room at all.
  return cutToWidth(showCharacters(text, width * 4), width);
}
