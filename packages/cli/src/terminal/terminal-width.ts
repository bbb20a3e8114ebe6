/** Some terminals, such as those of programs that record a session, report no size: 0 columns. */
const UNKNOWN_WIDTH = 80;

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;

/** How many columns a line may take: those of the terminal, any number elsewhere. */
export const terminalWidth = ({ isTTY, columns }: Stream): number =>
  isTTY ? columns || UNKNOWN_WIDTH : Number.POSITIVE_INFINITY;
