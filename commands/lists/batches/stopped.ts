/** Finds the lists of a folder that were sent in part, by the journals beside them. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { printable } from '../../ui/render.ts'
import { counted } from '../../ui/words.ts'
import { ListJournal } from '../journal.ts'
import { SEND_JOURNAL, type SentBatch } from './journal.ts'

/** What a journal's name has after that of its list. */
export const SEND_ENDING = '.send.jsonl'
/** Most journals of a folder that are read, and the most bytes of a file. */
const MOST_JOURNALS = 20
const MOST_BYTES = 50_000_000
const ADDRESS = /[1-9A-HJ-NP-Za-km-z]{32,44}/g

/** A list that was sent in part; `open` transactions may still land. `rows` is null without its file, and for JSON. */
export interface StoppedList {
  file: string
  rows: number | null
  paid: number
  open: number
}

/** Reads the journals of the folder. One that is not of this user, or damaged, counts as none: its own command says why. */
export function stoppedLists(folder: string): StoppedList[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(SEND_ENDING))
  return names.slice(0, MOST_JOURNALS).flatMap((name) => {
    try {
      return stoppedList(folder, name)
    } catch {
      return []
    }
  })
}

function stoppedList(folder: string, name: string): StoppedList[] {
  const journal = smallFile(join(folder, name))
  if (journal === null) return []
  const terms = { mint: null, payer: null, cluster: null }
  const batches = [...new ListJournal<typeof terms, SentBatch>(journal, terms, SEND_JOURNAL).entries.values()]
  const walletsOf = (end: SentBatch['end']) =>
    batches.filter((batch) => batch.end === end).flatMap(({ recipients }) => recipients.map(([wallet]) => wallet))
  const paid = new Set(walletsOf('confirmed'))
  const open = batches.filter(({ end }) => end === undefined).length
  const file = name.slice(0, -SEND_ENDING.length)
  const list = file.endsWith('.json') ? null : smallFile(join(folder, file))
  const rows = list === null ? null : rowsWithAddress(readFileSync(list, 'utf8'))
  const left = rows === null ? 0 : rows.filter((row) => !row.some((address) => paid.has(address))).length
  return left + open === 0 ? [] : [{ file, rows: rows?.length ?? null, paid: paid.size, open }]
}

/** The path, or null if no file of that size is there. */
function smallFile(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size <= MOST_BYTES ? path : null
}

/** The addresses of each line that has one. */
const rowsWithAddress = (text: string): string[][] =>
  text.split('\n').flatMap((line) => {
    const addresses = line.match(ADDRESS)
    return addresses === null ? [] : [addresses]
  })

/** One line for each list. */
export const stoppedLines = (lists: readonly StoppedList[]): string[] =>
  lists.map(({ file, rows, paid, open }) => {
    const part = rows === null ? counted(paid, 'wallet') : `${paid} of ${counted(rows, 'row')}`
    const ends = open === 0 ? '' : `; the end of ${counted(open, 'transaction')} is not known`
    return `The list ${printable(file)} was sent in part, ${part} ${paid === 1 && rows === null ? 'is' : 'are'} paid${ends}. Run its command again: it goes on.`
  })
