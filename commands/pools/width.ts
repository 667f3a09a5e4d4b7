/** How wide a drawing may be: the terminal, or 80 columns where the answer goes elsewhere. */
export const columnsOf = (stream: NodeJS.WriteStream = process.stdout): number => stream.columns ?? 80
