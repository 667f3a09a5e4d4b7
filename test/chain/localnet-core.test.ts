/** The embedded chain against the real runtime: time, refusals, fees, history and the faucet. */

import * as spl from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  type PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FAUCET_LAMPORTS } from '../../src/localnet/faucet.ts'
import type { LandedTransaction } from '../../src/localnet/types.ts'
import { solText } from '../../src/solana/amounts.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { MalformedTransaction } from '../../src/solana/messages.ts'
import {
  balance,
  everything,
  MEMO,
  memo,
  mintOf,
  openTestChain,
  refusal,
  SOL,
  START_MS,
  signs,
  someone,
  thrownBy,
  transfer,
} from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

describe('time on the embedded chain', () => {
  it('makes slots as long as its setting says, and shows commitments behind them', async () => {
    const { chain, wall } = await openTestChain({ consensus: 'tower' })
    const first = chain.slot()
    wall.ms += chain.slotMs() - 1
    expect(chain.slot()).toBe(first)
    wall.ms += 1
    expect(chain.slot()).toBe(first + 1)
    expect([chain.slot('confirmed'), chain.slot('finalized')]).toEqual([first, first - 31])
    expect(chain.unixTimestamp()).toBe(START_MS / 1000)
    chain.advance(3600)
    expect(chain.unixTimestamp()).toBe(START_MS / 1000 + 3600)
    expect(chain.slot()).toBe(first + 1 + 3_600_000 / chain.slotMs())
    expect(chain.blockTime(first + 1_000_000 / chain.slotMs())).toBe(START_MS / 1000 + 1000)
  })

  it('only moves forward', async () => {
    const { chain, wall } = await openTestChain()
    for (const seconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
      expect(() => chain.advance(seconds)).toThrow(RangeError)
    }
    const slot = chain.slot()
    wall.ms -= 3_600_000
    expect(chain.slot()).toBe(slot)
    wall.ms += chain.slotMs()
    expect(chain.slot()).toBe(slot + 1)
  })

  it('keeps a blockhash valid for 150 slots and not one more', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const { blockhash, lastValidBlockHeight } = test.chain.latestBlockhash()
    const raws = [1, 2].map((lamports) => test.sign([transfer(payer, payer.publicKey, lamports)], [payer]))
    test.chain.advance((150 * test.chain.slotMs()) / 1000)
    expect(test.chain.slot()).toBe(lastValidBlockHeight)
    expect(test.chain.isBlockhashValid(blockhash)).toBe(true)
    expect(test.chain.send(raws[0]!).err).toBeNull()
    test.wall.ms += test.chain.slotMs()
    expect(test.chain.isBlockhashValid(blockhash)).toBe(false)
    expect(refusal(() => test.chain.send(raws[1]!))).toBe('BlockhashNotFound')
  })

  it('is the time that programs read from the clock', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    test.chain.advance(86_400 * 30)
    const mint = Keypair.generate()
    const space = spl.getMintLen([spl.ExtensionType.InterestBearingConfig])
    const landed = test.send(
      [
        SystemProgram.createAccount({
          fromPubkey: payer.publicKey,
          newAccountPubkey: mint.publicKey,
          space,
          lamports: Number(test.chain.minimumBalance(space)),
          programId: spl.TOKEN_2022_PROGRAM_ID,
        }),
        spl.createInitializeInterestBearingMintInstruction(
          mint.publicKey,
          payer.publicKey,
          500,
          spl.TOKEN_2022_PROGRAM_ID,
        ),
      ],
      [payer, mint],
    )
    expect(landed.err).toBeNull()
    expect(landed.blockTime).toBe(START_MS / 1000 + 86_400 * 30)
    // The configuration's timestamp lies behind the base layout, the type and length words and the rate's authority.
    const data = Buffer.from(test.chain.account(mint.publicKey.toBase58())!.data)
    expect(data.readBigInt64LE(165 + 1 + 4 + 32)).toBe(BigInt(landed.blockTime))
  })

  it('is the same for all transactions of a slot', async () => {
    const test = await openTestChain()
    test.wall.ms += 2 * test.chain.slotMs() + 10
    const payer = test.wallet()
    const first = test.send([memo('a')], [payer])
    test.wall.ms += test.chain.slotMs() - 20
    const second = test.send([memo('b')], [payer])
    expect(second.slot).toBe(first.slot)
    expect([second.blockTime, second.index]).toEqual([first.blockTime, first.index + 1])
    expect(test.chain.blockTime(first.slot)).toBe(first.blockTime)
  })
})

describe('a transaction that cannot land', () => {
  it('is refused with the error of a validator, and changes nothing', async () => {
    const test = await openTestChain()
    const { chain } = test
    const payer = test.wallet()
    const poor = Keypair.generate()
    chain.setAccount(poor.publicKey.toBase58(), {
      lamports: 4999n,
      owner: SystemProgram.programId.toBase58(),
      data: new Uint8Array(),
      executable: false,
    })
    const forged = test.sign([memo('forged')], [payer])
    forged[10]! ^= 1
    const forgedAndStale = test.sign([memo('forged')], [payer], { blockhash: chain.blockhashOf(7) })
    forgedAndStale[10]! ^= 1
    const cases: [string, Uint8Array][] = [
      ['SignatureFailure', forged],
      ['SignatureFailure', forgedAndStale],
      ['BlockhashNotFound', test.sign([memo('stale')], [payer], { blockhash: chain.blockhashOf(chain.slot() - 151) })],
      ['BlockhashNotFound', test.sign([memo('strange')], [payer], { blockhash: someone().toBase58() })],
      ['AccountNotFound', test.sign([memo('nobody')], [Keypair.generate()])],
      ['InsufficientFundsForFee', test.sign([memo('poor')], [poor])],
    ]
    const before = everything(test)
    const count = chain.transactionCount()
    for (const [name, raw] of cases) expect([name, refusal(() => chain.send(raw))]).toEqual([name, name])
    expect(everything(test)).toEqual(before)
    expect(chain.transactionCount()).toBe(count)
  })

  it('pays only its fee if an account cannot be loaded, as in SIMD-0082', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const poor = test.wallet(test.chain.minimumBalance(0))
    const call = (programId: PublicKey) => new TransactionInstruction({ programId, keys: [] })
    // Tag 4 of the Compute Budget program limits the loaded bytes, here to 100.
    const limit = new TransactionInstruction({
      programId: ComputeBudgetProgram.programId,
      keys: [],
      data: Buffer.from([4, 100, 0, 0, 0]),
    })
    const rich = transfer(payer, someone(), SOL)
    for (const [err, instructions] of [
      ['ProgramAccountNotFound', [rich, call(someone())]],
      ['InvalidProgramForExecution', [rich, call(spl.NATIVE_MINT)]],
      ['MaxLoadedAccountsDataSizeExceeded', [rich, limit]],
    ] as const) {
      const raw = test.sign([...instructions], [payer])
      const before = balance(test, payer.publicKey)
      const trial = test.chain.simulate(raw, { balances: true })
      expect(trial).toMatchObject({ err, fee: 5000n, logs: [], unitsConsumed: 0 })
      expect(trial.balances!.before.lamports[0]! - trial.balances!.after.lamports[0]!).toBe(5000n)
      const landed = test.chain.send(raw)
      expect(landed).toMatchObject({ err, fee: 5000n, logs: [], unitsConsumed: 0 })
      expect(before - balance(test, payer.publicKey)).toBe(5000n)
      expect(test.chain.landingOf(landed.signature)).toMatchObject({ err })
      expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
      const forged = test.sign([...instructions, memo('forged')], [payer])
      forged[10]! ^= 1
      expect(refusal(() => test.chain.send(forged))).toBe('SignatureFailure')
      expect(refusal(() => test.chain.simulate(forged, { sigVerify: true }))).toBe('SignatureFailure')
    }
    // A payer that could not keep its rent is refused, as nobody would pay.
    test.chain.setAccount(poor.publicKey.toBase58(), {
      ...test.chain.account(poor.publicKey.toBase58())!,
      lamports: test.chain.minimumBalance(0) + 4_999n,
    })
    expect(refusal(() => test.send([call(someone())], [poor]))).toEqual({
      InsufficientFundsForRent: { account_index: 0 },
    })
  })

  it('is refused if it is larger than 1,232 bytes or not a transaction', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const raw = test.sign([memo('whole')], [payer])
    const tooLarge = Uint8Array.from([...raw, ...new Uint8Array(1233 - raw.length)])
    expect(thrownBy(() => test.chain.send(tooLarge))).toMatchObject({
      message: 'The transaction is too large: 1233 bytes, at most 1232 are possible',
    })
    expect(thrownBy(() => test.chain.send(Uint8Array.from([...raw, 0])))).toBeInstanceOf(MalformedTransaction)
    for (let length = 0; length < raw.length; length++) {
      expect(thrownBy(() => test.chain.send(raw.subarray(0, length)))).toBeInstanceOf(MalformedTransaction)
    }
  })

  it('never brings the process down, whatever its bytes', { tags: 'sampled' }, async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const sample = test.sign([transfer(payer, someone(), SOL), memo('x')], [payer])
    const flips = fc.array(fc.tuple(fc.nat(sample.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 1300 }),
      flips.map((changes) => {
        const copy = Uint8Array.from(sample)
        for (const [at, value] of changes) copy[at] = value
        return copy
      }),
    )
    fc.assert(
      fc.property(bytes, fc.boolean(), (raw, replaceRecentBlockhash) => {
        for (const call of [() => test.chain.send(raw), () => test.chain.simulate(raw, { replaceRecentBlockhash })]) {
          const error = thrownBy(call)
          if (error !== undefined) expect(error).toBeInstanceOf(TransactionRefused)
        }
      }),
      { numRuns: runs(80, 400) },
    )
  })

  it('is refused as a duplicate once it has landed, successful or not', { tags: 'sampled' }, async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const works = test.sign([memo('once')], [payer])
    const fails = test.sign([transfer(payer, someone(), 1000n * SOL)], [payer])
    expect(test.chain.send(works).err).toBeNull()
    expect(test.chain.send(fails).err).toEqual({ InstructionError: [0, { Custom: 1 }] })
    const before = balance(test, payer.publicKey)
    const between = runs(40, 300)
    for (let i = 0; i < between; i++) test.send([memo(`between ${i}`)], [payer])
    for (const raw of [works, fails]) expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
    await test.reopen()
    for (const raw of [works, fails]) expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
    expect(balance(test, payer.publicKey)).toBe(before - BigInt(between) * 5000n)
  })
})

describe('a transaction that lands', () => {
  it('pays and is recorded even when it fails', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const to = test.wallet()
    const landed = test.send([transfer(payer, to.publicKey, 5), transfer(payer, to.publicKey, 1000n * SOL)], [payer])
    expect(landed).toMatchObject({
      err: { InstructionError: [1, { Custom: 1 }] },
      fee: 5000n,
      preBalances: [100n * SOL, 100n * SOL, 1n],
      postBalances: [100n * SOL - 5000n, 100n * SOL, 1n],
      accountKeys: [payer.publicKey, to.publicKey, SystemProgram.programId].map((key) => key.toBase58()),
      unitsConsumed: 300,
    })
    expect(landed.logs.at(-1)).toBe('Program 11111111111111111111111111111111 failed: custom program error: 0x1')
    expect(balance(test, payer.publicKey)).toBe(100n * SOL - 5000n)
    expect(test.chain.transaction(landed.signature)).toEqual(landed)
    expect(test.chain.signaturesFor(to.publicKey.toBase58(), { limit: 1 })).toEqual([
      { signature: landed.signature, slot: landed.slot, err: landed.err, blockTime: landed.blockTime },
    ])
  })

  it('reports errors as a validator does', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const to = someone()
    const mint = await mintOf(test, payer, spl.TOKEN_PROGRAM_ID)
    const unsigned = transfer(Keypair.generate(), to, 1)
    unsigned.keys[0]!.isSigner = false
    const cases: [unknown, TransactionInstruction[]][] = [
      [{ InsufficientFundsForRent: { account_index: 1 } }, [transfer(payer, to, 1)]],
      [{ InstructionError: [0, 'MissingRequiredSignature'] }, [unsigned]],
      [
        { InstructionError: [1, 'ComputationalBudgetExceeded'] },
        [ComputeBudgetProgram.setComputeUnitLimit({ units: 200 }), transfer(payer, to, SOL)],
      ],
      [
        { InstructionError: [0, 'InvalidInstructionData'] },
        [
          new TransactionInstruction({
            programId: SystemProgram.programId,
            keys: [],
            data: Buffer.from([99, 0, 0, 0]),
          }),
        ],
      ],
      [
        { InstructionError: [0, 'InvalidAccountData'] },
        [spl.createMintToInstruction(mint, payer.publicKey, payer.publicKey, 1)],
      ],
    ]
    for (const [err, instructions] of cases) expect(test.send(instructions, [payer]).err).toEqual(err)
  })

  it('costs exactly the fee that was quoted', { tags: 'sampled' }, async () => {
    const test = await openTestChain()
    const payer = test.wallet(1000n * SOL)
    const others = [test.wallet(), test.wallet()]
    const instruction = fc.oneof(
      fc.constantFrom(...others).map((other) => transfer(other, payer.publicKey, 1)),
      fc.string({ maxLength: 8 }).map((text) => memo(`m${text}`)),
      fc.constant(
        Ed25519Program.createInstructionWithPrivateKey({
          privateKey: payer.secretKey,
          message: Buffer.from('signed'),
        }),
      ),
    )
    const budget = fc.record(
      { units: fc.integer({ min: 0, max: 2_000_000 }), microLamports: fc.integer({ min: 0, max: 20_000_000 }) },
      { requiredKeys: [] },
    )
    let landed = 0
    fc.assert(
      fc.property(
        fc.array(instruction, { minLength: 1, maxLength: 4 }),
        budget,
        (instructions, { units, microLamports }) => {
          test.wall.ms += test.chain.slotMs()
          const all = [...instructions]
          if (units !== undefined) all.push(ComputeBudgetProgram.setComputeUnitLimit({ units }))
          if (microLamports !== undefined) all.push(ComputeBudgetProgram.setComputeUnitPrice({ microLamports }))
          const raw = test.sign(all, [payer, ...others.filter(({ publicKey }) => signs(all, publicKey))])
          const message = raw.subarray(1 + 64 * raw[0]!)
          const told = test.chain.feeForMessage(message)
          const before = [payer, ...others].map(({ publicKey }) => balance(test, publicKey))
          const { fee, err } = test.chain.send(raw)
          const after = [payer, ...others].map(({ publicKey }) => balance(test, publicKey))
          expect([fee, before.reduce(add) - after.reduce(add)]).toEqual([told, told])
          if (err === null) landed++
        },
      ),
      { numRuns: runs(20, 150) },
    )
    expect(landed).toBeGreaterThan(runs(2, 30))
  })

  it('has its place in the history of each of its accounts', async () => {
    const test = await openTestChain()
    const { chain } = test
    const payer = test.wallet()
    const address = payer.publicKey.toBase58()
    const landed: LandedTransaction[] = []
    for (let i = 0; i < 9; i++) {
      if (i % 3 === 0) test.wall.ms += 2 * test.chain.slotMs()
      landed.push(
        test.send([ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10 + i }), memo(`${i}`)], [payer]),
      )
    }
    const newestFirst = landed.map(({ signature }) => signature).reverse()
    const page = (options: { limit: number; before?: string; until?: string }) =>
      chain.signaturesFor(address, options).map(({ signature }) => signature)
    expect(page({ limit: 9 })).toEqual(newestFirst)
    expect(page({ limit: 3, before: newestFirst[1]! })).toEqual(newestFirst.slice(2, 5))
    expect(page({ limit: 100, until: newestFirst[4]! })).toEqual(newestFirst.slice(0, 4))
    expect(page({ limit: 100, before: 'no signature' })).toEqual([])
    const slots = [...new Set(landed.map(({ slot }) => slot))]
    expect(slots).toHaveLength(3)
    expect(chain.slotsWithTransactions(slots[0]!, slots[2]!, 2)).toEqual(slots.slice(0, 2))
    expect(chain.transactionsInSlot(slots[1]!)).toEqual(landed.slice(3, 6))
    expect(chain.transactionsInSlot(slots[1]!).map(({ index }) => index)).toEqual([0, 1, 2])
    expect(chain.prioritizationFees([address])).toEqual([
      { slot: slots[0]! - 2, prioritizationFee: 0 },
      ...slots.map((slot, i) => ({ slot, prioritizationFee: 10 + 3 * i })),
    ])
    expect(chain.prioritizationFees([MEMO.toBase58()])).toEqual([])
    chain.advance(120)
    expect(chain.prioritizationFees([])).toEqual([])
    expect(chain.transaction(someone().toBase58())).toBeNull()
    expect(chain.transaction('not base58!')).toBeNull()
  })

  it('is reported to listeners once it is durable, even if one of them fails', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const heard: string[] = []
    test.chain.subscribe({
      landed: () => {
        throw new Error('deaf')
      },
    })
    const stop = test.chain.subscribe({
      landed: ({ signature }, changed) => {
        expect(test.chain.transaction(signature)).not.toBeNull()
        expect(changed.get(payer.publicKey.toBase58())?.lamports).toBe(balance(test, payer.publicKey))
        heard.push(signature)
      },
    })
    const { signature } = test.send([memo('heard')], [payer])
    thrownBy(() => test.chain.send(Uint8Array.of(1)))
    test.chain.sendBundle([test.sign([memo('b')], [payer]), test.sign([transfer(payer, someone(), 1)], [payer])])
    stop()
    test.send([memo('unheard')], [payer])
    expect(heard).toEqual([signature])
  })
})

describe('the faucet', () => {
  it('gives the same amount twice in one slot under two signatures', async () => {
    const { chain } = await openTestChain()
    const to = someone().toBase58()
    const [first, second] = [chain.airdrop(to, SOL), chain.airdrop(to, SOL)]
    expect(first).not.toBe(second)
    expect(chain.account(to)?.lamports).toBe(2n * SOL)
    expect(chain.transaction(second)).toMatchObject({ err: null, fee: 5000n })
  })

  it('refuses amounts that it cannot give', async () => {
    const { chain, parts } = await openTestChain()
    const to = someone().toBase58()
    expect(chain.account(parts.faucet.address)?.lamports).toBe(FAUCET_LAMPORTS)
    expect(() => chain.airdrop(to, FAUCET_LAMPORTS)).toThrow('is not enough for an airdrop')
    const least = chain.minimumBalance(0)
    const refused = `at least ${solText(least)}, the rent of a new account`
    expect(() => chain.airdrop(to, least - 1n)).toThrow(refused)
    expect(() => chain.airdrop(to, 0n)).toThrow('at least')
    expect(() => chain.airdrop('nobody', SOL)).toThrow('"nobody" is not an address')
    expect(chain.transactionCount()).toBe(0)
    chain.airdrop(to, least)
    chain.airdrop(to, 1n)
    expect(chain.account(to)?.lamports).toBe(least + 1n)
  })
})

const add = (a: bigint, b: bigint) => a + b
