/** Reads the small files that accompany a list of recipients: addresses, one per line, and tiers of balances. */
import { byteKey } from '../../solana/addresses.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { walletFault, walletKey } from '../base58.ts'
import { errorValueFault } from '../file-faults.ts'
import { AllocationFault } from './fault.ts'

/** Most bytes of a file of addresses, enough for a million. */
export const MOST_LIST_BYTES = 64 * 1024 * 1024
const MOST_TIERS = 1_000

/** A range of balances in raw units, and the amount of a holder in it. */
export interface Tier {
  /** The least balance of the tier. */
  from: bigint
  /** The balance at which it ends; null for no end. */
  to: bigint | null
  amount: bigint
  /** Line of the file. */
  line: number
}

/**
 * Reads decimal text with at most `decimals` fractional digits as raw units. Throws AllocationFault for anything else,
 * and for more than 64 bits.
 */
export function parseUnits(text: string, decimals: number): bigint {
  const [, whole, fraction = ''] = /^(\d{1,40})(?:\.(\d{1,40}))?$/.exec(text) ?? []
  if (whole === undefined) throw new AllocationFault(`${shownText(text)} is not an amount`)
  if (fraction.replace(/0+$/, '').length > decimals) {
    throw new AllocationFault(
      decimals === 0
        ? `${text} must be a whole number of raw units`
        : `${text} has more than ${decimals} fractional digits`,
    )
  }
  const units = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  if (units > MAX_U64) throw new AllocationFault(`${text} is more than a token account can hold`)
  return units
}

/** Lines with content: without comments, blank lines and the byte order mark. */
function* contentLines(text: string): Generator<{ line: number; content: string }> {
  for (const [index, written] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    for (const { 0: cell, index: at } of written.matchAll(/[^,;\t]+/g)) {
      const fault = errorValueFault(cell.trim())
      if (fault !== undefined) throw new AllocationFault(fault, { line: index + 1, column: at + 1 })
    }
    const content = written.replace(/#.*$/, '').trim()
    if (content !== '') yield { line: index + 1, content }
  }
}

/**
 * Reads addresses from the first column of each line, with or without a heading. Returns them by `byteKey`, each with
 * its line; an address may be repeated.
 */
export function parseAddressList(text: string): Map<string, number> {
  const addresses = new Map<string, number>()
  let isFirst = true
  for (const { line, content } of contentLines(text)) {
    const cell = (content.split(/[,;\t]/)[0] ?? '').trim().replace(/^"(.*)"$/, '$1')
    const key = walletKey(cell)
    const isHeading = isFirst && /^(?:wallet|address|owner|pubkey|claimant|recipient)$/i.test(cell)
    isFirst = false
    if (isHeading) continue
    if (key === undefined) throw new AllocationFault(walletFault(cell), { line, column: 1 })
    const name = byteKey(key)
    if (!addresses.has(name)) addresses.set(name, line)
  }
  return addresses
}

/**
 * Reads lines `from,to,amount`; `from` is inclusive, `to` is not, and an empty `to` means no end. Throws
 * AllocationFault
 * for ranges that overlap, naming both lines.
 */
export function parseTiers(text: string, units: { balance: number; amount: number }): Tier[] {
  const tiers: Tier[] = []
  let isFirst = true
  for (const { line, content } of contentLines(text)) {
    const cells = content.split(',').map((cell) => cell.trim())
    const isHeading = isFirst && /^from$/i.test(cells[0] ?? '')
    isFirst = false
    if (isHeading) continue
    tiers.push(tierOf(cells, line, units))
    if (tiers.length > MOST_TIERS)
      throw new AllocationFault(`there are more than ${MOST_TIERS} tiers`, { line, column: 1 })
  }
  if (tiers.length === 0)
    throw new AllocationFault('there is no tier: a line is from,to,amount', { line: 1, column: 1 })
  tiers.sort((one, other) => (one.from < other.from ? -1 : one.from > other.from ? 1 : one.line - other.line))
  for (const [i, tier] of tiers.entries()) {
    const next = tiers[i + 1]
    if (next !== undefined && (tier.to === null || tier.to > next.from)) {
      throw new AllocationFault(`the tiers of lines ${tier.line} and ${next.line} overlap`, {
        line: next.line,
        column: 1,
      })
    }
  }
  return tiers
}

function tierOf(cells: readonly string[], line: number, units: { balance: number; amount: number }): Tier {
  const [from = '', to = '', amount = ''] = cells
  if (cells.length !== 3) throw new AllocationFault('a tier is from,to,amount', { line, column: 1 })
  const placed = <T>(column: number, read: () => T): T => {
    try {
      return read()
    } catch (error) {
      if (error instanceof AllocationFault) throw new AllocationFault(error.message, { line, column })
      throw error
    }
  }
  const toAt = from.length + 2
  const tier = {
    from: placed(1, () => parseUnits(from, units.balance)),
    to: to === '' ? null : placed(toAt, () => parseUnits(to, units.balance)),
    amount: placed(toAt + to.length + 1, () => parseUnits(amount, units.amount)),
    line,
  }
  if (tier.to !== null && tier.to <= tier.from) {
    throw new AllocationFault(`a tier must end above its start: ${from} to ${to}`, { line, column: toAt })
  }
  return tier
}

/** Text of a foreign file inside a message: short, and without characters that a terminal would interpret. */
function shownText(text: string): string {
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return JSON.stringify(short).replace(/[\u007f-\u{10ffff}]/gu, '?')
}
