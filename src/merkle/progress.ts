/** Progress of long operations; the callback runs in the working thread, between rows. */

/**
 * Receives the number of processed rows and the total, which is an estimate while reading and exact in the last call of
 * a stage.
 */
export type BuildProgress = (done: number, total: number, stage: 'read' | 'hash') => void

/** Rows between two calls; a million rows make about 60 calls per stage. */
export const PROGRESS_ROWS = 16_384
