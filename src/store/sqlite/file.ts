/** Keeps the files of a SQLite database small: limits the write-ahead log, and gives pages of removed rows back. */
import { statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type Database from 'better-sqlite3'

/** Size in bytes above which the write-ahead log is emptied; SQLite's own checkpoints begin at 16 MB. */
export const LARGEST_WAL_BYTES = 64 * 1024 * 1024
/** Milliseconds for which writes wait for readers of other processes, so that the log can be reset. */
const READERS_MS = 250
const READERS_POLL_MS = 5
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 60_000]

export interface WalBound {
  /** Empties the log if it is too large. If readers keep it in use, it does not throw but tries again later. */
  keep(): Promise<void>
}

/**
 * SQLite's own checkpoints never empty the log while readers of other processes overlap without a gap. While writes
 * wait, every new reader needs only the database file, and the log is free when the earlier ones end.
 */
export function boundWal(raw: Database.Database, file: string, largestBytes: number): WalBound {
  let [nextTry, pause] = [0, FIRST_PAUSE_MS]

  async function empty(): Promise<boolean> {
    const until = performance.now() + READERS_MS
    for (;;) {
      const [result] = raw.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
      if (result?.busy === 0) return true
      if (performance.now() >= until) return false
      await delay(READERS_POLL_MS)
    }
  }

  return {
    async keep() {
      const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
      if (size <= largestBytes || performance.now() < nextTry) return
      const isEmpty = await empty()
      pause = isEmpty ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS)
      nextTry = isEmpty ? 0 : performance.now() + pause
    },
  }
}

/** Pages that one step gives back; keeps a commit to a few milliseconds. */
const PAGES_PER_STEP = 500
/** Pages that stay free for new rows, because giving back and taking again costs twice. */
const LEAST_FREE_PAGES = 1_000
const FREE_SHARE = 0.2

/**
 * Gives some free pages at the end of the file back to the file system; false if few are free. The caller holds a write
 * transaction.
 */
export function giveBackPages(raw: Database.Database): boolean {
  const number = (pragma: string) => Number(raw.pragma(pragma, { simple: true }))
  const free = number('freelist_count')
  if (free <= Math.max(LEAST_FREE_PAGES, number('page_count') * FREE_SHARE)) return false
  raw.pragma(`incremental_vacuum(${PAGES_PER_STEP})`)
  return number('freelist_count') < free
}
