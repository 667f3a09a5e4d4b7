/** Reads a curve's quote mint, and checks that the program accepts it. */

import { badRequest } from '../../../platform/errors.ts'
import { SOL_DECIMALS } from '../../../solana/constants.ts'
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { readMint, readTokenAccount, TOKEN_ACCOUNT_SIZE } from '../../../solana/token-accounts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import type { NodeAccount } from '../../reads/node-reads.ts'
import { openDbc, quoteAccount } from './program.ts'
import { readDbcAccounts } from './state.ts'
import type { DbcPool, LaunchCurve } from './types.ts'

/** Extensions that the program accepts in a quote without a badge: the metadata pointer, and the metadata. */
const TAKEN_EXTENSIONS: readonly number[] = [18, 19]
/** Mints with extensions are padded to the size of a token account, followed by a byte for the kind of account. */
const EXTENSIONS_OFFSET = TOKEN_ACCOUNT_SIZE + 1

type Quoted = Pick<LaunchCurve, 'quoteMint' | 'quoteDecimals'>

/**
 * Returns the token program of the curve's quote. SOL takes no request. Throws bad_request naming `preset` for a mint
 * that does not exist, has other decimals or needs a token badge, internal_error when the node fails.
 */
export async function requireQuoteMint(node: NodeCalls, curve: Quoted): Promise<DbcPool['quoteProgram']> {
  if (curve.quoteMint === WRAPPED_SOL) return 'spl'
  const { accounts } = await readDbcAccounts(node, [curve.quoteMint])
  return quoteProgramOf(curve, accounts[0] ?? null)
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

function quoteProgramOf({ quoteMint, quoteDecimals }: Quoted, account: NodeAccount | null): DbcPool['quoteProgram'] {
  const refused = (why: string) =>
    badRequest(`The preset's quote_mint ${quoteMint} ${why}`, {
      param: 'preset',
      details: { quote_mint: quoteMint },
    })
  const mint = account === null ? null : readMint(account)
  if (account === null || mint === null) throw refused('is not a mint on this cluster')
  if (mint.decimals !== quoteDecimals) {
    throw refused(
      `has ${mint.decimals} decimals, and the preset says quote_decimals ${quoteDecimals}${quoteDecimals === SOL_DECIMALS ? ' (9 when left out)' : ''}: its market caps would be wrong`,
    )
  }
  if (account.owner === TOKEN_PROGRAM) return 'spl'
  const other = extensionsOf(account.data).filter((extension) => !TAKEN_EXTENSIONS.includes(extension))
  if (other.length === 0) return 'token2022'
  throw refused(
    `is a Token-2022 mint with extensions (${other.join(', ')}) that Meteora accepts only with a token badge, which svc does not support: name another quote`,
  )
}

/** Returns the types of the extensions of a mint, in their order. A truncated list ends at its last whole entry. */
function extensionsOf(data: Uint8Array): number[] {
  const [bytes, types] = [Buffer.from(data), [] as number[]]
  let at = EXTENSIONS_OFFSET
  while (at + 4 <= bytes.length) {
    const type = bytes.readUInt16LE(at)
    if (type === 0) break
    types.push(type)
    at += 4 + bytes.readUInt16LE(at + 2)
  }
  return types
}
