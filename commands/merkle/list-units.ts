/** The units of a list's amounts, which the user says for a mint on chain, and the words for its least, median and most. */
import { type EntryList, entrySums, sumOfAmounts } from '../../src/merkle/entry-list.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { withTimeout } from '../../src/platform/timing.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { toggle } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import type { MintOnChain } from '../signing/token-state.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { csvFlags } from './recipients.ts'

/** The flags of a command that pays, or stores what will be paid. */
export const unitFlags = {
  ...csvFlags,
  raw: toggle('Amounts are raw units; for a mint on chain, either this or --decimals is needed', {
    conflicts: ['decimals'],
    needs: ['list'],
  }),
}

interface UnitChoice {
  decimals: number | undefined
  raw: boolean
}

/** A token as the chain shows it. */
export interface ListToken extends MintOnChain {
  mint: string
  symbol: string | null
}

type CountedToken = Pick<ListToken, 'mint' | 'decimals' | 'symbol'>

/** The longest wait for the symbol of a token, in milliseconds. */
const SYMBOL_PATIENCE_MS = 700

/** Reads the token of a list. Throws not_found if there is no such mint. */
export async function listToken(session: Session, mint: string): Promise<ListToken> {
  const { mintState } = await import('../signing/token-state.ts')
  if (mint === WRAPPED_SOL)
    session.ui.warn(
      'the token is wrapped SOL: each wallet gets wrapped SOL in a token account, which it must unwrap, not SOL',
    )
  return withSymbol(session, mint, await mintState(session, mint))
}

/** Reads the token of a list that is only stored; null if the mint is not on chain yet, or cannot be read now. */
export async function listTokenIfRead(session: Session, mint: string): Promise<ListToken | null> {
  try {
    return await listToken(session, mint)
  } catch (error) {
    if (!(error instanceof ApiError) || !['not_found', 'internal_error'].includes(error.code)) throw error
    if (error.code === 'internal_error') {
      session.ui.warn(`the mint ${mint} cannot be read now, so the decimals of the list are not compared with it`)
    }
    return null
  }
}

async function withSymbol({ client }: Session, mint: string, state: MintOnChain): Promise<ListToken> {
  // A list can be read without the name of its token.
  const labels = await withTimeout(SYMBOL_PATIENCE_MS, undefined, async () =>
    client.tokens.batchFetch({ mints: [mint] }),
  ).catch(() => null)
  const symbol = labels?.data.tokens.find((label) => label?.mint === mint)?.symbol ?? null
  return { mint, ...state, symbol: symbol === null ? null : printable(symbol).slice(0, 10) }
}

/** The name of whole tokens, such as `FIRST`. */
const unitName = ({ symbol }: Pick<ListToken, 'symbol'>): string => symbol ?? 'tokens'

/** Throws a usage problem for decimals that the mint does not have. */
export function requireUnits({ decimals }: Pick<UnitChoice, 'decimals'>, token: CountedToken | null): void {
  if (token === null || decimals === undefined || decimals === token.decimals) return
  throw usage(`the token ${token.mint} has ${token.decimals} decimals, not ${decimals}: every amount would be wrong`, {
    param: '--decimals',
    next: `give --decimals ${token.decimals}, or --raw if the amounts are raw units`,
  })
}

/**
 * The decimals of a list whose amounts may be whole tokens or raw units; undefined for raw units. Asks on a terminal,
 * and throws a usage problem elsewhere. Without a token on chain, nothing is demanded.
 */
export async function chosenUnits(
  { ui }: Pick<Session, 'ui'>,
  { decimals, raw }: UnitChoice,
  { name, token }: { name: string; token: CountedToken | null },
): Promise<number | undefined> {
  if (raw || decimals !== undefined || token === null) return decimals
  const own = token.decimals
  const unit = unitName(token)
  const small = groupedDecimalOf(1n, own)
  if (!ui.interactive) {
    throw usage(`${name}: say whether its amounts are whole ${unit} or raw units; the mint has ${own} decimals`, {
      param: '--decimals',
      next: `add --decimals ${own} if 1 means 1 ${unit}, or --raw if 1 means ${small} ${unit}`,
    })
  }
  const answer = await ui.ask({
    message: `The amounts of ${name} are`,
    choices: [
      { value: 'whole', label: `whole ${unit}`, about: `--decimals ${own}: 1 is 1 ${unit}` },
      { value: 'raw', label: 'raw units', about: `--raw: 1 is ${small} ${unit}` },
    ],
    check: () => undefined,
  })
  ui.note(`Without this question: ${answer === 'raw' ? '--raw' : `--decimals ${own}`}`)
  return answer === 'raw' ? undefined : own
}

/** What a list pays, in raw units: `decimals` null leaves them so. */
interface AmountUnits {
  decimals: number | null
  symbol: string | null
}

/** `200 wallets, 100–196 FIRST (median 150), 29,327 FIRST in all`. */
export const listWords = (lists: readonly EntryList[], units: AmountUnits): string =>
  amountWords(lists.map(entrySums), units)

/** The same of amounts in raw units, locked parts included. */
export function amountWords(columns: readonly BigUint64Array[], { decimals, symbol }: AmountUnits): string {
  const all = new BigUint64Array(columns.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const column of columns) {
    all.set(column, at)
    at += column.length
  }
  const total = sumOfAmounts(all)
  all.sort()
  const [least = 0n, median = 0n, most = 0n] = [all[0], all[all.length >> 1], all.at(-1)]
  const unit = decimals === null ? 'raw units' : unitName({ symbol })
  const shown = (amount: bigint) => groupedDecimalOf(amount, decimals ?? 0)
  const wallets = walletsText(all.length)
  if (all.length < 2) return `${wallets}, ${shown(total)} ${unit}`
  const each =
    least === most ? `${shown(least)} ${unit} each` : `${shown(least)}–${shown(most)} ${unit} (median ${shown(median)})`
  return `${wallets}, ${each}, ${shown(total)} ${unit} in all`
}

const walletsText = (count: number) => `${groupedDecimalOf(BigInt(count), 0)} wallet${count === 1 ? '' : 's'}`

/** The same of a list whose amounts are not known one by one. */
export function totalWords(count: number, total: bigint, { decimals, symbol }: AmountUnits): string {
  const unit = decimals === null ? 'raw units' : unitName({ symbol })
  return `${walletsText(count)}, ${groupedDecimalOf(total, decimals ?? 0)} ${unit} in all`
}
