/** The recipients of a claim: read from a flag or a CSV file and checked before any request. */
import type { Split } from '../../src/api/fee-claims.ts'
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import { CsvScanner, locate } from '../../src/merkle/csv-scanner.ts'
import { fileKindFault } from '../../src/merkle/file-faults.ts'
import { listOf, text } from '../cli/command.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'

const TOTAL_BPS = 10_000
const FEWEST = 2
const MOST = 10

export const SPLIT_FLAGS = {
  split: {
    ...listOf('Shares in hundredths of a percent, two to ten that sum to 10000', { placeholder: 'ADDR:BPS,…' }),
    conflicts: ['split_file'],
  },
  split_file: text('CSV of address,bps instead of --split; - for standard input', { placeholder: 'FILE' }),
}

/**
 * Reads the splits; undefined if neither source is present. Usage problems name the item, or the line and column.
 */
export async function readSplits(
  items: readonly string[] | undefined,
  file: string | undefined,
): Promise<Split[] | undefined> {
  if (items !== undefined) return splitsOf(items)
  if (file === undefined) return undefined
  return splitsIn(await readBytes(file), file === '-' ? 'standard input' : file)
}

/** Reads `ADDR:BPS` items. Throws a usage problem that names the item. */
export function splitsOf(items: readonly string[]): Split[] {
  const shown = '--split'
  const splits = items.map((item, i) => {
    const where = `${shown}: item ${i + 1}`
    const [address = '', bps, more] = item.split(':')
    if (bps === undefined || more !== undefined) {
      throw usage(`${where} must be ADDRESS:BPS${item.length > 60 ? '' : `, not "${item}"`}`, { param: shown })
    }
    return { where, recipient: recipientOf(address, where, shown), bps: bpsOf(bps, where, shown) }
  })
  return checkedSplits(splits, shown, shown)
}

/**
 * Reads lines `address,bps`; skips a heading, blank lines and lines that begin with #. Throws a usage problem with
 * `FILE:LINE:COLUMN`.
 */
export function splitsIn(bytes: Uint8Array, name: string): Split[] {
  const param = '--split-file'
  const kind = fileKindFault(bytes)
  if (kind !== undefined) throw usage(`${name}:1:1: ${kind}`, { param })
  const scanner = new CsvScanner(bytes, { findSeparator: true })
  const place = (offset: number) => {
    const { line, column } = locate(scanner.bytes, [offset]).get(offset) ?? { line: 1, column: 1 }
    return `${name}:${line}:${column}`
  }
  const splits: (Split & { where: string })[] = []
  while (scanner.next()) {
    const { fault, cells, recordStart, starts } = scanner
    if (fault !== undefined) throw usage(`${place(fault.offset)}: ${fault.message}`, { param })
    const texts = Array.from({ length: cells }, (_, i) => scanner.text(i))
    const [address = '', bps = ''] = texts
    const where = place(recordStart)
    if (texts.some((text) => /^(address|recipient|wallet|bps)$/i.test(text))) {
      if (/^(address|recipient|wallet)$/i.test(address) && /^bps$/i.test(bps) && cells === 2) continue
      throw usage(`${where}: the heading must be address,bps`, { param })
    }
    if (cells !== 2) throw usage(`${where}: it has ${cells} columns, and must have two: address,bps`, { param })
    const recipient = recipientOf(address, place(starts[0] ?? 0), param)
    splits.push({ where, recipient, bps: bpsOf(bps, place(starts[1] ?? 0), param) })
  }
  return checkedSplits(splits, param, name)
}

function recipientOf(text: string, where: string, param: string): string {
  if (walletKey(text) !== undefined) return text
  throw usage(`${where}: ${walletFault(text)}`, { param })
}

function bpsOf(text: string, where: string, param: string): number {
  const bps = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (bps >= 1 && bps <= TOTAL_BPS) return bps
  throw usage(`${where}: bps must be a whole number from 1 to ${TOTAL_BPS}, not ${JSON.stringify(text.slice(0, 24))}`, {
    param,
  })
}

function checkedSplits(splits: readonly (Split & { where: string })[], param: string, name: string): Split[] {
  const first = new Map<string, string>()
  for (const { recipient, where } of splits) {
    const earlier = first.get(recipient)
    if (earlier !== undefined) throw usage(`${where}: ${recipient} appears twice: ${earlier}`, { param })
    first.set(recipient, where)
  }
  if (splits.length < FEWEST || splits.length > MOST) {
    throw usage(`${name}: a split has ${FEWEST} to ${MOST} recipients, not ${splits.length}`, { param })
  }
  const sum = splits.reduce((total, { bps }) => total + bps, 0)
  if (sum !== TOTAL_BPS) {
    const off = sum < TOTAL_BPS ? `${TOTAL_BPS - sum} too little` : `${sum - TOTAL_BPS} too much`
    throw usage(`${name}: bps must sum to exactly ${TOTAL_BPS}, and come to ${sum}: ${off}`, { param })
  }
  return splits.map(({ recipient, bps }) => ({ recipient, bps }))
}
