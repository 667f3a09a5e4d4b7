/** What a schedule claims is worth its cost, and opens no account for others. */
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../src/chain/connection.ts'
import type { PlannedFeeClaim } from '../../src/operations/fee-claims/types.ts'
import { requireWorth } from '../../src/operations/fee-schedules/claim-share.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'

const FEE = 5_000n
/** What the node answers. */
const RENT = 1_000_003
const [wallet, other] = [1, 2].map((n) => new PublicKey(n).toBase58()) as [string, string]
const chain = { call: async () => RENT } as unknown as Chain
const message = new TransactionMessage({
  payerKey: Keypair.generate().publicKey,
  recentBlockhash: PublicKey.default.toBase58(),
  instructions: [],
}).compileToV0Message()
const transaction = new VersionedTransaction(message).serialize()

const reasonOf = async (plan: Partial<PlannedFeeClaim['plan']>, opens?: string[]) => {
  const base = { kind: 'dbc', claimer: wallet, quote_mint: WRAPPED_SOL, ...plan }
  const planned = { built: { transaction }, plan: base, ...(opens === undefined ? {} : { opens }) }
  return requireWorth(chain, planned as unknown as PlannedFeeClaim).then(
    () => null,
    ({ details, message }) => details?.reason ?? message,
  )
}

describe('a claim by a schedule', () => {
  it('is made if it pays more than the fee and the rent of accounts that stay open', async () => {
    expect(await reasonOf({ estimated_quote: String(FEE) })).toBe('below_cost')
    expect(await reasonOf({ estimated_quote: String(FEE + 1n) })).toBe(null)
    const both = FEE + BigInt(RENT)
    expect(await reasonOf({ estimated_quote: String(both) }, [wallet])).toBe('below_cost')
    expect(await reasonOf({ estimated_quote: String(both + 1n) }, [wallet])).toBe(null)
    expect(await reasonOf({ estimated_base: '1000000' }, [wallet])).toBe('below_cost')
  })

  it('of a creation fee is valued in its lamports; one in tokens or another quote has no value', async () => {
    const fee = { kind: 'pool_creation_fee' as const, quote_mint: other }
    expect(await reasonOf({ ...fee, estimated_lamports: String(FEE) })).toBe('below_cost')
    expect(await reasonOf({ ...fee, estimated_lamports: String(FEE + 1n) })).toBe(null)
    expect(await reasonOf({ quote_mint: other, estimated_quote: '1' }, [wallet])).toBe(null)
    for (const kind of ['leftover', 'vesting'] as const)
      expect(await reasonOf({ kind, estimated_base: '1' })).toBe(null)
  })

  it('that would open a recipient’s account names it, and is not made', async () => {
    const reason = await reasonOf({ quote_mint: other, estimated_quote: '1000000000' }, [other, wallet])
    expect(reason).toContain(`splits: ${other} has no token account`)
  })

  it('of a delegate opens no account of the owner, who could close it for its rent again and again', async () => {
    const plan = { kind: 'damm_v2' as const, claimer: other, delegate: wallet, estimated_quote: '1000000000' }
    expect(await reasonOf(plan, [other])).toContain(`${other} must open it`)
    expect(await reasonOf(plan)).toBe(null)
  })
})
