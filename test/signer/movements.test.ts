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
import { readMovement } from '../../src/chain/movements/index.ts'
import { DEFAULT_POLICY, judge } from '../../src/operations/signing/rules.ts'
import {
  createAta,
  NOTHING_SPENT,
  openScene,
  type Scene,
  SOL,
  TOKEN_2022_PROGRAM_ID,
  text,
  wrap,
} from './movements-support.ts'

const RENT = 2_039_280n
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
  expect(judge(movement, { ...policy, tokens }, NOTHING_SPENT, { role: 'pays' })).toBeNull()
  scene.send(instructions)
  return movement
}

describe('a transaction that gives nothing away passes', () => {
  it('with a memo: its fee leaves, and nothing else', async () => {
    const scene = await openScene()
    const movement = await passes(scene, [memo('hello')], FEE)
    expect(movement).toMatchObject({ fee: FEE, fee_payer: scene.address, signers: [scene.address], destinations: [] })
    expect(movement.programs).toEqual([{ program: text(MEMO), depth: 1, where: 'instruction 0', wallet: false }])
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
        space: 0,
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

  it('wrapping SOL costs its rent, and unwrapping it the fee alone', async () => {
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

  it('by a nonce of its own that moves on', async () => {
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

describe('amounts are read from what happens', () => {
  it('wrapped SOL that is sent counts as lamports, and every token by its mint', async () => {
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

  it('what comes back within the transaction does not make up for what is sent', async () => {
    const scene = await openScene()
    const back = SystemProgram.transfer({
      fromPubkey: scene.stranger.publicKey,
      toPubkey: scene.key,
      lamports: 40n * SOL,
    })
    const movement = await scene.read([back, scene.pay(Keypair.generate().publicKey, 40n * SOL)])
    expect(movement.lamports_out).toBe(40n * SOL + 2n * FEE)
  })

  it('the whole priority fee is told, and none where another pays', async () => {
    const scene = await openScene()
    const priced = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 100_001 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 12_345 }),
    ]
    expect((await scene.read(priced)).fee).toBe(6_235n)
    const theirs = await scene.read([...priced, memo('a')], { payer: scene.stranger })
    expect([theirs.fee, theirs.lamports_out, theirs.fee_payer]).toEqual([0n, 0n, text(scene.stranger.publicKey)])
  })

  it('a run that fails is told with its decoded error and log', async () => {
    const scene = await openScene()
    const movement = await scene.read([scene.pay(scene.stranger.publicKey, 500n * SOL)])
    expect(movement.err?.message).toMatch(/needs 500000000000/)
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

describe('what the node does not show is not taken for nothing', () => {
  const altered = async (scene: Scene, change: (value: Record<string, unknown>) => void): Promise<Chain> => {
    const connection = await scene.chain.connection()
    const simulate = connection.simulateTransaction.bind(connection) as unknown as (
      ...args: unknown[]
    ) => Promise<{ value: Record<string, unknown> }>
    const changing = Object.assign(Object.create(connection), {
      async simulateTransaction(...args: unknown[]) {
        const answer = await simulate(...args)
        change(answer.value)
        return answer
      },
    })
    return { ...scene.chain, connection: async () => changing }
  }

  it('inner instructions', async () => {
    const scene = await openScene()
    const chain = await altered(scene, (value) => {
      value.innerInstructions = null
    })
    const movement = await readMovement(chain, scene.decode(scene.compile([memo('a')])), scene.address)
    expect(movement.stable).toBe(false)
    expect(movement.unread[0]?.reason).toMatch(/inner instructions/)
  })

  it('accounts that change', async () => {
    const scene = await openScene()
    const chain = await altered(scene, (value) => {
      value.accounts = null
    })
    const reading = readMovement(chain, scene.decode(scene.compile([memo('a')])), scene.address)
    await expect(reading).rejects.toThrow(/does not show what it changes/)
  })

  it('accounts of others that keep changing are measured from where they held less', async () => {
    const scene = await openScene()
    const busy = scene.stranger.publicKey
    let received = 0n
    const chain = await altered(scene, () => {
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

  it('its own accounts that keep changing leave it unstable', async () => {
    const scene = await openScene()
    const chain = await altered(scene, () => {
      scene.local.airdrop(scene.address, 1_000_000n)
    })
    const movement = await readMovement(chain, scene.decode(scene.compile([memo('a')])), scene.address)
    expect([movement.stable, movement.unread]).toEqual([false, []])
    const refusal = judge(movement, { ...DEFAULT_POLICY, lamports_per_transaction: SOL }, NOTHING_SPENT, {
      role: 'pays',
    })
    expect(refusal?.rule).toBe('unstable')
  })
})
