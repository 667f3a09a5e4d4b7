/** A tree from the file of Jito's distributor, stored, funded and claimed on the real program under the file's own root. */
import { base58 } from '@scure/base'
import type { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { entryAt } from '../../src/merkle/entry-list.ts'
import { readTreeFile } from '../../src/merkle/tree-files/read-tree-file.ts'
import { checkTreeFile } from '../../src/merkle/tree-files/tree-file.ts'
import { naiveLevels, naiveProof, naiveRoot } from '../merkle/reference.ts'
import { addressOf, airdropsOn, claimBody, createBody, DAY_S, lacksDistributor } from '../support/airdrops.ts'
import { startService } from '../support/service.ts'

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString()
const bytesOf = (hex: string) => [...Buffer.from(hex, 'hex')]

describe.skipIf(lacksDistributor)('an imported tree (needs the Jito merkle distributor)', () => {
  it('is claimed with the amounts and proofs of its file, vested ones too', async () => {
    const all = await airdropsOn(await startService())
    const { ok, submit, settle, pass, chain, tokensOf, wallet } = all
    const payer = wallet()
    const mint = all.mintFor(payer, 2n ** 63n)
    const owners = Array.from({ length: 5 }, () => wallet())
    const leaves = owners.map((owner, n) => ({
      wallet: addressOf(owner),
      amount: BigInt(10 + n),
      locked: BigInt(n) * 100n,
    }))
    const levels = naiveLevels(leaves)
    const file = {
      merkle_root: bytesOf(naiveRoot(leaves)),
      max_num_nodes: 5,
      max_total_claim: 60 + 1000,
      tree_nodes: leaves.map((leaf, n) => ({
        claimant: [...base58.decode(leaf.wallet)],
        proof: naiveProof(levels, n).map(bytesOf),
        total_unlocked_staker: 1,
        total_locked_staker: 0,
        total_unlocked_searcher: 2,
        total_locked_searcher: 0,
        total_unlocked_validator: Number(leaf.amount) - 3,
        total_locked_validator: Number(leaf.locked),
      })),
    }
    const read = readTreeFile(Buffer.from(JSON.stringify(file)))
    expect(checkTreeFile(read).faults).toEqual([])
    const entries = leaves.map((_, i) => {
      const { wallet, amount, locked } = entryAt(read.list, i)
      return { wallet, amount: String(amount), amount_locked: String(locked) }
    })
    const tree = await all.storeTree(mint, entries)
    expect(tree.root).toBe(naiveRoot(leaves))

    const start = chain.unixTimestamp() + 600
    const times = { starts_at: isoOf(start), ends_at: isoOf(start + DAY_S) }
    await submit(await ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root, times)), payer)
    expect(await ok('GET', `/v2/airdrops/${tree.id}`)).toMatchObject({
      on_chain_root: tree.root,
      vault_balance: '1060',
    })
    const claim = async (owner: Keypair) => {
      await submit(await ok('POST', `/v2/airdrops/${tree.id}/claims`, claimBody(owner)), owner)
      await settle({ worker: true })
    }
    for (const owner of owners) await claim(owner)
    expect(owners.map((owner) => tokensOf(mint, owner))).toEqual([10n, 11n, 12n, 13n, 14n])
    pass(600 + DAY_S)
    for (const owner of owners.slice(1)) await claim(owner)
    expect(owners.map((owner) => tokensOf(mint, owner))).toEqual([10n, 111n, 212n, 313n, 414n])
    await settle({ worker: true })
    expect(await ok('GET', `/v2/airdrops/${tree.id}`)).toMatchObject({
      status: 'fully_claimed',
      claimed_amount: '1060',
    })
  })
})
