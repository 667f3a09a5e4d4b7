/** Verifies the numbers of the stored events, which have no gap from the first one to the counter. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../store.ts'
import { lastSequence } from './events.ts'

const EVENTS_PER_READ = 5_000

/** The first gap as text, or null without one. It reads in steps, between which other work runs. */
export async function eventGap(reader: Reader, signal: AbortSignal): Promise<string | null> {
  const last = await lastSequence(reader)
  const first = await reader.selectFrom('events').select('sequence').orderBy('sequence').limit(1).executeTakeFirst()
  if (first === undefined) return null
  for (let from = first.sequence; from <= last; from += EVENTS_PER_READ) {
    signal.throwIfAborted()
    const to = Math.min(last, from + EVENTS_PER_READ - 1)
    const { count } = await reader
      .selectFrom('events')
      .select(({ fn }) => fn.countAll<number | string>().as('count'))
      .where('sequence', '>=', from)
      .where('sequence', '<=', to)
      .executeTakeFirstOrThrow()
    // Old events may be removed meanwhile.
    const isRemoved = Number(count) < to - from + 1 && (await firstNow(reader)) > from
    if (Number(count) !== to - from + 1 && !isRemoved) return `between ${from} and ${to} some are missing`
    await nextTurn()
  }
  return null
}

async function firstNow(reader: Reader): Promise<number> {
  const first = await reader.selectFrom('events').select('sequence').orderBy('sequence').limit(1).executeTakeFirst()
  return first?.sequence ?? Number.MAX_SAFE_INTEGER
}
