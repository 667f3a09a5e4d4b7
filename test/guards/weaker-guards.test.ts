/** A policy that requires guards signs no build whose guards hold less than what it has judged. */
import * as spl from '@solana/spl-token'
import { Keypair, NONCE_ACCOUNT_LENGTH, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { guardedTransaction } from '../../src/chain/sending/guarding.ts'
import { type Guard, withGuards } from '../../src/solana/guards.ts'
import { ata, createAta, openScene, type Scene, SOL, TOKEN_2022_PROGRAM_ID, wrap } from '../signer/movements-support.ts'
import { lacksGuards } from '../support/programs.ts'
import { someAddress } from '../support/wallets.ts'

const REQUIRED = { policy: { guards: 'required' } } as const

/** Each guard without it, with one unit more, and with another control. */
function weakened(guards: readonly Guard[]): Map<string, Guard[]> {
  const found = new Map<string, Guard[]>()
  for (const [i, guard] of guards.entries()) {
    const { kind, address, change } = guard
    const name = (what: string) => `${kind} ${address}: ${what}`
    found.set(name('is missing'), guards.toSpliced(i, 1))
    if (change !== null) found.set(name('lets a unit more go'), guards.with(i, { ...guard, change: change - 1n }))
    if (guard.kind === 'wallet') continue
    if (change !== null) found.set(name('only holds what it opens'), guards.with(i, { ...guard, change: null }))
    if (guard.least > 0n) found.set(name('opens it with less'), guards.with(i, { ...guard, least: guard.least - 1n }))
    found.set(name('has a delegate'), guards.with(i, { ...guard, delegate: someAddress() }))
    const { delegate, delegated } = guard
    if (delegate !== null)
      found.set(name('lets a unit more be taken'), guards.with(i, { ...guard, delegated: delegated + 1n }))
    if (guard.mint !== null) found.set(name('may be of any mint'), guards.with(i, { ...guard, mint: null }))
    found.set(name('may be closed'), guards.with(i, { ...guard, closeAuthority: someAddress() }))
    found.set(name('has another owner'), guards.with(i, { ...guard, owner: someAddress() }))
    found.set(name('is frozen'), guards.with(i, { ...guard, isFrozen: true }))
  }
  return found
}

type Act = (scene: Scene) => TransactionInstruction[] | Promise<TransactionInstruction[]>

const ACTS: Record<string, Act> = {
  'pays, sends and opens an account': (scene) => {
    const { mint, held } = scene.mint()
    const receiver = Keypair.generate().publicKey
    return [
      scene.pay(scene.stranger.publicKey, SOL),
      createAta(scene.key, mint, receiver),
      spl.createTransferInstruction(held, ata(mint, receiver), scene.key, 7n),
    ]
  },
  'fills an account of Token-2022 and sends': (scene) => {
    const { mint, held } = scene.mint()
    const { mint: other } = scene.mint(TOKEN_2022_PROGRAM_ID, 0n)
    const account = ata(other, scene.key, TOKEN_2022_PROGRAM_ID)
    return [
      spl.createMintToInstruction(other, account, scene.key, 5n, [], TOKEN_2022_PROGRAM_ID),
      spl.createTransferInstruction(held, scene.accountOf(scene.stranger, mint), scene.key, 1n),
    ]
  },
  'wraps into an account that stays': (scene) => {
    scene.wrapped(SOL)
    return wrap(scene.key, 5_000n).filter(({ programId }) => !programId.equals(spl.ASSOCIATED_TOKEN_PROGRAM_ID))
  },
  'closes its wrapped SOL and pays out of it': (scene) => [
    spl.createCloseAccountInstruction(scene.wrapped(SOL), scene.key, scene.key),
    scene.pay(scene.stranger.publicKey, 1_000n),
  ],
  'sends to itself': (scene) => {
    const { held } = scene.mint()
    return [spl.createTransferInstruction(held, held, scene.key, 7n), scene.pay(scene.key, 5n)]
  },
  'uses a durable nonce of its own': (scene) => {
    const nonce = Keypair.generate()
    const lamports = Number(scene.local.minimumBalance(NONCE_ACCOUNT_LENGTH))
    const at = { noncePubkey: nonce.publicKey, authorizedPubkey: scene.key }
    const { instructions } = SystemProgram.createNonceAccount({ ...at, fromPubkey: scene.key, lamports })
    scene.send(instructions as TransactionInstruction[], [scene.wallet, nonce])
    scene.local.advance(2)
    return [SystemProgram.nonceAdvance(at), scene.pay(scene.stranger.publicKey, 3n * SOL)]
  },
  'sends from a second account, of which another may take some': (scene) => {
    const { mint, held } = scene.mint()
    const second = Keypair.generate()
    const [space, lamports] = [spl.ACCOUNT_SIZE, Number(scene.local.minimumBalance(spl.ACCOUNT_SIZE))]
    const place = { fromPubkey: scene.key, newAccountPubkey: second.publicKey, space, lamports }
    scene.send(
      [
        SystemProgram.createAccount({ ...place, programId: spl.TOKEN_PROGRAM_ID }),
        spl.createInitializeAccount3Instruction(second.publicKey, mint, scene.key),
        spl.createTransferInstruction(held, second.publicKey, scene.key, 90n),
        spl.createApproveInstruction(second.publicKey, scene.stranger.publicKey, scene.key, 40n),
      ],
      [scene.wallet, second],
    )
    return [spl.createTransferInstruction(second.publicKey, held, scene.key, 7n)]
  },
  'is paid by another': (scene) => {
    const { mint, held } = scene.mint()
    const theirs = scene.accountOf(scene.stranger, mint)
    scene.send([spl.createTransferInstruction(held, theirs, scene.key, 50n)])
    return [
      spl.createTransferInstruction(theirs, held, scene.stranger.publicKey, 9n),
      spl.createTransferInstruction(held, theirs, scene.key, 2n),
    ]
  },
}

describe.skipIf(lacksGuards)('with guards required, a transaction that', () => {
  it.each(Object.entries(ACTS))('%s needs each of its guards whole', async (_, act) => {
    const scene = await openScene({ programs: true })
    const instructions = await act(scene)
    const built = scene.compile(instructions).serialize()
    const { transaction, guarding } = await guardedTransaction(scene.chain, built, [scene.address])
    expect(guarding.guards.length).toBeGreaterThan(0)
    const ruleOf = async (raw: Uint8Array) => {
      const movement = await scene.readBuilt({ transaction: raw })
      // Another signer, and what fails in the simulation, are refused before.
      return scene.ruleOf(movement, { ...REQUIRED, cosigners: [scene.stranger.publicKey.toBase58()] })
    }
    expect([await ruleOf(built), await ruleOf(transaction)]).toEqual(['guard', null])
    for (const [what, guards] of weakened(guarding.guards)) {
      expect(await ruleOf(withGuards(built, guards)), what).toMatch(/^(guard|simulation)$/)
    }
  })
})
