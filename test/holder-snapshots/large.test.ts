/** Snapshots of 50,000 holders: the same bytes each time, within seconds, while other requests go on. */
import { describe, expect, it } from 'vitest'
import { keyOf, namedOwners, putHolders } from '../support/holders.ts'
import { startService } from '../support/service.ts'

const HOLDERS = 50_000

describe('a snapshot of 50,000 holders', () => {
  it('taken twice has the same bytes, and others are answered while it is read', { timeout: 120_000 }, async () => {
    const service = await startService()
    const chain = await service.services.chain.local()
    const mint = keyOf('large mint')
    const t0 = performance.now()
    const owners = namedOwners('holder', HOLDERS)
    console.log('owners', performance.now() - t0)
    await putHolders(chain, { mint, holders: owners.map((owner, n) => ({ owner, amount: BigInt(n * n + 1) })) })
    console.log('put', performance.now() - t0)
    const taken = []
    for (let n = 0; n < 2; n++) {
      const at = performance.now()
      let last = performance.now(),
        most = 0
      const timer = setInterval(() => {
        const now = performance.now()
        most = Math.max(most, now - last)
        last = now
      }, 1)
      const { json, text, status } = await service.request('POST', '/v2/holder-snapshots', { body: { mint } })
      clearInterval(timer)
      console.log('took', performance.now() - at, 'longest', most)
      expect(status, text).toBe(201)
      taken.push(json.data)
    }
    console.log(taken[0])
    expect(taken[1].holders_sha256).toBe(taken[0].holders_sha256)
  })
})
