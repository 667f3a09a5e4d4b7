/** The embedded chain against the real runtime: time, refusals, fees, history, tables, nonces, tokens, bundles. */

import { createHash } from 'node:crypto'
import * as spl from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FAUCET_LAMPORTS } from '../../src/chain/localnet/faucet.ts'
import { MalformedTransaction } from '../../src/chain/localnet/messages.ts'
import { type LandedTransaction, TransactionRefused } from '../../src/chain/localnet/types.ts'
import { openTestChain, SOL, START_MS, signed, type TestChain, thrownBy, transfer } from '../support/local-chain.ts'

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const memo = (text: string) => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) })
const someone = () => Keypair.generate().publicKey
const balance = ({ chain }: TestChain, key: PublicKey) => chain.account(key.toBase58())?.lamports ?? 0n

/** Name of the refusal a call ended with. */
function refusal(call: () => unknown): unknown {
  const error = thrownBy(call)
  expect(error).toBeInstanceOf(TransactionRefused)
  return (error as TransactionRefused).err
}

/** Every account there is, by asking the runtime itself, its data as a hash. */
function everything({ parts }: TestChain) {
  const accounts = [...parts.index.addresses()].map((address) => {
    const account = parts.runtime.get(address)
    const digest = account === null ? null : createHash('sha256').update(account.data).digest('hex')
    return [address, { lamports: 0n, ...account, data: digest }] as const
  })
  return new Map(accounts)
}

describe('time', () => {
  it('makes a slot of every 400 milliseconds and shows commitments behind it', async () => {
    const { chain, wall } = await openTestChain()
    const first = chain.slot()
    wall.ms += 399
    expect(chain.slot()).toBe(first)
    wall.ms += 1
    expect(chain.slot()).toBe(first + 1)
    expect([chain.slot('confirmed'), chain.slot('finalized')]).toEqual([first, first - 31])
    expect(chain.unixTimestamp()).toBe(START_MS / 1000)
    chain.advance(3600)
    expect(chain.unixTimestamp()).toBe(START_MS / 1000 + 3600)
    expect(chain.slot()).toBe(first + 1 + 9000)
    expect(chain.blockTime(first + 2500)).toBe(START_MS / 1000 + 1000)
  })

  it('only moves ahead', async () => {
    const { chain, wall } = await openTestChain()
    for (const seconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
      expect(() => chain.advance(seconds)).toThrow(RangeError)
    }
    const slot = chain.slot()
    wall.ms -= 3_600_000
    expect(chain.slot()).toBe(slot)
    wall.ms += 400
    expect(chain.slot()).toBe(slot + 1)
  })

  it('takes a blockhash for 150 slots and not one more', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const { blockhash, lastValidBlockHeight } = test.chain.latestBlockhash()
    const raws = [1, 2].map((lamports) => test.sign([transfer(payer, payer.publicKey, lamports)], [payer]))
    test.chain.advance(60)
    expect(test.chain.slot()).toBe(lastValidBlockHeight)
    expect(test.chain.isBlockhashValid(blockhash)).toBe(true)
    expect(test.chain.send(raws[0]!).err).toBeNull()
    test.wall.ms += 400
    expect(test.chain.isBlockhashValid(blockhash)).toBe(false)
    expect(refusal(() => test.chain.send(raws[1]!))).toBe('BlockhashNotFound')
  })

  it('is what programs read from the clock', async () => {
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
    test.wall.ms += 900
    const payer = test.wallet()
    const first = test.send([memo('a')], [payer])
    test.wall.ms += 250
    const second = test.send([memo('b')], [payer])
    expect(second.slot).toBe(first.slot)
    expect([second.blockTime, second.index]).toEqual([first.blockTime, first.index + 1])
    expect(test.chain.blockTime(first.slot)).toBe(first.blockTime)
  })
})

describe('a transaction that cannot land', () => {
  it('is refused for what a validator would name, and leaves nothing', async () => {
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
    const twice = new TransactionInstruction({ programId: someone(), keys: [], data: Buffer.alloc(0) })
    const cases: [string, Uint8Array][] = [
      ['SignatureFailure', forged],
      ['SignatureFailure', forgedAndStale],
      ['BlockhashNotFound', test.sign([memo('stale')], [payer], { blockhash: chain.blockhashOf(chain.slot() - 151) })],
      ['BlockhashNotFound', test.sign([memo('strange')], [payer], { blockhash: someone().toBase58() })],
      ['AccountNotFound', test.sign([memo('nobody')], [Keypair.generate()])],
      ['InsufficientFundsForFee', test.sign([memo('poor')], [poor])],
      ['ProgramAccountNotFound', test.sign([twice], [payer])],
      [
        'InvalidProgramForExecution',
        test.sign([new TransactionInstruction({ programId: spl.NATIVE_MINT, keys: [] })], [payer]),
      ],
    ]
    const before = everything(test)
    const count = chain.transactionCount()
    for (const [name, raw] of cases) expect([name, refusal(() => chain.send(raw))]).toEqual([name, name])
    expect(everything(test)).toEqual(before)
    expect(chain.transactionCount()).toBe(count)
  })

  it('is refused when it is larger than 1,232 bytes or no transaction at all', async () => {
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

  it('never brings the process down, whatever its bytes', async () => {
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
      { numRuns: 400 },
    )
  })

  it('is refused as a duplicate once it has landed, with success or not', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const works = test.sign([memo('once')], [payer])
    const fails = test.sign([transfer(payer, someone(), 1000n * SOL)], [payer])
    expect(test.chain.send(works).err).toBeNull()
    expect(test.chain.send(fails).err).toEqual({ InstructionError: [0, { Custom: 1 }] })
    const before = balance(test, payer.publicKey)
    for (let i = 0; i < 300; i++) test.send([memo(`between ${i}`)], [payer])
    for (const raw of [works, fails]) expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
    await test.reopen()
    for (const raw of [works, fails]) expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
    expect(balance(test, payer.publicKey)).toBe(before - 300n * 5000n)
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

  it('tells errors as a validator does', async () => {
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

  it('costs to the lamport what was told before', async () => {
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
          test.wall.ms += 400
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
      { numRuns: 150 },
    )
    expect(landed).toBeGreaterThan(30)
  })

  it('has its place in the history of each of its accounts', async () => {
    const test = await openTestChain()
    const { chain } = test
    const payer = test.wallet()
    const address = payer.publicKey.toBase58()
    const landed: LandedTransaction[] = []
    for (let i = 0; i < 9; i++) {
      if (i % 3 === 0) test.wall.ms += 800
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

  it('is told to listeners once it is durable, even if one of them fails', async () => {
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

  it('says no to what it cannot give', async () => {
    const { chain, parts } = await openTestChain()
    const to = someone().toBase58()
    expect(chain.account(parts.faucet.address)?.lamports).toBe(FAUCET_LAMPORTS)
    expect(() => chain.airdrop(to, FAUCET_LAMPORTS)).toThrow('is not enough for an airdrop')
    expect(() => chain.airdrop(to, 890_879n)).toThrow('at least 890880 lamports, the rent of a new account')
    expect(() => chain.airdrop(to, 0n)).toThrow('at least')
    expect(() => chain.airdrop('nobody', SOL)).toThrow('"nobody" is not an address')
    expect(chain.transactionCount()).toBe(0)
    chain.airdrop(to, 890_880n)
    chain.airdrop(to, 1n)
    expect(chain.account(to)?.lamports).toBe(890_881n)
  })
})

describe('address lookup tables', () => {
  it('work from creation to use, under the rules of their program', async () => {
    const test = await openTestChain()
    const { chain } = test
    const payer = test.wallet()
    test.wall.ms += 4000
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: chain.slot('confirmed'),
    })
    expect(test.send([create], [payer]).err).toBeNull()
    const addresses = Array.from({ length: 20 }, () => test.wallet(SOL).publicKey)
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: payer.publicKey,
      authority: payer.publicKey,
      lookupTable: table,
      addresses,
    })
    expect(test.send([extend], [payer]).err).toBeNull()

    const opened = new AddressLookupTableAccount({
      key: table,
      state: AddressLookupTableAccount.deserialize(chain.account(table.toBase58())!.data),
    })
    const use = (account = opened) =>
      test.sign(
        addresses.map((address) => transfer(payer, address, 1)),
        [payer],
        { tables: [account] },
      )
    expect(refusal(() => chain.send(use()))).toBe('InvalidAddressLookupTableIndex')
    test.wall.ms += 400
    const landed = chain.send(use())
    expect(landed).toMatchObject({ err: null, fee: 5000n })
    expect(landed.loadedAddresses).toEqual({ writable: addresses.map((key) => key.toBase58()), readonly: [] })
    expect(landed.accountKeys.slice(-20)).toEqual(landed.loadedAddresses.writable)
    expect(landed.postBalances.slice(-20)).toEqual(addresses.map(() => SOL + 1n))
    await test.reopen()
    expect(test.chain.transaction(landed.signature)).toEqual(landed)
    expect(test.chain.signaturesFor(addresses[7]!.toBase58(), { limit: 1 })[0]?.signature).toBe(landed.signature)

    const pretend = (key: PublicKey) => use(new AddressLookupTableAccount({ key, state: opened.state }))
    expect(refusal(() => test.chain.send(pretend(someone())))).toBe('AddressLookupTableNotFound')
    expect(refusal(() => test.chain.send(pretend(payer.publicKey)))).toBe('InvalidAddressLookupTableOwner')

    // A table's address that the message names, too: web3.js would not compile it, so the bytes are changed.
    const twice = test.sign([transfer(payer, addresses[0]!, 1), transfer(payer, addresses[1]!, 1)], [payer], {
      tables: [opened],
    })
    const [first, second] = twice.subarray(-3, -1)
    expect([first, second]).toEqual([0, 1])
    twice[twice.length - 2] = 0
    expect(refusal(() => test.chain.simulate(twice))).toBe('AccountLoadedTwice')
  })
})

describe('durable nonces', () => {
  async function withNonce() {
    const test = await openTestChain()
    const payer = test.wallet()
    const nonce = Keypair.generate()
    const created = test.send(
      [
        SystemProgram.createNonceAccount({
          fromPubkey: payer.publicKey,
          noncePubkey: nonce.publicKey,
          authorizedPubkey: payer.publicKey,
          lamports: Number(test.chain.minimumBalance(NONCE_ACCOUNT_LENGTH)),
        }),
      ].flatMap((transaction) => transaction.instructions),
      [payer, nonce],
    )
    expect(created.err).toBeNull()
    const value = () => NonceAccount.fromAccountData(test.chain.account(nonce.publicKey.toBase58())!.data).nonce
    const advance = (authorizedPubkey = payer.publicKey) =>
      SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey })
    return { test, payer, value, advance }
  }

  it('keep a transaction valid for as long as nobody uses them', async () => {
    const { test, payer, value, advance } = await withNonce()
    const blockhash = value()
    const raw = test.sign([advance(), memo('later')], [payer], { blockhash })
    const rival = test.sign([advance(), memo('rival')], [payer], { blockhash })
    expect(test.chain.feeForMessage(raw.subarray(65))).toBe(5000n)
    test.chain.advance(86_400)
    await test.reopen()
    expect(test.chain.send(raw).err).toBeNull()
    expect(value()).not.toBe(blockhash)
    expect(refusal(() => test.chain.send(rival))).toBe('BlockhashNotFound')
    expect(refusal(() => test.chain.send(raw))).toBe('AlreadyProcessed')
    expect(test.send([advance(), memo('next')], [payer], { blockhash: value() }).err).toBeNull()
  })

  it('are used up by a transaction that fails, too', async () => {
    const { test, payer, value, advance } = await withNonce()
    const blockhash = value()
    const landed = test.send([advance(), transfer(payer, someone(), 1000n * SOL)], [payer], { blockhash })
    expect(landed.err).toEqual({ InstructionError: [1, { Custom: 1 }] })
    const next = value()
    expect(next).not.toBe(blockhash)
    await test.reopen()
    expect(value()).toBe(next)
    expect(refusal(() => test.send([advance(), memo('again')], [payer], { blockhash }))).toBe('BlockhashNotFound')
    expect(test.send([advance(), memo('next')], [payer], { blockhash: next }).err).toBeNull()
  })

  it('count only in the first place and with their authority', async () => {
    const { test, payer, value, advance } = await withNonce()
    const stranger = test.wallet()
    const blockhash = value()
    const tries: [TransactionInstruction[], Keypair[]][] = [
      [[memo('first'), advance()], [payer]],
      [[memo('only')], [payer]],
      [[advance(stranger.publicKey)], [stranger]],
    ]
    for (const [instructions, signers] of tries) {
      expect(refusal(() => test.send(instructions, signers, { blockhash }))).toBe('BlockhashNotFound')
    }
    expect(value()).toBe(blockhash)
  })
})

describe('token balances', () => {
  it.each([
    ['SPL Token', spl.TOKEN_PROGRAM_ID],
    ['Token-2022', spl.TOKEN_2022_PROGRAM_ID],
  ])('of %s are recorded before and after, and found by wallet and mint', async (_, program) => {
    const test = await openTestChain()
    const { chain } = test
    const payer = test.wallet()
    const to = someone()
    const mint = await mintOf(test, payer, program)
    const [from, target] = [payer.publicKey, to].map((owner) =>
      spl.getAssociatedTokenAddressSync(mint, owner, true, program),
    ) as [PublicKey, PublicKey]
    test.send(
      [
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, from, payer.publicKey, mint, program),
        spl.createMintToInstruction(mint, from, payer.publicKey, 1000n, [], program),
      ],
      [payer],
    )
    const landed = test.send(
      [
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, target, to, mint, program),
        spl.createTransferCheckedInstruction(from, mint, target, payer.publicKey, 400n, 6, [], program),
      ],
      [payer],
    )
    expect(landed.err).toBeNull()
    const at = (key: PublicKey) => landed.accountKeys.indexOf(key.toBase58())
    const entry = (key: PublicKey, owner: PublicKey, amount: bigint) => ({
      accountIndex: at(key),
      mint: mint.toBase58(),
      owner: owner.toBase58(),
      programId: program.toBase58(),
      amount,
      decimals: 6,
    })
    const byIndex = <T extends { accountIndex: number }>(list: T[]) =>
      [...list].sort((a, b) => a.accountIndex - b.accountIndex)
    expect(landed.preTokenBalances).toEqual([entry(from, payer.publicKey, 1000n)])
    expect(landed.postTokenBalances).toEqual(byIndex([entry(from, payer.publicKey, 600n), entry(target, to, 400n)]))
    expect(landed.innerInstructions.map(({ index }) => index)).toEqual([0])
    expect(landed.innerInstructions[0]!.instructions.length).toBeGreaterThanOrEqual(4)
    expect(landed.innerInstructions[0]!.instructions.every(({ stackHeight }) => stackHeight === 2)).toBe(true)
    expect([...chain.tokenAccountsOf(to.toBase58())].map(([address]) => address)).toEqual([target.toBase58()])
    expect([...chain.tokenAccountsOfMint(mint.toBase58())].map(([address]) => address).sort()).toEqual(
      [from.toBase58(), target.toBase58()].sort(),
    )

    const closed = test.send(
      [
        spl.createBurnInstruction(from, mint, payer.publicKey, 600n, [], program),
        spl.createCloseAccountInstruction(from, payer.publicKey, payer.publicKey, [], program),
      ],
      [payer],
    )
    expect(closed.err).toBeNull()
    expect(closed.preTokenBalances.map(({ amount }) => amount)).toEqual([600n])
    expect(closed.postTokenBalances).toEqual([])
    expect([...chain.tokenAccountsOf(payer.publicKey.toBase58())]).toEqual([])
    await test.reopen()
    expect(test.chain.transaction(landed.signature)).toEqual(landed)
    expect([...test.chain.tokenAccountsOfMint(mint.toBase58())].map(([address]) => address)).toEqual([
      target.toBase58(),
    ])
  })

  it('carry what a program returns', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const mint = await mintOf(test, payer, spl.TOKEN_PROGRAM_ID)
    const landed = test.send([spl.createAmountToUiAmountInstruction(mint, 1_500_000n)], [payer])
    expect(landed.returnData?.programId).toBe(spl.TOKEN_PROGRAM_ID.toBase58())
    expect(Buffer.from(landed.returnData!.data).toString()).toBe('1.5')
  })
})

describe('a bundle', () => {
  it('lands whole, in order and in one slot', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const middle = Keypair.generate()
    const to = someone()
    const raws = [
      test.sign([transfer(payer, middle.publicKey, 2n * SOL)], [payer]),
      test.sign([transfer(middle, to, SOL)], [middle]),
    ]
    const outcome = test.chain.sendBundle(raws)
    expect(outcome).toMatchObject({ landed: true, slot: test.chain.slot() })
    expect(balance(test, to)).toBe(SOL)
    const landed = test.chain.transactionsInSlot(test.chain.slot()).slice(-2)
    expect(landed.map(({ raw }) => raw)).toEqual(raws)
    expect(landed[1]!.index).toBe(landed[0]!.index + 1)
  })

  it('leaves nothing when one of its transactions fails, is refused or comes twice', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const mint = await mintOf(test, payer, spl.TOKEN_PROGRAM_ID)
    const account = spl.getAssociatedTokenAddressSync(mint, payer.publicKey)
    const creates = test.sign(
      [
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, account, payer.publicKey, mint),
        spl.createMintToInstruction(mint, account, payer.publicKey, 5n),
      ],
      [payer],
    )
    const empties = test.sign([transfer(payer, someone(), 50n * SOL)], [payer])
    const cases: [unknown, Uint8Array[]][] = [
      [
        { InstructionError: [0, { Custom: 1 }] },
        [creates, empties, test.sign([transfer(payer, someone(), 60n * SOL)], [payer])],
      ],
      ['BlockhashNotFound', [creates, test.sign([memo('x')], [payer], { blockhash: someone().toBase58() })]],
      ['AlreadyProcessed', [creates, empties, creates]],
    ]
    const before = everything(test)
    const count = test.chain.transactionCount()
    for (const [err, raws] of cases) {
      expect(test.chain.sendBundle(raws)).toMatchObject({ landed: false, err })
      expect(everything(test)).toEqual(before)
    }
    expect(test.chain.transactionCount()).toBe(count)
    expect([...test.chain.tokenAccountsOf(payer.publicKey.toBase58())]).toEqual([])
    await test.reopen()
    expect(test.chain.transactionCount()).toBe(count)
    expect(test.chain.sendBundle([creates, empties])).toMatchObject({ landed: true })
  })
})

describe('a simulation', () => {
  it('shows what would be and changes nothing', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const to = someone()
    const raw = test.sign([transfer(payer, to, SOL)], [payer])
    const before = everything(test)
    const simulated = test.chain.simulate(raw, {
      sigVerify: true,
      accounts: [to.toBase58(), payer.publicKey.toBase58(), MEMO.toBase58(), someone().toBase58()],
    })
    expect(simulated).toMatchObject({ err: null, unitsConsumed: 150, replacementBlockhash: null })
    expect(simulated.accounts.map((account) => account?.lamports ?? null)).toEqual([
      SOL,
      99n * SOL - 5000n,
      test.chain.account(MEMO.toBase58())!.lamports,
      null,
    ])
    expect(everything(test)).toEqual(before)
    expect(test.chain.transactionCount()).toBe(1)
    const { logs, unitsConsumed } = test.chain.send(raw)
    expect({ logs, unitsConsumed }).toEqual({ logs: simulated.logs, unitsConsumed: simulated.unitsConsumed })
  })

  it('looks at signatures and blockhash as it is told', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const stale = signed([transfer(payer, someone(), SOL)], [payer], { blockhash: test.chain.blockhashOf(1) })
    const unsigned = test.sign([transfer(payer, someone(), SOL)], [payer]).fill(0, 1, 65)
    expect(refusal(() => test.chain.simulate(stale))).toBe('BlockhashNotFound')
    const { blockhash } = test.chain.latestBlockhash()
    expect(test.chain.simulate(stale, { replaceRecentBlockhash: true })).toMatchObject({
      err: null,
      replacementBlockhash: { blockhash, lastValidBlockHeight: test.chain.slot() + 150 },
    })
    expect(refusal(() => test.chain.simulate(unsigned, { sigVerify: true }))).toBe('SignatureFailure')
    expect(test.chain.simulate(unsigned).err).toBeNull()
    // Leniency ends with the simulation.
    expect(refusal(() => test.chain.send(unsigned))).toBe('SignatureFailure')
    const failing = test.sign([transfer(payer, someone(), 1000n * SOL)], [payer])
    expect(test.chain.simulate(failing, { accounts: [payer.publicKey.toBase58()] })).toMatchObject({
      err: { InstructionError: [0, { Custom: 1 }] },
      accounts: [null],
    })
    expect(refusal(() => test.chain.simulate(test.sign([memo('nobody')], [Keypair.generate()])))).toBe(
      'AccountNotFound',
    )
  })
})

describe('the account index', () => {
  it('agrees with the runtime after any mixture of work', async () => {
    const test = await openTestChain()
    const { chain, parts } = test
    const wallets = Array.from({ length: 4 }, () => test.wallet())
    const mints = [
      await mintOf(test, wallets[0]!, spl.TOKEN_PROGRAM_ID),
      await mintOf(test, wallets[0]!, spl.TOKEN_2022_PROGRAM_ID),
    ]
    const programs = [spl.TOKEN_PROGRAM_ID, spl.TOKEN_2022_PROGRAM_ID]
    const step = fc.record({
      what: fc.constantFrom('transfer', 'drain', 'mint', 'hand over', 'close', 'bundle'),
      from: fc.nat(3),
      to: fc.nat(3),
      token: fc.nat(1),
      amount: fc.bigInt({ min: 1n, max: 3n * SOL }),
    })
    type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
    const instructionsOf = ({ what, from, to, token, amount }: Step): TransactionInstruction[] => {
      const [payer, other] = [wallets[from]!, wallets[to]!]
      const [mint, program] = [mints[token]!, programs[token]!]
      const held = spl.getAssociatedTokenAddressSync(mint, payer.publicKey, false, program)
      switch (what) {
        case 'mint':
          return [
            spl.createAssociatedTokenAccountIdempotentInstruction(
              payer.publicKey,
              held,
              payer.publicKey,
              mint,
              program,
            ),
            spl.createMintToInstruction(mint, held, wallets[0]!.publicKey, amount, [], program),
          ]
        case 'hand over':
          return [
            spl.createSetAuthorityInstruction(
              held,
              payer.publicKey,
              spl.AuthorityType.AccountOwner,
              other.publicKey,
              [],
              program,
            ),
          ]
        case 'close':
          return [
            spl.createBurnInstruction(held, mint, payer.publicKey, 1n, [], program),
            spl.createCloseAccountInstruction(held, other.publicKey, payer.publicKey, [], program),
          ]
        case 'drain':
          return [transfer(payer, other.publicKey, balance(test, payer.publicKey) - 5000n)]
        default:
          return [transfer(payer, other.publicKey, amount)]
      }
    }
    const supply = () => [...everything(test).values()].reduce((sum, { lamports }) => sum + lamports, 0n)
    const start = supply()
    let fees = 0n
    const counts = { landed: 0, failed: 0, refused: 0 }
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        test.wall.ms += 400
        const raws = steps.map((one) => {
          const instructions = instructionsOf(one)
          const payer = wallets[one.from]!
          return test.sign(instructions, [
            payer,
            ...(one.from !== 0 && signs(instructions, wallets[0]!.publicKey) ? [wallets[0]!] : []),
          ])
        })
        if (steps[0]!.what === 'bundle') {
          const outcome = chain.sendBundle(raws)
          if (outcome.landed) {
            for (const signature of outcome.signatures) fees += chain.transaction(signature)!.fee
          }
        } else {
          for (const raw of raws) {
            const error = thrownBy(() => {
              const { fee, err } = chain.send(raw)
              fees += fee
              counts[err === null ? 'landed' : 'failed']++
            })
            if (error === undefined) continue
            expect(error).toBeInstanceOf(TransactionRefused)
            counts.refused++
          }
        }
        for (const owner of [...programs, SystemProgram.programId].map((key) => key.toBase58())) {
          const found = parts.runtime.ownedBy(owner)
          expect(new Map(chain.accountsOwnedBy(owner))).toEqual(new Map(found))
        }
        for (const { publicKey } of wallets) {
          const expected = programs
            .flatMap((program) => parts.runtime.ownedBy(program.toBase58()))
            .filter(([, { data }]) => data.length >= 165 && publicKey.equals(new PublicKey(data.subarray(32, 64))))
          expect(new Map(chain.tokenAccountsOf(publicKey.toBase58()))).toEqual(new Map(expected))
        }
        expect(start - supply()).toBe(fees)
        for (const wallet of wallets) {
          if (balance(test, wallet.publicKey) > 10n * SOL) continue
          fees += chain.transaction(chain.airdrop(wallet.publicKey.toBase58(), 20n * SOL))!.fee
        }
      }),
      { numRuns: 60 },
    )
    expect(counts.landed).toBeGreaterThan(30)
    expect(counts.failed).toBeGreaterThan(5)
  })
})

const add = (a: bigint, b: bigint) => a + b

function signs(instructions: TransactionInstruction[], key: PublicKey): boolean {
  return instructions.some(({ keys }) => keys.some(({ pubkey, isSigner }) => isSigner && pubkey.equals(key)))
}

async function mintOf(test: TestChain, payer: Keypair, program: PublicKey): Promise<PublicKey> {
  const mint = Keypair.generate()
  const landed = test.send(
    [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: mint.publicKey,
        space: spl.MINT_SIZE,
        lamports: Number(test.chain.minimumBalance(spl.MINT_SIZE)),
        programId: program,
      }),
      spl.createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null, program),
    ],
    [payer, mint],
  )
  expect(landed.err).toBeNull()
  return mint.publicKey
}
