/** How long work tells how far it is; called in the working thread, between rows. */

/** Rows done, rows in all (an estimate while reading, exact in the last call of a stage). */
export type BuildProgress = (done: number, total: number, stage: 'read' | 'hash') => void

/** Rows between two calls: a million rows make about 120 of them. */
export const PROGRESS_ROWS = 16_384
