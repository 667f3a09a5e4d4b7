/** Transactions that cannot be read, and nodes that do not know them, stop neither a round nor a verification. */
import { describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/chain/nodes/node-call.ts'
import { verifyAccounts } from '../../src/following/reconciliation/verification.ts'
import { PROJECTIONS } from '../../src/operations/projections.ts'
import { encodeBase58 } from '../../src/solana/long-base58.ts'
import { lacksCore } from '../support/assets.ts'
import { inSoak } from '../support/runs.ts'
import { about, type Lie, onLyingNode } from './lying-node.ts'

describe.skipIf(lacksCore)('a transaction found on the chain (needs Metaplex Core)', () => {
  it('is read with the longest data that one program can pass to another', async () => {
    const { lying, mint, rounds, told } = await onLyingNode()
    const made = mint()
    lying.call = about(made.signature, (answer) => {
      const { meta } = answer as { meta: { innerInstructions: { index: number; instructions: object[] }[] } }
      const data = encodeBase58(new Uint8Array(10_240).fill(255))
      const call = { programIdIndex: 0, accounts: [0], data, stackHeight: 2 }
      const inner = [...meta.innerInstructions, { index: 0, instructions: [call] }]
      return { ...(answer as object), meta: { ...meta, innerInstructions: inner } }
    })
    await rounds(10, 2)
    expect(await told(made)).toEqual(['nft.created'])
  })

  it.each([
    ['that the node refuses', () => new NodeRefusal(-32015, 'Transaction version (9) is not supported', undefined)],
    ['that cannot be decoded', (answer: unknown) => ({ ...(answer as object), transaction: ['AAAA', 'base64'] })],
    ['whose inner data is not base58', (answer: unknown) => withData(answer, '0'.repeat(5_000))],
  ])('%s delays no other, and is reported once it can be read', async (_, lie) => {
    const { lying, mint, rounds, told, stateOf } = await onLyingNode()
    const [torn, whole] = [mint(), mint()]
    lying.call = about(torn.signature, lie)
    await rounds(10, 3)
    expect([await told(torn), await told(whole)]).toEqual([[], ['nft.created']])
    const before = (await stateOf(torn))!
    await rounds(65)
    const after = (await stateOf(torn))!
    expect([before.tries, after.tries]).toEqual([1, 2])
    lying.call = (_, __, answer) => answer
    await rounds(125)
    expect(await told(torn)).toEqual(['nft.created'])
  })

  it('is not at fault if the node answers nothing; the round reports the node', async () => {
    const { lying, mint, rounds, told } = await onLyingNode()
    const made = Array.from({ length: 3 }, mint)
    lying.call = (method, _, answer) => (method === 'getTransaction' ? new Error('it answers HTTP 502') : answer)
    await expect(rounds(10, 2)).rejects.toThrow('HTTP 502')
    lying.call = (_, __, answer) => answer
    await rounds(65, 2)
    expect(await Promise.all(made.map(told))).toEqual(made.map(() => ['nft.created']))
  })

  it('is named by the verification if it cannot be read, beside missing events', async () => {
    const { lying, services, mint } = await onLyingNode()
    const [torn, whole] = [mint(), mint()]
    lying.call = about(torn.signature, () => new NodeRefusal(-32015, 'not supported', undefined))
    const range = { since: 0, until: 99_999_999_999_000 }
    const from = { account: 0, before: null }
    const found = await verifyAccounts({ ...services, projections: PROJECTIONS }, range, { from, calls: 500 })
    expect(found.unread).toEqual([{ signature: torn.signature, slot: expect.any(Number) }])
    expect(found.missing).toMatchObject([{ type: 'nft.created', resource_id: whole.asset }])
    lying.call = (method, _, answer) => (method === 'getTransaction' ? new Error('it answers HTTP 502') : answer)
    await expect(
      verifyAccounts({ ...services, projections: PROJECTIONS }, range, { from, calls: 500 }),
    ).rejects.toThrow('HTTP 502')
  })
})

function withData(answer: unknown, data: string): unknown {
  const { meta } = answer as { meta: object }
  const call = { programIdIndex: 0, accounts: [0], data, stackHeight: 2 }
  return { ...(answer as object), meta: { ...meta, innerInstructions: [{ index: 0, instructions: [call] }] } }
}

/** A minute and a half: slots that only a dropped transaction is not known in. */
const LATER = 90

describe.skipIf(lacksCore)('the fate of a found transaction (needs Metaplex Core)', () => {
  const unknown: Lie = (method, _, answer) => {
    if (method !== 'getSignatureStatuses') return answer
    const { value } = answer as { value: unknown[] }
    return { ...(answer as object), value: value.map(() => null) }
  }

  it.skipIf(!inSoak)(
    'is not "gone" while one node does not know it, or none has enough history',
    { tags: 'sampled' },
    async () => {
      const { lying, mint, rounds, stateOf } = await onLyingNode()
      const made = mint()
      await rounds(30)
      expect(await stateOf(made)).toMatchObject({ state: 'read' })
      lying.call = unknown
      await rounds(LATER, 2)
      expect(await stateOf(made)).toMatchObject({ state: 'read' })
      lying.witnesses = (method, params, answer) =>
        method === 'getFirstAvailableBlock' ? Number.MAX_SAFE_INTEGER : unknown(method, params, answer)
      await rounds(LATER, 2)
      expect(await stateOf(made)).toMatchObject({ state: 'read' })
      lying.witnesses = unknown
      await rounds(LATER, 2)
      expect(await stateOf(made)).toMatchObject({ state: 'dropped', next_check_at: null })
    },
  )

  it.skipIf(!inSoak)('is "failed" if it has failed on the final fork', { tags: 'sampled' }, async () => {
    const { lying, mint, rounds, stateOf } = await onLyingNode()
    const made = mint()
    await rounds(30)
    expect(await stateOf(made)).toMatchObject({ state: 'read' })
    lying.call = (method, _, answer) => {
      if (method !== 'getSignatureStatuses') return answer
      const { value } = answer as { value: object[] }
      const err = { InstructionError: [0, 'Custom'] }
      return { ...(answer as object), value: value.map((each) => each && { ...each, err, status: { Err: err } }) }
    }
    await rounds(LATER)
    expect(await stateOf(made)).toMatchObject({ state: 'dropped', next_check_at: null })
  })

  it.skipIf(!inSoak)(
    'is checked less and less often while no node answers, until all prove it gone',
    { tags: 'sampled' },
    async () => {
      const { lying, mint, rounds, stateOf } = await onLyingNode()
      const made = mint()
      let asked = 0
      lying.call = about(made.signature, () => {
        asked++
        return null
      })
      await rounds(5, 40)
      expect(asked).toBeLessThanOrEqual(7)
      expect(await stateOf(made)).toMatchObject({ state: 'waiting' })
      lying.witnesses = unknown
      await rounds(400)
      expect(await stateOf(made)).toMatchObject({ state: 'dropped', next_check_at: null })
    },
  )
})
