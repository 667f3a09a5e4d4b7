/** Trees and requests of the largest size: 50,000 wallets. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildFromRequest, readTreeRequest } from '../../src/merkle/built-tree.ts'
import { listFromEntries, walletAt } from '../../src/merkle/entry-list.ts'
import { issueLine, MerkleInputError } from '../../src/merkle/errors.ts'
import { createTreePool } from '../../src/merkle/pool.ts'
import { blobsOf, encodeTree, lookUpProof, openHead } from '../../src/merkle/stored-tree.ts'
import { buildTree, verifyProof } from '../../src/merkle/tree.ts'
import { recipientsOf, walletOf } from '../merkle/reference.ts'

describe('a stored tree', () => {
  it('at 50,000 leaves is 393 blobs of 76 bytes a leaf and a small head', async () => {
    const tree = buildTree(listFromEntries(recipientsOf(50_000)))
    const blobs = new Map(
      [...blobsOf(encodeTree(tree))].map(({ kind, n, bytes }) => [`${kind} ${n}` as string, bytes] as const),
    )
    const read = (kind: string, n: number) => blobs.get(`${kind} ${n}`)
    expect(blobs.size).toBe(1 + 196 + 196)
    expect(read('head', 0)!.length).toBeLessThan(24_000)
    expect([...blobs.values()].reduce((sum, { length }) => sum + length, 0)).toBe(50_000 * 76 + read('head', 0)!.length)
    const head = openHead(read('head', 0)!, tree.root)
    for (const index of [0, 255, 256, 31_337, 49_999]) {
      const wallet = walletAt(tree.list, index)
      const found = await lookUpProof(head, wallet, read)
      expect(verifyProof(wallet, found!.amount, found!.proof, tree.root)).toBe(true)
    }
  })
})

describe('a tree request', () => {
  it('accepts 50,000 entries and no more', () => {
    const entries = Array.from({ length: 50_001 }, (_, i) => ({ wallet: walletOf(i), amount: '1' }))
    try {
      readTreeRequest(Buffer.from(JSON.stringify({ entries })))
      expect.unreachable()
    } catch (error) {
      if (!(error instanceof MerkleInputError)) throw error
      expect(error.issues.map(issueLine)).toEqual(['entries: must hold 1 to 50000 entries, has 50001'])
    }
    expect(readTreeRequest(Buffer.from(JSON.stringify({ entries: entries.slice(1) }))).list.count).toBe(50_000)
  })
})

describe('the tree worker', () => {
  it('does not block the event loop while it builds', async () => {
    const pool = createTreePool()
    onTestFinished(() => pool.close())
    const entries = recipientsOf(50_000).map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
    const bodyOf = (count = entries.length) =>
      new TextEncoder().encode(JSON.stringify({ mint: walletOf(0), entries: entries.slice(0, count) }))
    await pool.buildFromRequest(bodyOf(100))
    let turns = 0
    const turning = setInterval(() => turns++, 1)
    const built = await pool.buildFromRequest(bodyOf())
    clearInterval(turning)
    expect(built.root).toBe(buildFromRequest(bodyOf()).root)
    // Building in the same thread leaves none.
    expect(turns).toBeGreaterThan(2)
  })
})
