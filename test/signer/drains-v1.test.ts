/** Attempts to drain the platform wallet that version 1 alone makes possible: a fee in the message, limits of 0, 60 transfers. */
import { ComputeBudgetProgram, Keypair, SystemProgram } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../src/chain/connection.ts'
import { readMovement } from '../../src/chain/sending/movements.ts'
import { simulateDecoded } from '../../src/chain/sending/simulations.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { largestV1, signV1 } from '../support/version1.ts'
import { openScene, type Scene, SOL, text } from './movements-support.ts'

const FEE = 5_000n
const someone = () => Keypair.generate().publicKey
/** What a reader of version 0 takes for the fee of a message: as little, or as much, as can be. */
const decoys = (microLamports: bigint) => [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
]

/** The wallet's balance before less that after, once the transaction has landed. */
function paidFor(scene: Scene, transaction: Uint8Array, keys: Keypair[] = [scene.wallet]): bigint {
  const before = scene.lamportsOf(scene.key)
  const { err, logs } = scene.local.send(signV1(transaction, keys))
  expect(err, logs.join('\n')).toBeNull()
  return before - scene.lamportsOf(scene.key)
}

describe('the priority fee of a message of version 1', () => {
  it('is the one that the message states, whatever its instructions request', async () => {
    const scene = await openScene()
    for (const instructions of [[], decoys(0n), decoys(1n), decoys(5_000_000_000n)]) {
      const movement = await scene.readV1(instructions, { priorityFeeLamports: 5n * SOL })
      expect([movement.fee, movement.lamports_out]).toEqual([5n * SOL + FEE, 5n * SOL + FEE])
      expect(scene.ruleOf(movement)).toBe('fee')
    }
    // A price without effect costs nothing, and is not refused for what it would have cost.
    const harmless = scene.compileV1(decoys(5_000_000_000n))
    const movement = await scene.readBuilt({ transaction: harmless })
    expect([movement.fee, scene.ruleOf(movement)]).toEqual([FEE, null])
    expect(paidFor(scene, harmless)).toBe(FEE)
  })

  it('is allowed up to the limit of the policy, and counts as spent', async () => {
    const scene = await openScene()
    const max_fee_lamports = 2_000_000n
    const pay = scene.pay(scene.stranger.publicKey, SOL)
    const at = (priorityFeeLamports: bigint) => scene.compileV1([pay], { priorityFeeLamports })
    const [within, above] = [at(max_fee_lamports - FEE), at(max_fee_lamports - FEE + 1n)]
    const movement = await scene.readBuilt({ transaction: within })
    const told = (lamports_per_transaction: bigint) => ({ policy: { max_fee_lamports, lamports_per_transaction } })
    expect(scene.ruleOf(movement, told(SOL + max_fee_lamports))).toBeNull()
    expect(scene.ruleOf(movement, told(SOL + max_fee_lamports - 1n))).toBe('lamports_per_transaction')
    expect(scene.ruleOf(await scene.readBuilt({ transaction: above }), told(MAX_U64))).toBe('fee')
    expect(paidFor(scene, within)).toBe(movement.lamports_out)
  })

  it('cannot be hidden by a node that reports less, nothing, or more than a number holds', async () => {
    const scene = await openScene()
    const knowing = (value: unknown): Chain => ({
      ...scene.chain,
      call: async (method, params) =>
        method === 'getFeeForMessage'
          ? ({ context: { slot: 1 }, value } as never)
          : scene.chain.call(method, params as never),
    })
    for (const value of [5_000, 0, null, undefined, '5000', -1, 2 ** 60, Number.NaN]) {
      const transaction = decodeWireTransaction(scene.compileV1(decoys(0n), { priorityFeeLamports: 3n * SOL }))
      const movement = await readMovement(knowing(value), transaction, scene.address)
      expect([movement.fee, scene.ruleOf(movement)]).toEqual([3n * SOL + FEE, 'fee'])
    }
    const transaction = decodeWireTransaction(scene.compileV1([], { priorityFeeLamports: 1n }))
    expect((await readMovement(knowing(7_000), transaction, scene.address)).fee).toBe(7_000n)
  })

  it('is counted to the last lamport, even if the wallet could never pay it', async () => {
    const scene = await openScene()
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 100n * SOL, max: MAX_U64 }), async (priorityFeeLamports) => {
        const movement = await scene.readV1([], { priorityFeeLamports })
        expect([movement.fee, scene.ruleOf(movement)]).toEqual([priorityFeeLamports + FEE, 'simulation'])
      }),
      { numRuns: 20, examples: [[MAX_U64], [2n ** 53n], [2n ** 63n]] },
    )
  })

  it('is not the wallet’s if another wallet pays', async () => {
    const scene = await openScene()
    const { stranger } = scene
    const instructions = [SystemProgram.transfer({ fromPubkey: scene.key, toPubkey: scene.key, lamports: 1 })]
    const movement = await scene.readV1(instructions, { priorityFeeLamports: 3n * SOL }, stranger)
    expect([movement.fee, movement.lamports_out]).toEqual([0n, 0n])
    expect(scene.ruleOf(movement, { role: 'cosigns' })).toBeNull()
  })

  it('is reported by a simulation as the chain then charges it', async () => {
    const scene = await openScene()
    const transaction = scene.compileV1(decoys(1n), { priorityFeeLamports: 7_777n })
    const { err, fee, balance_changes } = await simulateDecoded(scene.chain, decodeWireTransaction(transaction))
    expect([err, fee]).toEqual([null, '12777'])
    expect(balance_changes).toMatchObject([{ address: scene.address, change: '-12777' }])
    expect(paidFor(scene, transaction)).toBe(12_777n)
  })
})

describe('a message of version 1', () => {
  it('without its own limits runs nothing, and is refused, although a leader would charge for it', async () => {
    const scene = await openScene()
    const pay = [scene.pay(scene.stranger.publicKey, 1n)]
    for (const unset of [{ computeUnitLimit: null }, { computeUnitLimit: 0 }, { loadedAccountsDataSizeLimit: 1 }]) {
      const movement = await scene.readV1([...decoys(0n), ...pay], unset)
      expect([movement.err === null, scene.ruleOf(movement)]).toEqual([false, 'simulation'])
    }
  })

  it('has all of its sixty receivers checked', async () => {
    const scene = await openScene()
    const receivers = Array.from({ length: 60 }, someone)
    const lamports = SOL / 100n
    const transaction = scene.compileV1(receivers.map((to) => scene.pay(to, lamports)))
    expect(transaction.length).toBeGreaterThan(2_500)
    const movement = await scene.readBuilt({ transaction })
    expect(movement.destinations.map(({ address, amount }) => [address, amount])).toEqual(
      receivers.map((to) => [text(to), lamports]),
    )
    const out = 60n * lamports + FEE
    expect([movement.lamports_out, movement.lamports_to_others]).toEqual([out, 60n * lamports])
    const listed = { destinations: receivers.slice(0, -1).map(text) }
    expect(scene.ruleOf(movement, { policy: listed })).toBe('destination')
    expect(scene.ruleOf(movement, { policy: { lamports_per_transaction: out - 1n } })).toBe('lamports_per_transaction')
    expect(scene.ruleOf(movement, { policy: { lamports_per_transaction: out } })).toBeNull()
    expect(paidFor(scene, transaction)).toBe(out)
  })

  it('is read up to its last byte of 4,096', async () => {
    const scene = await openScene()
    const { blockhash } = scene.local.latestBlockhash()
    const transaction = largestV1({ payer: scene.key, blockhash })
    expect(transaction.length).toBe(4_096)
    const movement = await scene.readBuilt({ transaction })
    expect(movement.programs).toHaveLength(61)
    expect(movement.destinations).toHaveLength(60)
  })
})
