/** A node that lists 10,000 holders, which a service reads without a stall. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHolderNode } from '../support/holder-node.ts'
import { keyOf, namedOwners } from '../support/holders.ts'
import { startService } from '../support/service.ts'

const MINT = keyOf('a mint elsewhere')

describe('a node that lists holders', () => {
  it('of a large mint is read twice with the same result, and does not block the event loop', {
    timeout: 120_000,
  }, async () => {
    const node = await openHolderNode(MINT)
    onTestFinished(() => node.close())
    const service = await startService({ settings: { url: node.url } })
    const take = async (body: object) => {
      const { json } = await service.request('POST', '/v2/holder-snapshots', { body: { mint: MINT, ...body } })
      return { data: json.data, message: json.error?.message as string | undefined }
    }
    const owners = namedOwners('many', 10_000)
    const accounts = owners.map((owner, n) => ({
      pubkey: keyOf(`account ${n}`),
      mint: MINT,
      owner,
      amount: BigInt(n) ** 3n + 1n,
    }))
    node.supply = accounts.reduce((sum, { amount }) => sum + amount, 0n)
    const hashes: string[] = []
    const turns: number[] = []
    for (const order of [accounts, accounts.toReversed()]) {
      node.accounts = order
      node.slot++
      let turned = 0
      const timer = setInterval(() => turned++, 1)
      const { data, message } = await take({ owners: 'off_curve' })
      clearInterval(timer)
      expect(message).toBeUndefined()
      expect(data).toMatchObject({ holders: 10_000, slot: node.slot, pieces: 2 })
      hashes.push(data.holders_sha256)
      turns.push(turned)
    }
    expect(hashes[1]).toBe(hashes[0])
    // Each turn of its work takes 8 ms; without them the loop would turn as often as the node is asked.
    expect(Math.min(...turns)).toBeGreaterThan(20)
  })
})
