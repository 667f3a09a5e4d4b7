/** Reads whether wallets can receive a token: their token accounts, and the accounts at the wallets' own addresses. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChainAccount } from '../../../solana/accounts.ts'
import type { AddressFault } from '../../../solana/bare-addresses.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { type AccountKind, accountKind, recipientFault } from '../../../solana/recipients.ts'
import { readTokenAccount, type TokenAccountState } from '../../../solana/token-accounts.ts'
import { requiresMemo } from '../../../solana/token-extensions.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { accountsAt } from '../../sending/runs.ts'
import { associatedAccounts } from '../derived-addresses.ts'
import type { TokenProgram } from './types.ts'

/** The accounts at the addresses of one wallet. */
export interface TokenReceiver {
  wallet: string
  tokenAccount: string
  /** The account at the wallet's own address. */
  account: AccountKind | null
  /** Whether the token account has to be opened first. */
  isMissing: boolean
  /** Whether a missing token account's address already has lamports. */
  hasLamports: boolean
  /** Null for a missing account, and for one that is not a token account. */
  state: TokenAccountState | null
  /** The token account at the wallet's own address, if that is not a wallet. */
  own: TokenAccountState | null
  requiresMemo: boolean
}

export type ReceivingFault =
  | 'sender'
  | AddressFault
  | 'account_taken'
  | 'account_frozen'
  | 'new_accounts_frozen'
  | 'memo_required'

export interface ReceivingTerms {
  /** The wallet that sends. */
  payer: string
  mint: string
  /** Whether wallets may be addresses of programs. */
  allowsPrograms: boolean
  /** Whether a new token account of the mint is frozen until its authority thaws it. */
  opensFrozen: boolean
}

/** Number of wallets whose addresses are derived before other requests get their turn. */
const WALLETS_PER_TURN = 20

/** Takes two accounts a wallet, a hundred accounts per call. Throws internal_error when the node fails. */
export async function readReceivers(
  node: NodeCalls,
  { mint, tokenProgram, wallets }: { mint: string; tokenProgram: TokenProgram; wallets: readonly string[] },
): Promise<TokenReceiver[]> {
  const { accountOf } = associatedAccounts({ mint, tokenProgram })
  const derived: Pick<TokenReceiver, 'wallet' | 'tokenAccount'>[] = []
  for (const [i, wallet] of wallets.entries()) {
    if (i > 0 && i % WALLETS_PER_TURN === 0) await nextTurn()
    derived.push({ wallet, tokenAccount: accountOf(wallet) })
  }
  const accounts = await accountsAt(
    node,
    derived.flatMap(({ wallet, tokenAccount }) => [wallet, tokenAccount]),
  )
  return derived.map((each, i) => ({ ...each, ...receiving(accounts[2 * i] ?? null, accounts[2 * i + 1] ?? null) }))
}

/** Lamports that were sent to the address of a token account do not open it. */
function receiving(wallet: ChainAccount | null, tokens: ChainAccount | null) {
  return {
    account: accountKind(wallet),
    own: wallet === null ? null : readTokenAccount(wallet),
    isMissing: tokens === null || tokens.owner === SYSTEM_PROGRAM,
    hasLamports: tokens !== null && tokens.owner === SYSTEM_PROGRAM,
    state: tokens === null ? null : readTokenAccount(tokens),
    requiresMemo: tokens !== null && requiresMemo(tokens.data),
  }
}

/** Returns why tokens should not or cannot be sent to the wallet; null if they can. */
export function receivingFault(
  { wallet, account, isMissing, state, ...receiver }: TokenReceiver,
  { payer, mint, allowsPrograms, opensFrozen }: ReceivingTerms,
): ReceivingFault | null {
  if (wallet === payer) return 'sender'
  if (wallet === mint) return 'token_account'
  const fault = recipientFault(wallet, account, { allowsPrograms })
  if (fault !== null) return fault
  if (isMissing) return opensFrozen ? 'new_accounts_frozen' : null
  if (state === null || state.owner !== wallet || state.mint !== mint) return 'account_taken'
  if (state.state === 'frozen') return 'account_frozen'
  return receiver.requiresMemo ? 'memo_required' : null
}
