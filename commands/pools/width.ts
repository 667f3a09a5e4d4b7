/** How wide drawings may be. */
import { type Output, terminal } from '../terminal.ts'

/** Columns of the terminal, or 80 where the answer goes elsewhere. */
export const columnsOf = (stream: Output = terminal().stdout): number => stream.columns ?? 80
