/** Gold locks against the real Jupiter Lock: locked and paid out to the lamport, and nothing else possible in between. */
import * as spl from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explainTransactionError } from '../../src/chain/errors/index.ts'
import {
  decodeEscrow,
  escrowAddress,
  goldLockChangesIn,
  type LockActs,
  onLock,
  readLock,
  readLocks,
  scheduleMismatch,
} from '../../src/chain/programs/jupiter-lock/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { isPaidOut } from '../../src/solana/lock-schedule.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { ESCROW_BYTES } from '../../src/solana/programs/jupiter-lock.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { addressOf, createMint, DAY, give, instructionsIn, lacksLock, lamportsOf, unitsIn } from '../support/gold.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { openTestChain, PROGRAMS_DIR, SOL, START_MS, someone, type TestChain } from '../support/local-chain.ts'
import { buildGoldLock, buildGoldUnlock, type GoldLockPlan, lockPlaces } from '../support/lock-builds.ts'
import { embeddedNode } from '../support/node.ts'
import { LOCK_RENT, TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { runs } from '../support/runs.ts'

const NOW = START_MS / 1000
const U64_MAX = 2n ** 64n - 1n
/** Rent of the lock and of its token account (SPL). */
const RENT = LOCK_RENT + TOKEN_ACCOUNT_RENT
const FEE = 5_000n
const [USER, MINT, PLATFORM] = [goldenKey(11), goldenKey(12), goldenKey(13)]
const LONGEST_ID = '\u{ffff}'.repeat(64)

/** Bytes of each, measured: nothing else may grow unnoticed. */
const SIZES = Object.fromEntries(
  ['spl', 'token2022'].flatMap((program) => [
    [`${program}-lock`, 561],
    [`${program}-lock-longest`, 853],
    [`${program}-unlock`, 573],
    [`${program}-unlock-longest`, 863],
  ]),
)

/** What comes with the lock's own instructions in the largest transaction. */
const COMPANY = {
  before: [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
  ],
  after: [SystemProgram.transfer({ fromPubkey: USER.publicKey, toPubkey: PLATFORM.publicKey, lamports: 50_000_000 })],
  memo: `svc:gold-unlock:${LONGEST_ID}`,
}

const programOf = (tokenProgram: 'spl' | 'token2022') =>
  tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID

interface Wish {
  tokenProgram?: 'spl' | 'token2022'
  held?: bigint
  user?: Keypair
  key?: Keypair
}

/** A chain with the program, a wallet with gold, and its clock in the test's hand. */
async function open({ tokenProgram = 'spl', held = 1_000n, user, key }: Wish = {}) {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  const { chain, wall } = test
  const connection = embeddedNode(chain)
  const [issuer, wallet] = [test.wallet(), user ?? test.wallet(0n + SOL)]
  if (user) chain.airdrop(addressOf(user), 100n * SOL)
  const gold = createMint(chain, issuer, {
    program: programOf(tokenProgram),
    ...(key ? { key } : {}),
  })
  const account = give(chain, issuer, gold, wallet.publicKey, held)
  const escrow = await escrowAddress(addressOf(wallet))
  const places = await lockPlaces({ address: escrow, mint: gold.mint.toBase58(), tokenProgram })
  const common = { payer: addressOf(wallet), mint: gold.mint.toBase58(), tokenProgram, memo: 'svc:gold-lock:acme' }
  const lock = (wishes: Partial<GoldLockPlan> = {}) =>
    buildGoldLock({
      ...common,
      amount: 400n,
      startsAt: NOW,
      unlocksAt: NOW + DAY,
      recentBlockhash: chain.latestBlockhash().blockhash,
      ...wishes,
    })
  const unlock = (amount = 400n, payer = common.payer) =>
    buildGoldUnlock({ ...common, payer, amount, recentBlockhash: chain.latestBlockhash().blockhash })
  return {
    ...test,
    test: test as TestChain,
    chain,
    connection,
    issuer,
    wallet,
    gold,
    account,
    places,
    lock,
    unlock,
    /** To so many seconds after the start. */
    at(seconds: number) {
      wall.ms = START_MS + seconds * 1000
    },
    land({ transaction }: UnsignedTransaction, ...signers: Keypair[]) {
      const decoded = VersionedTransaction.deserialize(transaction)
      decoded.message.recentBlockhash = chain.latestBlockhash().blockhash
      decoded.sign(signers.length > 0 ? signers : [wallet])
      wall.ms += 400
      return chain.send(decoded.serialize())
    },
    explain: (landed: { err: unknown; logs: readonly string[] }) =>
      explainTransactionError(landed.err, { logs: landed.logs, programIds: [] }),
    state: async () => (await readLock(connection, escrow)).escrow,
  }
}

describe.skipIf(lacksLock !== '')(`a gold lock ${lacksLock}`, () => {
  it('takes amount and rent, pays nothing before its time, and returns all of both', async () => {
    const { chain, wallet, account, places, lock, unlock, land, at, explain, state } = await open()
    const before = lamportsOf(chain, wallet.publicKey)
    expect(await state()).toBeNull()
    expect(land(await lock()).err).toBeNull()
    expect([unitsIn(chain, account), unitsIn(chain, places.escrowToken)]).toEqual([600n, 400n])
    expect(lamportsOf(chain, wallet.publicKey)).toBe(before - RENT - FEE)
    const escrow = (await state())!
    expect(escrow).toEqual({
      address: places.escrow.toBase58(),
      base: addressOf(wallet),
      creator: addressOf(wallet),
      recipient: addressOf(wallet),
      mint: places.mint.toBase58(),
      tokenProgram: 'spl',
      updateRecipientMode: 0,
      cancelMode: 0,
      cliffTime: BigInt(NOW + DAY),
      cliffAmount: 400n,
      amountPerPeriod: 0n,
      periods: 0n,
      claimed: 0n,
      startTime: BigInt(NOW),
      cancelledAt: 0n,
      frequency: 1n,
    })
    expect([scheduleMismatch(escrow), isPaidOut(escrow)]).toEqual([null, false])

    at(DAY - 1)
    const early = land(await unlock())
    expect(explain(early)).toMatchObject({
      program: 'Jupiter Lock',
      name: 'ClaimingIsNotFinished',
      hint: expect.stringContaining('still holds tokens'),
    })
    expect([unitsIn(chain, account), unitsIn(chain, places.escrowToken)]).toEqual([600n, 400n])

    at(DAY)
    const held = lamportsOf(chain, wallet.publicKey)
    expect(land(await unlock()).err).toBeNull()
    expect([unitsIn(chain, account), unitsIn(chain, places.escrowToken)]).toEqual([1_000n, null])
    expect(lamportsOf(chain, wallet.publicKey)).toBe(held + RENT - FEE)
    expect([await state(), chain.account(places.escrow.toBase58())]).toEqual([null, null])
    expect(land(await lock({ amount: 1_000n, startsAt: NOW + DAY, unlocksAt: NOW + 2 * DAY })).err).toBeNull()
    expect((await state())?.cliffAmount).toBe(1_000n)
  })

  it('cannot be cancelled, redirected, claimed or closed by anybody, nor created twice', async () => {
    const { test, chain, wallet, places, lock, unlock, land, at, explain, state } = await open()
    expect(land(await lock()).err).toBeNull()
    expect(explain(land(await lock({ amount: 1n })))).toMatchObject({ program: 'System program', code: 0 })
    const payer = addressOf(wallet)
    const theLock = { address: places.escrow.toBase58(), mint: places.mint.toBase58(), tokenProgram: 'spl' as const }
    const forbidden: ((of: LockActs) => TransactionInstruction[])[] = [
      ({ cancel }) => cancel(payer, { creator: payer, recipient: payer }),
      ({ changeRecipient }) => changeRecipient(payer, someone().toBase58()),
    ]
    for (const acts of forbidden) {
      const { blockhash: recentBlockhash } = chain.latestBlockhash()
      const landed = land(await onLock({ payer, recentBlockhash }, theLock, acts))
      expect(explain(landed), landed.logs.join('\n')).toMatchObject({
        program: 'Jupiter Lock',
        name: 'NotPermitToDoThisAction',
      })
    }
    at(2 * DAY)
    const thief = test.wallet()
    const [, claim, close] = instructionsIn((await unlock()).transaction)
    for (const key of [claim!, close!].flatMap(({ keys }) => keys)) {
      if (key.isSigner) key.pubkey = thief.publicKey
    }
    for (const instruction of [claim!, close!]) {
      expect(test.send([instruction], [thief]).err).toEqual({ InstructionError: [0, { Custom: 2001 }] })
    }
    expect((await state())?.claimed).toBe(0n)
    expect(unitsIn(chain, places.escrowToken)).toBe(400n)
  })

  it('reopens the token account that the wallet closed, and also pays what was sent to the lock', async () => {
    const { test, chain, issuer, wallet, gold, account, places, lock, unlock, land, at } = await open({ held: 400n })
    expect(land(await lock()).err).toBeNull()
    give(chain, issuer, gold, places.escrow, 5n)
    const owner = wallet.publicKey
    expect(test.send([spl.createCloseAccountInstruction(account, owner, owner)], [wallet]).err).toBeNull()
    at(DAY)
    const landed = land(await unlock())
    expect(landed.err).toBeNull()
    expect([unitsIn(chain, account), chain.account(places.escrowToken.toBase58())]).toEqual([405n, null])
  })

  it('keeps any amount and any day that the API accepts as signed', { tags: 'sampled' }, async () => {
    const { wallet, places, lock, land, at, unlock, state } = await open({ held: U64_MAX })
    let passed = 0
    const amounts = fc.oneof(fc.bigInt({ min: 1n, max: U64_MAX }), fc.constantFrom(1n, U64_MAX))
    const days = fc.oneof(fc.integer({ min: 1, max: 1460 }), fc.constantFrom(1, 1460))
    await fc.assert(
      fc.asyncProperty(amounts, days, async (amount, count) => {
        const startsAt = NOW + passed
        const built = await lock({ amount, startsAt, unlocksAt: startsAt + count * DAY })
        const message = decodeWireTransaction(built.transaction).message
        expect(goldLockChangesIn(message, places.mint.toBase58())).toEqual([
          {
            kind: 'created',
            escrow: places.escrow.toBase58(),
            mint: places.mint.toBase58(),
            ...{ base: addressOf(wallet), creator: addressOf(wallet), recipient: addressOf(wallet) },
            ...{ startTime: BigInt(startsAt), cliffTime: BigInt(startsAt + count * DAY), frequency: 1n },
            ...{ cliffAmount: amount, amountPerPeriod: 0n, periods: 0n },
            ...{ updateRecipientMode: 0, cancelMode: 0 },
          },
        ])
        expect(goldLockChangesIn(message, addressOf(MINT))).toEqual([])
        expect(land(built).err).toBeNull()
        const escrow = (await state())!
        expect([escrow.cliffAmount, escrow.cliffTime - escrow.startTime]).toEqual([amount, BigInt(count * DAY)])
        passed += count * DAY
        at(passed - 1)
        expect(land(await unlock(amount)).err).not.toBeNull()
        at(passed)
        expect(land(await unlock(amount)).err).toBeNull()
        passed += 60
        at(passed)
      }),
      { numRuns: runs(5, 25), endOnFailure: true },
    )
  })

  it('can be read for many wallets in one call with the clock; absent ones are null', async () => {
    const { connection, places, lock, land, at } = await open()
    expect(land(await lock()).err).toBeNull()
    at(3 * DAY)
    const other = await escrowAddress(someone().toBase58())
    const { at: moment, escrows } = await readLocks(connection, [other, places.escrow.toBase58()])
    expect(escrows.map((escrow) => escrow?.address ?? null)).toEqual([null, places.escrow.toBase58()])
    expect(moment.unixSeconds).toBe(NOW + 3 * DAY)
    expect((await readLocks(connection, [])).at).toEqual(moment)
  })

  it('with the longest inputs runs through', async () => {
    const { lock, land, at, chain } = await open({ user: USER, key: MINT })
    chain.airdrop(addressOf(PLATFORM), SOL)
    expect(land(await lock(COMPANY), USER).err).toBeNull()
    at(DAY)
    const { blockhash: recentBlockhash } = chain.latestBlockhash()
    expect(land(await golden.unlock('spl', { ...COMPANY, recentBlockhash }), USER).err).toBeNull()
  })
})

const golden = {
  lock: (tokenProgram: 'spl' | 'token2022', wishes: object = {}) =>
    buildGoldLock({
      ...{ payer: addressOf(USER), mint: addressOf(MINT), tokenProgram, amount: 400n, memo: 'svc:gold-lock:acme' },
      ...{ startsAt: NOW, unlocksAt: NOW + 1460 * DAY, recentBlockhash: GOLDEN_BLOCKHASH },
      ...wishes,
    }),
  unlock: (tokenProgram: 'spl' | 'token2022', wishes: object = {}) =>
    buildGoldUnlock({
      ...{ payer: addressOf(USER), mint: addressOf(MINT), tokenProgram, amount: 400n, memo: 'svc:gold-unlock:acme' },
      recentBlockhash: GOLDEN_BLOCKHASH,
      ...wishes,
    }),
}
const CASES = (['spl', 'token2022'] as const).flatMap((tokenProgram) =>
  (['lock', 'unlock'] as const).flatMap((kind) => [
    { tokenProgram, kind, title: `${tokenProgram}-${kind}`, wishes: {} },
    { tokenProgram, kind, title: `${tokenProgram}-${kind}-longest`, wishes: COMPANY },
    { tokenProgram, kind, title: `v1-${tokenProgram}-${kind}`, wishes: { messageConfig: GOLDEN_CONFIG } },
  ]),
)

describe('a gold lock as built', () => {
  it
    .skipIf(RECORDING && lacksLock !== '')
    .each([...CASES, { tokenProgram: 'spl', kind: 'unlock', title: 'spl-close', wishes: { amount: 0n } } as const])(
    'is as recorded: $title',
    async ({ tokenProgram, kind, title, wishes }) => {
      const { transaction } = await golden[kind](tokenProgram, wishes)
      await expectGolden(`gold-locks/${title}`, transaction, async () => {
        const opened = await open({ tokenProgram, user: USER, key: MINT })
        opened.chain.airdrop(addressOf(PLATFORM), SOL)
        if (kind === 'unlock') {
          expect(opened.land(await golden.lock(tokenProgram), USER).err).toBeNull()
          opened.at(1460 * DAY)
          if (title === 'spl-close') {
            // As another tool leaves it: paid out, not closed.
            const instruction = instructionsIn((await golden.unlock(tokenProgram)).transaction)[1]!
            expect(opened.test.send([instruction], [USER]).err).toBeNull()
          }
        }
        return opened.test
      })
    },
  )

  it(`is at most ${MAX_TRANSACTION_BYTES} bytes with the longest platform_id, beside a platform fee`, async ({
    annotate,
  }) => {
    const sizes: Record<string, number> = {}
    for (const { tokenProgram, kind, title, wishes } of CASES.filter((each) => !each.title.startsWith('v1-'))) {
      sizes[title] = (await golden[kind](tokenProgram, wishes)).transaction.length
    }
    await annotate(JSON.stringify(sizes), 'size')
    expect(sizes).toEqual(SIZES)
    expect(Math.max(...Object.values(sizes))).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
  })

  it('is signed by the wallet alone, which pays', async () => {
    for (const { tokenProgram, kind, wishes } of CASES) {
      expect((await golden[kind](tokenProgram, wishes)).requiredSigners).toEqual([addressOf(USER)])
    }
  })
})

describe('the account of a lock', () => {
  const key = () => fc.uint8Array({ minLength: 32, maxLength: 32 })
  const u64 = () => fc.bigInt({ min: 0n, max: U64_MAX })
  const byte = () => fc.integer({ min: 0, max: 255 })

  it('is read as it was written, whatever its content', () => {
    const fields = fc.record({
      ...{ recipient: key(), mint: key(), creator: key(), base: key() },
      ...{ updateRecipientMode: byte(), cancelMode: byte(), flag: fc.constantFrom(0, 1) },
      numbers: fc.array(u64(), { minLength: 8, maxLength: 8 }),
    })
    fc.assert(
      fc.property(fields, ({ recipient, mint, creator, base, updateRecipientMode, cancelMode, flag, numbers }) => {
        const data = Buffer.alloc(ESCROW_BYTES)
        Buffer.from('f477b704497487c3', 'hex').copy(data)
        for (const [i, bytes] of [recipient, mint, creator, base].entries()) data.set(bytes, 8 + i * 32)
        data.set([254, updateRecipientMode, cancelMode, flag], 136)
        for (const [i, number] of numbers.entries()) data.writeBigUInt64LE(number, 144 + i * 8)
        const text = (bytes: Uint8Array) => new PublicKey(bytes).toBase58()
        const [cliffTime, frequency, cliffAmount, amountPerPeriod, periods, claimed, startTime, cancelledAt] = numbers
        expect(decodeEscrow('place', { owner: PROGRAMS.lock.id, data })).toEqual({
          address: 'place',
          ...{ recipient: text(recipient), mint: text(mint), creator: text(creator), base: text(base) },
          ...{ updateRecipientMode, cancelMode, tokenProgram: flag === 0 ? 'spl' : 'token2022' },
          ...{ cliffTime, frequency, cliffAmount, amountPerPeriod, periods, claimed, startTime, cancelledAt },
        })
      }),
    )
  })

  it('is not one if another program owns it, if it is of another kind, or if it is too short', () => {
    const account = { lamports: 1n, owner: PROGRAMS.lock.id, data: Buffer.alloc(ESCROW_BYTES), executable: false }
    Buffer.from('f477b704497487c3', 'hex').copy(account.data)
    expect(decodeEscrow('place', account)).not.toBeNull()
    expect(decodeEscrow('place', null)).toBeNull()
    expect(decodeEscrow('place', { ...account, owner: SystemProgram.programId.toBase58() })).toBeNull()
    expect(decodeEscrow('place', { ...account, data: Buffer.alloc(ESCROW_BYTES) })).toBeNull()
    expect(decodeEscrow('place', { ...account, data: account.data.subarray(0, ESCROW_BYTES - 1) })).toBeNull()
  })
})

describe('the effect of a transaction on gold locks', () => {
  const odd: [string, (data: Buffer) => void][] = [
    ['pays out in steps', (data) => data.fill(1, 8 + 32, 8 + 48)],
    ['locks nothing', (data) => data.fill(0, 8 + 24, 8 + 32)],
    ['can be cancelled', (data) => data.writeUInt8(1, 57)],
    ['can change its recipient', (data) => data.writeUInt8(2, 56)],
    ['ends beyond what a date can say', (data) => data.fill(255, 8 + 8, 8 + 16)],
  ]

  const spoilt = async (change: (instruction: TransactionInstruction) => void) => {
    const instruction = instructionsIn((await golden.lock('spl')).transaction)[1]!
    change(instruction)
    const built = new TransactionMessage({
      payerKey: USER.publicKey,
      recentBlockhash: GOLDEN_BLOCKHASH,
      instructions: [instruction],
    })
    const bytes = new VersionedTransaction(built.compileToV0Message()).serialize()
    return goldLockChangesIn(decodeWireTransaction(bytes).message, addressOf(MINT))
  }

  it('is empty for a lock that is not a gold lock', async () => {
    expect(await spoilt(() => undefined)).toMatchObject([{ kind: 'created', base: addressOf(USER), cliffAmount: 400n }])
    for (const [title, change] of odd) expect(await spoilt(({ data }) => change(data)), title).toEqual([])
    const others: ((instruction: TransactionInstruction) => object)[] = [
      ({ keys }) => Object.assign(keys[0]!, { pubkey: goldenKey(14).publicKey }),
      ({ keys }) => Object.assign(keys[4]!, { pubkey: goldenKey(14).publicKey }),
      ({ keys }) => Object.assign(keys[6]!, { pubkey: goldenKey(14).publicKey }),
      (instruction) => Object.assign(instruction, { data: instruction.data.subarray(0, 58) }),
      (instruction) => Object.assign(instruction, { keys: instruction.keys.slice(0, 6) }),
      (instruction) => Object.assign(instruction, { programId: someone() }),
    ]
    for (const change of others) expect(await spoilt((instruction) => void change(instruction))).toEqual([])
  })

  it('is read from any bytes without an exception', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('b59b68b7b680232f', 'ddb95f878843fc57', 'e5572ea2159de772', ''),
        fc.uint8Array({ maxLength: 80 }),
        fc.array(fc.nat(3), { maxLength: 12 }),
        (discriminator, rest, accounts) => {
          const data = Buffer.concat([Buffer.from(discriminator, 'hex'), rest])
          const message = {
            keys: [addressOf(USER), addressOf(MINT), PROGRAMS.lock.id],
            instructions: [{ programIdIndex: 2, accounts: Uint8Array.from(accounts), data }],
          }
          const changes = goldLockChangesIn(message as never, addressOf(MINT))
          for (const change of changes) expect(Object.values(change)).not.toContain(undefined)
        },
      ),
    )
  })
})
