/** Raises whose creator is the vault of a multisig: proposed, approved and executed, on the real programs. */
import { describe, expect, it } from 'vitest'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { lacksPresale, raisesOn } from '../support/new-raises.ts'
import { POOL, type SettledRaises, settlementsOn } from '../support/settled-raises.ts'
import { keyOf } from '../support/squads.ts'
import { lacksTreasury, sharedTreasury, type Treasury } from '../support/treasury.ts'
import { SOL } from '../support/wallets.ts'

const lacks = lacksPresale || lacksTreasury || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')

describe.skipIf(lacks !== '')(`a raise of a vault ${lacks}`, () => {
  let at: Treasury
  let raises: SettledRaises
  sharedTreasury(async (opened) => {
    at = opened
    raises = await settlementsOn(await raisesOn(at.service))
    await raises.giveTo(at.vault, BigInt(POOL.reserve))
  })

  const settle = async (id: string, more: object = {}) => {
    const body = { payer: at.vault, approver: at.approver(), ...more }
    const data = await at.post(`/v2/raises/${id}/settlements`, body)
    at.put(data.proposal, at.a)
    await at.follow()
    await at.carryOut(data.proposal.id)
    return data
  }

  it('is settled by one proposal, whose execution opens the pool with a key of the program', async () => {
    const { id, preview } = await raises.create({ pool: POOL, creator_vault: { multisig: at.multisig } })
    raises.buy(id, 5n * SOL)
    raises.end(id)
    const data = await settle(id)
    expect(data).toMatchObject({
      acts: ['withdraw', 'open_pool', 'lock_liquidity', 'close_price'],
      left: [],
      pool_quote: preview.best.pool_quote,
    })
    const wrapped = raises.wrapped(keyOf(at.vault))
    expect(wrapped).toBe(BigInt(preview.best.creator_gets))
    const pool = await raises.pool(at.vault)
    expect(pool!.locked).toBe(pool!.position!.liquidity)
    const again = await at.ask('POST', `/v2/raises/${id}/settlements`, { payer: at.vault, approver: at.approver() })
    expect(again.error.message).toContain('is settled')
  })
})
