/** The guards of a vault, around the execution of its proposal, with the real programs. */

import * as spl from '@solana/spl-token'
import { createAssociatedTokenAccountIdempotentInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token'
import type { Keypair } from '@solana/web3.js'
import { ComputeBudgetProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../src/chain/connection.ts'
import { explainTransactionError } from '../../src/chain/errors/index.ts'
import { buildExecution, readProposal } from '../../src/chain/programs/squads/index.ts'
import { guardedTransaction } from '../../src/chain/sending/guarding.ts'
import { namesIn } from '../../src/chain/sending/transactions.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { LIGHTHOUSE } from '../../src/solana/programs/lighthouse.ts'
import { mintOf, SOL, V1_CONFIG } from '../support/local-chain.ts'
import { lacksGuards } from '../support/programs.ts'
import {
  addressOf,
  compiled,
  keyOf,
  lacksSquads,
  lookupTable,
  openSquads,
  type SquadsChain,
} from '../support/squads.ts'

const lacking = lacksSquads || (lacksGuards ? ' (needs Lighthouse in the program cache)' : '')
/** Rent of a token account, in lamports. */
const RENT = 1_488_440n

/** The vault pays 1 SOL to a receiver, and opens the receiver's token account if there is none. */
async function openPayment({ usesTable = false } = {}) {
  const scene = await openSquads()
  const { test, chain, svc, vault } = scene
  const receiver = test.wallet()
  const mint = await mintOf(test, svc, spl.TOKEN_PROGRAM_ID)
  const account = getAssociatedTokenAddressSync(mint, receiver.publicKey)
  const open = (payer: Keypair) =>
    createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, account, receiver.publicKey, mint)
  expect(test.send([open(svc)], [svc]).err).toBeNull()
  const instructions = [
    createAssociatedTokenAccountIdempotentInstruction(keyOf(vault), account, receiver.publicKey, mint),
    scene.pay(receiver.publicKey, SOL),
  ]
  const table = lookupTable({ chain }, [receiver.publicKey, account, mint, spl.TOKEN_PROGRAM_ID, keyOf(LIGHTHOUSE.id)])
  chain.advance(2)
  const { index } = await scene.propose(usesTable ? compiled(vault, instructions, table) : scene.wrapped(instructions))
  await scene.approved(index)
  /** The receiver closes the account, so that the vault would pay for a new one. */
  const close = () => {
    const closing = spl.createCloseAccountInstruction(account, svc.publicKey, receiver.publicKey)
    expect(test.send([closing], [receiver]).err).toBeNull()
  }
  const reopen = () => expect(test.send([open(svc)], [svc]).err).toBeNull()
  return { ...scene, index, receiver, close, reopen }
}

async function execution({ node, multisig, envelope, svc }: SquadsChain, index: bigint, version: 0 | 1) {
  const { transaction } = await readProposal(node, multisig, index)
  const limits =
    version === 1
      ? { messageConfig: V1_CONFIG }
      : { before: [ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 })] }
  return buildExecution({ ...transaction!, ...envelope(svc), ...limits, index, member: addressOf(svc) })
}

/** The execution with its guards, as the product adds them. */
async function guarded(scene: SquadsChain, built: { transaction: Uint8Array; requiredSigners: string[] }) {
  const chain = Object.assign(scene.node, { hasProgram: async () => true }) as unknown as Chain
  const wallets = [addressOf(scene.svc), scene.vault]
  const { transaction, guarding } = await guardedTransaction(chain, built.transaction, wallets)
  return { built: { ...built, transaction }, guarding }
}

describe.skipIf(lacking)(`the execution of a proposal ${lacking}`, () => {
  it.each([
    { version: 0, usesTable: false },
    { version: 0, usesTable: true },
    { version: 1, usesTable: false },
  ] as const)('takes no more from the vault than was simulated: %o', async ({ version, usesTable }) => {
    const scene = await openPayment({ usesTable })
    const { chain, vault, svc, index, node, multisig } = scene
    const plain = await execution(scene, index, version)
    const { built, guarding } = await guarded(scene, plain)
    expect(guarding).toMatchObject({ reason: null })
    expect(guarding.guards).toContainEqual({ kind: 'wallet', address: vault, change: -SOL })
    scene.close()
    const held = chain.account(vault)!.lamports
    const failed = scene.land(built, svc)
    expect(failed.err).not.toBeNull()
    expect(failed.logs.join('\n')).toContain('Result (Failed)')
    const names = namesIn(decodeWireTransaction(built.transaction).message)
    const { message, hint } = explainTransactionError(failed.err, { logs: failed.logs, ...names })
    expect(message).toMatch(/stopped it: 1\.\d+ SOL would have left, at most 1 SOL may$/)
    // Only the chain knows which address of the table the vault is.
    if (!usesTable) expect(message).toContain(`the guard of ${vault} `)
    expect(hint).toContain('the proposal stays approved and may still be executed')
    expect(chain.account(vault)!.lamports).toBe(held)
    expect((await readProposal(node, multisig, index)).proposal).toMatchObject({ status: 'approved' })
    // It may run later, once it takes what was simulated.
    scene.reopen()
    expect(scene.land(built, svc).err).toBeNull()
    expect(chain.account(vault)!.lamports).toBe(held - SOL)
  })

  it('takes more from the vault than was simulated if it has no guards', async () => {
    const scene = await openPayment()
    const plain = await execution(scene, scene.index, 0)
    scene.close()
    const held = scene.chain.account(scene.vault)!.lamports
    expect(scene.land(plain, scene.svc).err).toBeNull()
    expect(held - scene.chain.account(scene.vault)!.lamports).toBe(SOL + RENT)
  })

  it('lands also after another payment out of the vault', async () => {
    const scene = await openPayment()
    const { index, svc, vault, chain } = scene
    const { built } = await guarded(scene, await execution(scene, index, 0))
    const { index: other } = await scene.propose(scene.wrapped([scene.pay(scene.receiver.publicKey, 5n * SOL)]))
    await scene.approved(other)
    expect((await scene.execute(other)).err).toBeNull()
    const held = chain.account(vault)!.lamports
    expect(scene.land(built, svc).err).toBeNull()
    expect(held - chain.account(vault)!.lamports).toBe(SOL)
  })
})
