/** Line breaks and tabs stay; what a terminal would obey or an eye would miss is spelt out. */
export declare function showText(text: string): string;
/** One line of at most so many characters. */
export declare function showLine(text: string, width?: number): string;
