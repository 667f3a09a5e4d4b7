/** Reads which DAMM v2 pools a transaction creates, trades in and claims from, by its own instructions. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'

export type DammV2Change =
  | { kind: 'pool_created'; pool: string; creator: string; tokenAMint: string; tokenBMint: string; position: string }
  | { kind: 'swap'; pool: string; trader: string; amountIn: bigint | null }
  /** The owner of the position signs, or its delegate. `nftAccount` is the token account of the position's NFT. */
  | { kind: 'claim'; pool: string; position: string; nftAccount: string; owner: string }

/** A change whose accounts may be missing. */
type Reading<C = DammV2Change> = C extends unknown ? { [F in keyof C]: C[F] | undefined } : never

/** Mode of swap2 in which the first amount is the output. */
const EXACT_OUT = 2

/**
 * Returns changes in the order of the instructions, whether or not the transaction succeeds. Calls between programs, as
 * in a migration to DAMM v2, and accounts from lookup tables are not included.
 */
export const dammV2ChangesIn = (message: DecodedMessage): DammV2Change[] =>
  DAMM_V2.callsIn(message).flatMap((call): DammV2Change[] => {
    const change = changeOf(call)
    return change === null || Object.values(change).includes(undefined) ? [] : [change as DammV2Change]
  })

function changeOf({ name, accounts, known }: ReturnType<typeof DAMM_V2.callsIn>[number]): Reading | null {
  switch (name) {
    case 'initialize_customizable_pool':
    case 'initialize_pool':
    case 'initialize_pool_with_dynamic_config': {
      const { creator, pool, position, token_a_mint: tokenAMint, token_b_mint: tokenBMint } = accounts
      return { kind: 'pool_created', creator, pool, position, tokenAMint, tokenBMint }
    }
    case 'swap':
      return { kind: 'swap', pool: accounts.pool, trader: accounts.payer, amountIn: known.amount_in ?? null }
    case 'swap2': {
      // The amount is unknown if the order fixes the output instead.
      const amountIn = known.swap_mode === EXACT_OUT ? null : (known.amount_0 ?? null)
      return { kind: 'swap', pool: accounts.pool, trader: accounts.payer, amountIn }
    }
    case 'claim_position_fee': {
      const { pool, position, position_nft_account: nftAccount, signer: owner } = accounts
      return { kind: 'claim', pool, position, nftAccount, owner }
    }
    default:
      return null
  }
}
