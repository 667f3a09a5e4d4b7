/**
 * Builds a wallet's claim for which another wallet pays fee and rent. Apart from the tokens, the claimer's wallet does
 * not change.
 */

import { TOKEN_ACCOUNT_SIZE } from '../../../solana/token-accounts.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import type { MaybeAccount } from '../../reads/node-reads.ts'
import { rentFor } from '../../reads/rpc-reads.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { transferInstruction } from '../sol-transfers.ts'
import { claimInstructions, type DistributorClaim } from './claim.ts'
import { CLAIM_STATUS_BYTES } from './state.ts'

export interface SponsoredDistributorClaim extends DistributorClaim {
  claimer: string
  /** Lamports that the claimer lacks for the rent of its claim status, which the program takes from its wallet. */
  lent: bigint
}

/** The payer signs in addition to the claimer, whose lamports are the same afterwards. */
export async function buildSponsoredClaim(input: SponsoredDistributorClaim): Promise<UnsignedTransaction> {
  const { payer, claimer, lent } = input
  const loan = lent === 0n ? [] : [await transferInstruction(payer, claimer, lent)]
  return compileUnsigned(input, [...loan, ...(await claimInstructions(input, claimer))])
}

/** Returns the lamports that a claim status, and a token account if it is opened, lack for their rent. */
export async function claimRents(
  node: NodeCalls,
  { status, tokens }: { status: MaybeAccount; tokens: MaybeAccount | undefined },
): Promise<{ lent: bigint; accountRent: bigint }> {
  const [statusRent, accountRent] = await Promise.all([
    rentFor(node, CLAIM_STATUS_BYTES),
    tokens === undefined ? 0n : rentFor(node, TOKEN_ACCOUNT_SIZE),
  ])
  return { lent: lacking(statusRent, status), accountRent: lacking(accountRent, tokens ?? null) }
}

/** Anyone can send lamports to an address before its account exists, and the programs take only the missing part. */
function lacking(rent: bigint, account: MaybeAccount): bigint {
  const held = account?.lamports ?? 0n
  return held < rent ? rent - held : 0n
}
