/** Reads a curve's quote mint and its token badge, and checks that the program accepts it. */

import { badRequest } from '../../../platform/errors.ts'
import { SOL_DECIMALS } from '../../../solana/constants.ts'
import { CLOCK_SYSVAR, NATIVE_MINT_2022, TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DBC } from '../../../solana/programs/dbc.ts'
import { readMint, readTokenAccount } from '../../../solana/token-accounts.ts'
import { type MintExtensions, readMintExtensions } from '../../../solana/token-extensions.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { chainTimeOf } from '../../reads/chain-clock.ts'
import type { NodeAccount } from '../../reads/node-reads.ts'
import { addressOfKey } from '../derived-addresses.ts'
import { openDbc, quoteAccount } from './program.ts'
import { readDbcAccounts } from './state.ts'
import type { DbcPool, LaunchCurve } from './types.ts'

/** Extensions that the program accepts in a quote without a badge: the metadata pointer, and the metadata. */
const TAKEN_EXTENSIONS: readonly number[] = [18, 19]

type Quoted = Pick<LaunchCurve, 'quoteMint' | 'quoteDecimals'>

/** What the instructions of a launch name of its quote. */
export interface QuoteTerms {
  quoteProgram: DbcPool['quoteProgram']
  /** Address of the account with which Meteora admits the quote's extensions; null for a quote that needs none. */
  tokenBadge: string | null
}

/** A quote's mint, and the badge that Meteora gave it; null for what the cluster lacks. */
export interface QuoteAccounts {
  mint: NodeAccount | null
  badge: NodeAccount | null
}

/**
 * Returns the token program of the curve's quote, and the badge that its launch has to name. SOL takes no request.
 * Throws bad_request naming `preset` for a mint that does not exist, has other decimals, lacks the badge that it needs
 * or cannot be traded, internal_error when the node fails.
 */
export async function requireQuoteMint(node: NodeCalls, curve: Quoted): Promise<QuoteTerms> {
  const { quoteMint } = curve
  if (quoteMint === WRAPPED_SOL) return { quoteProgram: 'spl', tokenBadge: null }
  const { mint, badge, clock } = await readQuote(node, quoteMint)
  const { owner, data } = requireMint(curve, mint)
  if (owner === TOKEN_PROGRAM) return { quoteProgram: 'spl', tokenBadge: null }
  const extensions = readMintExtensions(data)
  const why = obstacleOf(curve, extensions, (await chainTimeOf(clock)).epoch)
  if (why !== null) throw refusedQuote(curve, why)
  const others = extensions.types.filter((type) => !TAKEN_EXTENSIONS.includes(type))
  if (others.length === 0) return { quoteProgram: 'token2022', tokenBadge: null }
  const tokenBadge = await tokenBadgeAddress(quoteMint)
  if (badge !== null) return { quoteProgram: 'token2022', tokenBadge }
  throw refusedQuote(
    curve,
    `is a Token-2022 mint with extensions (${others.join(', ')}) that Meteora takes only with a token badge, an account with which it admits one mint, and there is none at ${tokenBadge}: ask Meteora for it, or name another quote`,
  )
}

/** Reads the mint of a quote other than SOL, with its badge, in one call. */
export async function readQuoteAccounts(node: NodeCalls, quoteMint: string): Promise<QuoteAccounts> {
  const { mint, badge } = await readQuote(node, quoteMint)
  return { mint, badge }
}

/** Returns the address of the account with which Meteora admits a mint as a quote. */
export async function tokenBadgeAddress(quoteMint: string): Promise<string> {
  const { sdk, key } = await openDbc()
  return addressOfKey(sdk.deriveTokenBadgeAddress(key(quoteMint)))
}

/**
 * Throws bad_request naming `buy_amount` if the buyer holds less than `amount` raw units of a quote other than SOL.
 */
export async function requireQuoteBalance(
  node: NodeCalls,
  { quoteMint, quoteDecimals, quoteProgram }: Quoted & Pick<DbcPool, 'quoteProgram'>,
  { buyer, amount }: { buyer: string; amount: bigint },
): Promise<void> {
  if (quoteMint === WRAPPED_SOL || amount === 0n) return
  const { address } = await quoteAccount({ quoteMint, quoteProgram }, (await openDbc()).key(buyer))
  const { accounts } = await readDbcAccounts(node, [address.toBase58()])
  const account = accounts[0] ?? null
  const held = account === null ? 0n : (readTokenAccount(account)?.amount ?? 0n)
  if (held >= amount) return
  throw badRequest(
    `buy_amount: the creator ${buyer} holds ${held} raw units of the quote ${quoteMint} (${quoteDecimals} decimals), and the first buy takes ${amount}`,
    { param: 'buy_amount' },
  )
}

async function readQuote(node: NodeCalls, quoteMint: string): Promise<QuoteAccounts & { clock: NodeAccount | null }> {
  const { accounts } = await readDbcAccounts(node, [quoteMint, await tokenBadgeAddress(quoteMint), CLOCK_SYSVAR])
  const [mint = null, found = null, clock = null] = accounts
  const isBadge = DBC.decode('token_badge', found)?.token_mint === quoteMint
  return { mint, badge: isBadge ? found : null, clock }
}

function requireMint({ quoteMint, quoteDecimals }: Quoted, account: NodeAccount | null): NodeAccount {
  const refused = (why: string) => refusedQuote({ quoteMint }, why)
  const mint = account === null ? null : readMint(account)
  if (account === null || mint === null) throw refused('is not a mint on this cluster')
  if (mint.decimals !== quoteDecimals) {
    throw refused(
      `has ${mint.decimals} decimals, and the preset says quote_decimals ${quoteDecimals}${quoteDecimals === SOL_DECIMALS ? ' (9 when left out)' : ''}: its market caps would be wrong`,
    )
  }
  return account
}

/** Returns why the tokens of a mint could not be traded on a curve, with or without a badge; null if they can. */
function obstacleOf(
  { quoteMint }: Pick<Quoted, 'quoteMint'>,
  { transferFee, transferHook, isFrozenByDefault, isTransferable, isPaused }: MintExtensions,
  epoch: bigint,
): string | null {
  if (quoteMint === NATIVE_MINT_2022) {
    return 'is the wrapped SOL of Token-2022, which Meteora does not take: leave quote_mint out to launch in SOL'
  }
  const fees =
    transferFee === null ? [] : [transferFee.newer, ...(epoch < transferFee.newer.epoch ? [transferFee.older] : [])]
  const fee = fees.find(({ basisPoints }) => basisPoints > 0)
  if (fee !== undefined) {
    const when = epoch < fee.epoch ? ` from epoch ${fee.epoch} on` : ''
    return `takes a transfer fee of ${fee.basisPoints / 100} %${when}, and Meteora takes no quote with one, with or without a token badge: name another quote`
  }
  if (transferHook !== null) {
    return `calls the program ${transferHook} in each transfer, which Meteora's transfers of a quote do not support: name another quote`
  }
  if (!isTransferable) return 'cannot be transferred: name another quote'
  if (isFrozenByDefault) return 'freezes each new account, so no pool could be paid: name another quote'
  return isPaused === true ? 'is paused, so nothing can be paid: wait until its issuer resumes it' : null
}

const refusedQuote = ({ quoteMint }: Pick<Quoted, 'quoteMint'>, why: string) =>
  badRequest(`The preset's quote_mint ${quoteMint} ${why}`, { param: 'preset', details: { quote_mint: quoteMint } })
