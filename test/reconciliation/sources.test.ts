/** What cannot be searched for accounts to follow stops no account that is followed already. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/chain/nodes/node-call.ts'
import { reconcile } from '../../src/following/reconciliation/rounds.ts'
import { PROJECTIONS } from '../../src/operations/projections.ts'
import { followAccounts } from '../../src/store/following/followed-accounts.ts'
import { addressOf, lacksCore } from '../support/assets.ts'
import { onLyingNode } from './lying-node.ts'

describe.skipIf(lacksCore)('a search for accounts that fails (needs Metaplex Core)', () => {
  it('is repeated a minute later, and stops neither other searches nor the round', async () => {
    const { lying, mint, rounds, told, services, genesis, accountOf } = await onLyingNode()
    const made = mint()
    const pools = Array.from({ length: 2 }, () => addressOf(Keypair.generate()))
    const sources = pools.map((address) => ({ address, kind: 'damm_v2', watch: 'source' }) as const)
    const now = services.clock.now()
    await services.store.write((tx) => followAccounts(tx, sources, { genesis, from: 0, now }))
    let searches = 0
    lying.call = (method, _, answer) => {
      if (method !== 'getProgramAccounts') return answer
      searches++
      return new NodeRefusal(-32010, 'excluded from account secondary indexes', undefined)
    }
    await rounds(10)
    expect([searches, await told(made)]).toEqual([2, ['nft.created']])
    for (const pool of pools) expect((await accountOf(pool)).next_look_at).toBe(services.clock.now() + 60_000)
  })

  it('of one projection is reported by the round after all other work', async () => {
    const { acts, mint, told, services } = await onLyingNode()
    const made = mint()
    acts.pass(10)
    const accountsToFollow = () => Promise.reject(new Error('no such search'))
    const [first, ...others] = PROJECTIONS
    const projections = [{ ...first!, accountsToFollow }, ...others]
    const round = reconcile({ ...services, projections }, { calls: 500, callsPerMinute: 300 })
    await expect(round).rejects.toThrow('no such search')
    expect(await told(made)).toEqual(['nft.created'])
  })
})
