/** What the policy sees of raises: what leaves, what comes back, and what somebody else gets. */
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  claimInstruction,
  closeEscrowInstruction,
  creationInstruction,
  creatorWithdrawalInstruction,
  depositInstruction,
  escrowInstruction,
  type RaiseCreation,
  raiseEscrowAddress,
  raisePlace,
  withdrawalInstruction,
} from '../../src/chain/programs/presale/index.ts'
import { PRESALE } from '../../src/solana/programs/presale.ts'
import { ata, createAta, openScene, SOL, text, wrap } from '../signer/movements-support.ts'
import { lacksPresale, sdk } from '../support/raises.ts'

const [SUPPLY, HOUR] = [500_000n, 3_600]
const FEE = 5_000n
const AUTHORITY = '4Xgt6XKZiowAGNdPWngVAwpYbSwAmbBnRBPtCFXhrypc'

/** A raise for wrapped SOL that the wallet creates, in which it has deposited 1 SOL and a stranger 2. */
async function open() {
  const scene = await openScene({ programs: true })
  const { wallet, stranger, address, local } = scene
  const { mint } = scene.mint()
  const base = Keypair.generate()
  const programs = { tokenProgram: 'spl', quoteTokenProgram: 'spl' } as const
  const place = raisePlace({
    base: text(base.publicKey),
    mint: text(mint),
    quoteMint: text(spl.NATIVE_MINT),
    ...programs,
  })
  const ends = BigInt(local.unixTimestamp() + HOUR)
  const creation: RaiseCreation = {
    ...{
      mode: 'pro_rata',
      allowlist: 'none',
      maximum: 10n * SOL,
      minimum: SOL,
      startsAt: 0n,
      endsAt: ends,
      price: null,
    },
    ...{ unsold: 'return', earlyEnd: false, releaseBps: 10_000, releaseAt: ends, lockSeconds: 0n, vestingSeconds: 0n },
    ...{ creator: address, payer: address, from: text(ata(mint, wallet.publicKey)) },
    rounds: [{ supply: SUPPLY, buyerMin: 1n, buyerMax: 10n * SOL, feeBps: 0 }],
  }
  const creating = (more: Partial<RaiseCreation>) => sdk(creationInstruction(place, { ...creation, ...more }))
  const create = creating({})
  const own = (key: Keypair) => ({
    escrow: raiseEscrowAddress(place.address, text(key.publicKey)),
    ...{ owner: text(key.publicKey), payer: text(key.publicKey) },
  })
  const deposit = (key: Keypair, amount: bigint) => [
    sdk(escrowInstruction(place.address, own(key))),
    sdk(depositInstruction(place, { ...own(key), from: text(ata(spl.NATIVE_MINT, key.publicKey)), amount })),
  ]
  const start = () => {
    scene.send([create], [wallet, base])
    for (const key of [wallet, stranger]) scene.send(wrap(key.publicKey, 5n * SOL), [key])
  }
  const finish = () => {
    start()
    scene.send(deposit(wallet, SOL))
    scene.send(deposit(stranger, 2n * SOL), [stranger])
    local.advance(HOUR)
  }
  return { ...scene, scene, mint, base, place, create, creating, own, deposit, start, finish }
}

describe.skipIf(lacksPresale !== '')(`the policy check of raises ${lacksPresale}`, () => {
  it('counts the tokens of a raise as leaving, into a vault of the program, and its rents', async () => {
    const { scene, create, base, place, mint, local } = await open()
    const movement = await scene.readBuilt({ transaction: scene.compile([create]).serialize() })
    expect(movement).toMatchObject({ err: null, stable: true, unread: [], authority_changes: [], delegates: [] })
    expect(movement.tokens_out).toEqual([{ mint: text(mint), amount: SUPPLY }])
    const rents = [PRESALE.sizeOf('presale'), spl.ACCOUNT_SIZE, spl.ACCOUNT_SIZE].map((bytes) =>
      local.minimumBalance(bytes),
    )
    expect(movement.lamports_out).toBe(rents.reduce((sum, rent) => sum + rent, 0n) + movement.fee)
    const vault = movement.destinations.find((each) => each.mint === text(mint))
    expect(vault).toMatchObject({ address: place.baseVault, owner: AUTHORITY, amount: SUPPLY })
    const cosigners = [text(base.publicKey)]
    expect(scene.ruleOf(movement, { cosigners })).toBeNull()
    expect(scene.ruleOf(movement, { cosigners, policy: { tokens: [] } })).not.toBeNull()
  })

  it('has the creator as the destination if it is another wallet, else the program', async () => {
    const { scene, creating, base, place, stranger, key } = await open()
    const [own, theirs] = [text(key), text(stranger.publicKey)]
    const cosigners = [text(base.publicKey)]
    const readOf = async (creator: string) =>
      scene.readBuilt({ transaction: scene.compile([creating({ creator })]).serialize() })
    const rule = (movement: Awaited<ReturnType<typeof readOf>>, ...destinations: string[]) =>
      scene.ruleOf(movement, { cosigners, policy: { destinations } })
    const mine = await readOf(own)
    expect([rule(mine, AUTHORITY), rule(mine, own)]).toEqual([null, 'destination'])
    const foreign = await readOf(theirs)
    const vaults = foreign.destinations.filter(({ owner }) => owner === theirs).map(({ address }) => address)
    expect(new Set(vaults)).toEqual(new Set([place.baseVault, place.quoteVault]))
    expect([rule(foreign, theirs), rule(foreign, AUTHORITY)]).toEqual([null, 'destination'])
  })

  it('counts a deposit as leaving, and a withdrawal as nothing', async () => {
    const { scene, start, deposit, wallet, own, place, local, key } = await open()
    start()
    const movement = await scene.read(deposit(wallet, SOL))
    expect(movement).toMatchObject({ err: null, unread: [] })
    expect(movement.lamports_out).toBe(SOL + local.minimumBalance(200) + movement.fee)
    scene.send(deposit(wallet, SOL))
    const to = text(ata(spl.NATIVE_MINT, key))
    const back = await scene.read([sdk(withdrawalInstruction(place, { ...own(wallet), to }, SOL))])
    expect(back).toMatchObject({ err: null, lamports_out: FEE, lamports_to_others: 0n })
  })

  it('counts what is claimed or raised for the wallet as nothing, and for somebody else as a gain of theirs', async () => {
    const { scene, finish, wallet, stranger, own, place, mint, key, address } = await open()
    finish()
    const [mine, theirs] = [key, stranger.publicKey].map((owner) => text(ata(mint, owner))) as [string, string]
    const claim = (to: string) => sdk(claimInstruction(place, { ...own(wallet), to }))
    const claimed = await scene.read([claim(mine), sdk(closeEscrowInstruction(place.address, own(wallet)))])
    expect(claimed).toMatchObject({ err: null, tokens_out: [], tokens_to_others: [], lamports_out: FEE })
    expect(scene.ruleOf(claimed, { policy: { lamports_per_transaction: claimed.fee, tokens: [] } })).toBeNull()
    scene.send([createAta(stranger.publicKey, mint, stranger.publicKey)], [stranger])
    const given = await scene.read([claim(theirs)])
    expect(given.tokens_to_others).toEqual([{ mint: text(mint), amount: SUPPLY / 3n }])
    expect(scene.ruleOf(given, { policy: { tokens: [] } })).not.toBeNull()

    const withdraw = (owner: PublicKey) =>
      sdk(creatorWithdrawalInstruction({ ...place, creator: address }, 'completed', text(ata(spl.NATIVE_MINT, owner))))
    expect(await scene.read([withdraw(key)])).toMatchObject({ err: null, lamports_out: FEE, lamports_to_others: 0n })
    expect(await scene.read([withdraw(stranger.publicKey)])).toMatchObject({ lamports_to_others: 3n * SOL })
  })

  it('counts the rent of an escrow that goes to somebody else', async () => {
    const { scene, start, wallet, stranger, own, place, local } = await open()
    start()
    scene.send([sdk(escrowInstruction(place.address, own(wallet)))])
    const close = sdk(closeEscrowInstruction(place.address, own(wallet), text(stranger.publicKey)))
    const movement = await scene.read([close])
    expect(movement.lamports_to_others).toBe(local.minimumBalance(200))
    expect(movement.closes).toMatchObject([{ address: own(wallet).escrow, to: [text(stranger.publicKey)] }])
  })
})
