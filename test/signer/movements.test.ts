/** What is read of a transaction before it is signed, held against what the embedded chain then does. */
import * as spl from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../src/chain/connection.ts'
import { readMovement } from '../../src/chain/sending/movements.ts'
import { DEFAULT_POLICY } from '../../src/policy/policy.ts'
import { checkPolicy } from '../../src/policy/rules/check-policy.ts'
import { aroundAccounts, changedData, type NodeAccounts } from '../support/node-accounts.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import {
  ata,
  createAta,
  NOTHING_SPENT,
  opened,
  openScene,
  type Scene,
  SOL,
  TOKEN_2022_PROGRAM_ID,
  text,
  wrap,
} from './movements-support.ts'

const RENT = TOKEN_ACCOUNT_RENT
const FEE = 5_000n
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const memo = (words: string) => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(words) })

/** Nothing is given away, and the figures are those that the chain then shows. */
async function passes(scene: Scene, instructions: TransactionInstruction[], lamportsOut: bigint) {
  const movement = await scene.read(instructions)
  expect(movement).toMatchObject({ err: null, stable: true, unread: [], authority_changes: [], delegates: [] })
  expect(movement.lamports_out).toBe(lamportsOut)
  const policy = { ...DEFAULT_POLICY, lamports_per_transaction: lamportsOut, lamports_per_day: lamportsOut }
  const tokens = movement.tokens_out.map(({ mint, amount }) => ({ mint, per_transaction: amount, per_day: amount }))
  expect(checkPolicy(movement, { ...policy, tokens }, NOTHING_SPENT, { role: 'pays' })).toBeNull()
  scene.send(instructions)
  return movement
}

describe('a harmless transaction passes', () => {
  it('with a memo: only its fee leaves', async () => {
    const scene = await openScene()
    const movement = await passes(scene, [memo('hello')], FEE)
    expect(movement).toMatchObject({ fee: FEE, fee_payer: scene.address, signers: [scene.address], destinations: [] })
    expect(movement.programs).toEqual([
      { program: text(MEMO), depth: 1, where: 'instruction 0', wallet: false, call: expect.any(String), first: null },
    ])
    expect(scene.lamportsOf(scene.key)).toBe(100n * SOL - FEE)
  })

  it('with a transfer to itself, and one within its limit to another', async () => {
    const scene = await openScene()
    await passes(scene, [scene.pay(scene.key, 50n * SOL)], FEE)
    const friend = scene.stranger.publicKey
    const { destinations } = await passes(scene, [scene.pay(friend, SOL)], SOL + FEE)
    expect(destinations).toEqual([
      {
        address: text(friend),
        owner: null,
        mint: null,
        amount: SOL,
        program: text(SystemProgram.programId),
        others: [],
        created: false,
        minimum: 0n,
      },
    ])
    expect(scene.lamportsOf(scene.key)).toBe(99n * SOL - 2n * FEE)
  })

  it.each([spl.TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID])('with an account of its own at %s', async (program) => {
    const scene = await openScene()
    const { mint } = scene.mint(program, 0n)
    const friend = scene.funded(SOL)
    const before = scene.lamportsOf(scene.key)
    const movement = await scene.read([createAta(scene.key, mint, friend.publicKey, program)])
    expect(movement.destinations[0]).toMatchObject({ owner: text(friend.publicKey), mint: null, created: true })
    expect(movement.programs.filter(({ depth }) => depth === 2).length).toBeGreaterThanOrEqual(4)
    const other = scene.mint(program, 0n)
    const close = spl.createCloseAccountInstruction(other.held, scene.key, scene.key, [], program)
    await passes(scene, [close], FEE)
    const rent = BigInt(before - scene.lamportsOf(scene.key))
    expect(rent).toBeGreaterThan(0n)
    const opened = await scene.read([createAta(scene.key, other.mint, scene.key, program)])
    expect([opened.destinations, opened.lamports_out]).toEqual([[], movement.lamports_out])
  })

  it('wrapping SOL for its rent, and unwrapping it for the fee', async () => {
    const scene = await openScene()
    await passes(scene, wrap(scene.key, 3n * SOL), RENT + FEE)
    const held = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, scene.key)
    expect(await passes(scene, [scene.pay(held, SOL), spl.createSyncNativeInstruction(held)], FEE)).toMatchObject({
      destinations: [],
      tokens_out: [],
    })
    const { closes } = await passes(scene, [spl.createCloseAccountInstruction(held, scene.key, scene.key)], FEE)
    expect(closes).toEqual([
      { address: text(held), what: 'token account', lamports: 4n * SOL + RENT, to: [scene.address] },
    ])
  })

  it('with its own nonce that advances', async () => {
    const scene = await openScene()
    const nonce = Keypair.generate()
    const { nonceAuthority } = nonceOf(scene, nonce, scene.key)
    expect(nonceAuthority).toBe(true)
    const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: scene.key })
    scene.local.advance(2)
    await passes(scene, [advance, memo('once')], FEE)
  })
})

function nonceOf(scene: Scene, nonce: Keypair, authority: PublicKey) {
  const lamports = Number(scene.local.minimumBalance(NONCE_ACCOUNT_LENGTH))
  const create = SystemProgram.createNonceAccount({
    fromPubkey: scene.key,
    noncePubkey: nonce.publicKey,
    authorizedPubkey: authority,
    lamports,
  })
  scene.send(create.instructions, [scene.wallet, nonce])
  const { data } = scene.local.account(text(nonce.publicKey))!
  return { nonceAuthority: Buffer.from(data.subarray(8, 40)).equals(authority.toBuffer()) }
}

describe('movements are read from the execution:', () => {
  it('sent wrapped SOL counts as lamports, and every token by its mint', async () => {
    const scene = await openScene()
    const [token, t22] = [scene.mint(), scene.mint(TOKEN_2022_PROGRAM_ID)]
    const held = scene.wrapped(5n * SOL)
    const to = [
      scene.accountOf(scene.stranger, spl.NATIVE_MINT),
      scene.accountOf(scene.stranger, token.mint),
      scene.accountOf(scene.stranger, t22.mint, TOKEN_2022_PROGRAM_ID),
    ] as const
    const movement = await passes(
      scene,
      [
        spl.createTransferInstruction(held, to[0], scene.key, 2n * SOL),
        spl.createTransferInstruction(token.held, to[1], scene.key, 10),
        spl.createBurnInstruction(token.held, token.mint, scene.key, 5),
        spl.createTransferCheckedInstruction(t22.held, t22.mint, to[2], scene.key, 7, 6, [], TOKEN_2022_PROGRAM_ID),
      ],
      2n * SOL + FEE,
    )
    const [a, b] = [text(token.mint), text(t22.mint)]
    expect(movement.tokens_out).toEqual(
      expect.arrayContaining([
        { mint: a, amount: 15n },
        { mint: b, amount: 7n },
      ]),
    )
    expect(movement.tokens_to_others).toEqual(
      expect.arrayContaining([
        { mint: a, amount: 10n },
        { mint: b, amount: 7n },
      ]),
    )
    expect(movement.lamports_to_others).toBe(2n * SOL)
    expect(movement.destinations.map(({ address, owner, amount }) => [address, owner, amount])).toEqual(
      expect.arrayContaining([
        [text(to[0]), text(scene.stranger.publicKey), 2n * SOL],
        [text(to[1]), text(scene.stranger.publicKey), 10n],
        [text(to[2]), text(scene.stranger.publicKey), 7n],
      ]),
    )
  })

  it('returns within the transaction do not offset what is sent', async () => {
    const scene = await openScene()
    const back = SystemProgram.transfer({
      fromPubkey: scene.stranger.publicKey,
      toPubkey: scene.key,
      lamports: 40n * SOL,
    })
    const movement = await scene.read([back, scene.pay(Keypair.generate().publicKey, 40n * SOL)])
    expect(movement.lamports_out).toBe(40n * SOL + 2n * FEE)
  })

  it('the whole priority fee is included, and none if another wallet pays', async () => {
    const scene = await openScene()
    const priced = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 100_001 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 12_345 }),
    ]
    expect((await scene.read(priced)).fee).toBe(6_235n)
    const theirs = await scene.read([...priced, memo('a')], { payer: scene.stranger })
    expect([theirs.fee, theirs.lamports_out, theirs.fee_payer]).toEqual([0n, 0n, text(scene.stranger.publicKey)])
  })

  it('a failed run has its decoded error and log', async () => {
    const scene = await openScene()
    const movement = await scene.read([scene.pay(scene.stranger.publicKey, 500n * SOL)])
    expect(movement.err?.message).toMatch(/needs 500 SOL/)
    expect(movement.logs.join()).toMatch(/insufficient lamports/)
  })

  it('a message with an old blockhash does not run, as it would not land', async () => {
    const scene = await openScene()
    const transaction = scene.compile([memo('late')])
    transaction.message.recentBlockhash = text(Keypair.generate().publicKey)
    const movement = await readMovement(scene.chain, scene.decode(transaction), scene.address)
    expect(movement.err?.name).toBe('BlockhashNotFound')
  })
})

describe("a missing part of a node's answer is an error:", () => {
  const altered = (scene: Scene, change: (value: Record<string, unknown>) => void): Chain => ({
    ...scene.chain,
    async call<T>(method: string, params: readonly unknown[]) {
      const answer = await scene.chain.call<{ value: Record<string, unknown> }>(method, params)
      if (method === 'simulateTransaction') change(answer.value)
      return answer as T
    },
  })

  it('inner instructions', async () => {
    const scene = await openScene()
    const chain = altered(scene, (value) => {
      value.innerInstructions = null
    })
    const movement = await readMovement(chain, scene.decode(scene.compile([memo('a')])), scene.address)
    expect(movement.stable).toBe(false)
    expect(movement.unread[0]?.reason).toMatch(/inner instructions/)
  })

  it('accounts that change', async () => {
    const scene = await openScene()
    const chain = altered(scene, (value) => {
      value.accounts = null
    })
    const reading = readMovement(chain, scene.decode(scene.compile([memo('a')])), scene.address)
    await expect(reading).rejects.toThrow(/does not show what it changes/)
  })

  it('changing accounts of others are measured from their lowest reading', async () => {
    const scene = await openScene()
    const busy = scene.stranger.publicKey
    let received = 0n
    const chain = altered(scene, () => {
      scene.local.airdrop(busy.toBase58(), 1_000_000n)
      received += 1_000_000n
    })
    const before = scene.local.account(busy.toBase58())!.lamports
    const pay = SystemProgram.transfer({ fromPubkey: scene.key, toPubkey: busy, lamports: 5_000_000 })
    const movement = await readMovement(chain, scene.decode(scene.compile([pay])), scene.address)
    expect(received).toBe(1_000_000n)
    expect(scene.local.account(busy.toBase58())!.lamports).toBe(before + received)
    expect(movement).toMatchObject({ stable: true, lamports_out: 5_005_000n })
    expect(movement.destinations).toMatchObject([{ address: busy.toBase58(), amount: 5_000_000n }])
  })

  it('dust that a stranger keeps sending to the wallet and its token accounts delays nothing', async () => {
    const scene = await openScene()
    const { mint, held } = scene.mint()
    const wrapped = scene.wrapped(SOL)
    const change = (key: PublicKey, by: bigint, lamports: bigint) => {
      const account = scene.local.account(text(key))!
      const data = Buffer.from(account.data)
      data.writeBigUInt64LE(data.readBigUInt64LE(64) + by, 64)
      scene.local.setAccount(text(key), { ...account, lamports: account.lamports + lamports, data })
    }
    let runs = 0
    const instructions = [
      spl.createBurnInstruction(held, mint, scene.key, 10),
      spl.createTransferInstruction(wrapped, scene.accountOf(scene.stranger, spl.NATIVE_MINT), scene.key, 20),
    ]
    for (const dust of [1n, -1n]) {
      const chain = altered(scene, () => {
        runs++
        scene.local.airdrop(scene.address, 1n)
        change(held, dust, 0n)
        change(wrapped, dust, dust)
      })
      const movement = await readMovement(chain, scene.decode(scene.compile(instructions)), scene.address)
      expect([movement.stable, movement.unread]).toEqual([true, []])
      // From the greater reading: the loss is never understated.
      const least = dust > 0n ? 1n : 0n
      expect(movement.tokens_out).toEqual([{ mint: text(mint), amount: 10n + least }])
      expect(movement.lamports_out).toBeGreaterThanOrEqual(20n + FEE)
      expect(movement.lamports_out).toBeLessThanOrEqual(20n + FEE + 2n)
      expect(scene.ruleOf(movement, { policy: { lamports_per_transaction: 20n + FEE + 2n } })).toBeNull()
    }
    // Still readings are waited for, as other transactions of the wallet land at the same time.
    expect(runs).toBe(12)
  })

  it.each([
    ['a delegate of its token account', 'held'],
    ['the supply of its mint', 'mint'],
    ['lamports of its mint', 'rent'],
  ] as const)('%s that keeps changing makes the result unstable', async (_, what) => {
    const scene = await openScene()
    const { mint, held } = scene.mint()
    const key = text(what === 'held' ? held : mint)
    const chain = altered(scene, () => {
      const account = scene.local.account(key)!
      const data = Buffer.from(account.data)
      if (what === 'held') data.fill(Keypair.generate().publicKey.toBuffer(), 76, 108).writeUInt32LE(1, 72)
      if (what === 'mint') data.writeBigUInt64LE(data.readBigUInt64LE(36) + 1n, 36)
      scene.local.setAccount(key, { ...account, lamports: account.lamports + (what === 'rent' ? 1n : 0n), data })
    })
    const burn = spl.createBurnInstruction(held, mint, scene.key, 1)
    const movement = await readMovement(chain, scene.decode(scene.compile([burn])), scene.address)
    expect([movement.stable, movement.unread]).toEqual([false, []])
    expect(scene.ruleOf(movement)).toBe('unstable')
  })

  /** `change` has the slot and the accounts of each reading. */
  const misread = async (scene: Scene, change: (reading: NodeAccounts, addresses: readonly string[]) => void) => {
    const changing = { ...scene.chain }
    aroundAccounts(changing, async (read, addresses) => {
      const reading = await read(addresses)
      change(reading, addresses)
      return reading
    })
    return changing
  }

  it("a stranger's balance during the two readings alone: its instructions define the smallest gain", async () => {
    const scene = await openScene()
    const { stranger } = scene
    const { mint } = scene.mint()
    const theirs = scene.accountOf(stranger, mint)
    const [source, purse] = [ata(spl.NATIVE_MINT, stranger.publicKey), Keypair.generate()]
    scene.send(
      [
        ...wrap(stranger.publicKey, 5n * SOL),
        spl.createApproveInstruction(source, scene.key, stranger.publicKey, 5n * SOL),
        ...opened(scene, purse, spl.NATIVE_MINT, stranger.publicKey, stranger.publicKey),
      ],
      [stranger, purse],
    )
    let misreadings = 0
    const chain = await misread(scene, ({ value }, addresses) => {
      for (const [i, address] of addresses.entries()) {
        const account = value[i]
        if (account === null || account === undefined) continue
        if (address !== text(theirs) && address !== text(purse.publicKey)) continue
        misreadings++
        value[i] = changedData(account, (data) => data.writeBigUInt64LE(data.readBigUInt64LE(64) + 9n * SOL, 64))
        if (address === text(purse.publicKey)) value[i].lamports += Number(9n * SOL)
      }
    })
    // Neither comes out of an account of the wallet: its authority over another's and over a mint moves it.
    const instructions = [
      spl.createTransferInstruction(source, purse.publicKey, scene.key, 4n * SOL),
      spl.createMintToInstruction(mint, theirs, scene.key, 7n * SOL),
    ]
    const movement = await readMovement(chain, scene.decode(scene.compile(instructions)), scene.address)
    expect(movement.stable).toBe(true)
    expect(misreadings).toBe(4)
    expect(movement.lamports_to_others).toBe(4n * SOL)
    expect(movement.tokens_to_others).toEqual([{ mint: text(mint), amount: 7n * SOL }])
    expect(movement.destinations.map(({ address, amount }) => [address, amount])).toEqual(
      expect.arrayContaining([
        [text(purse.publicKey), 4n * SOL],
        [text(theirs), 7n * SOL],
      ]),
    )
    expect(scene.ruleOf(movement, { policy: { lamports_per_transaction: 4n * SOL - 1n } })).toBe(
      'lamports_per_transaction',
    )
  })

  it('a reading of a node that is behind is ignored', async () => {
    const scene = await openScene()
    let readings = 0
    const behind = (until: number) =>
      misread(scene, ({ context }) => {
        readings++
        // Every second one is after a run.
        if (readings % 2 === 0 && readings <= until) context.slot = Math.max(0, context.slot - 1)
      })
    scene.local.advance(5)
    const transaction = scene.decode(scene.compile([memo('a')]))
    expect((await readMovement(await behind(2), transaction, scene.address)).stable).toBe(true)
    expect(readings).toBe(3)
    readings = 0
    const late = await misread(scene, ({ context }) => {
      context.slot = readings++ === 0 ? context.slot : 0
    })
    const movement = await readMovement(late, transaction, scene.address)
    expect([movement.stable, scene.ruleOf(movement)]).toEqual([false, 'unstable'])
  })
})
