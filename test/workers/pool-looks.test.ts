/** Pools are looked at in every round of the worker, also while a node is slow. */
import { Keypair } from '@solana/web3.js'
import { expect, it } from 'vitest'
import { poolMigrationWorker } from '../../daemon/workers/workers.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { insertPool } from '../../src/store/resources/pools.ts'
import { mapped } from '../support/mapped.ts'
import { startService } from '../support/service.ts'

it('a look that is due is not skipped, if the round before took three seconds', async () => {
  const { services, clock } = await startService()
  const { store, chain } = services
  const [address, base_mint, quote_mint] = mapped([0, 1, 2], () => Keypair.generate().publicKey.toBase58())
  const none = { creator: null, config: null, name: null, symbol: null, metadata_uri: null, preset: null }
  const more = { migrated_to: null, dbc_pool: null, crank_signing: null, crank_signature: null }
  const times = { next_check_at: clock.now(), created_at: clock.now(), external_uid: null, metadata_json: null }
  const row = { address, type: 'dbc' as const, base_mint, quote_mint, status: 'live' as const, ...none, ...more }
  const genesis = await chain.genesisHash()
  await store.write((tx) => insertPool(tx, { ...row, ...times, genesis }))
  let looks = 0
  const call = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    if (method !== 'getMultipleAccounts') return chain.call(method, params)
    looks++
    clock.advance(3_000)
    return chain.call(method, params)
  }
  const { everyMs } = poolMigrationWorker.schedule
  const begin = clock.now()
  for (let round = 0; round < 4; round++) {
    clock.advance(begin + round * everyMs - clock.now())
    const before = looks
    await followPools({ ...services, chain: { ...chain, call } })
    expect(looks, `round ${round}`).toBeGreaterThan(before)
  }
})
