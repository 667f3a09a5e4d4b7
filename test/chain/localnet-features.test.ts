/** The embedded chain against the real runtime: lookup tables, nonces, tokens, bundles, simulations and its index. */

import * as spl from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TransactionRefused } from '../../src/solana/execution.ts'
import {
  balance,
  everything,
  MEMO,
  memo,
  mintOf,
  openTestChain,
  refusal,
  SOL,
  signed,
  signs,
  someone,
  thrownBy,
  transfer,
} from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

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
    test.wall.ms += test.chain.slotMs()
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
    const nextSlot = () => {
      test.wall.ms += test.chain.slotMs()
    }
    return { test, payer, value, advance, nextSlot }
  }

  it('keep a transaction valid until they are used', async () => {
    const { test, payer, value, advance, nextSlot } = await withNonce()
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
    expect(refusal(() => test.send([advance(), memo('next')], [payer], { blockhash: value() }))).toBe(
      'BlockhashNotFound',
    )
    nextSlot()
    expect(test.send([advance(), memo('next')], [payer], { blockhash: value() }).err).toBeNull()
  })

  it('change once in a slot, whatever blockhash a transaction has', async () => {
    const { test, payer, value, advance, nextSlot } = await withNonce()
    const { blockhash } = test.chain.latestBlockhash()
    const first = value()
    const notExpired = { InstructionError: [0, { Custom: 7 }] }
    const advanced = (text: string) => test.sign([advance(), memo(text)], [payer], { blockhash })
    expect(test.chain.simulate(advanced('simulated')).err).toEqual(notExpired)
    expect(test.chain.send(advanced('too early')).err).toEqual(notExpired)
    expect(value()).toBe(first)
    nextSlot()
    expect(test.chain.simulate(advanced('simulated'), { sigVerify: true }).err).toBeNull()
    expect(test.chain.sendBundle([advanced('one'), advanced('two')])).toMatchObject({ landed: false, err: notExpired })
    expect(value()).toBe(first)
    const landed = test.chain.send(advanced('in time'))
    expect([landed.err, Buffer.from(landed.raw)]).toEqual([null, Buffer.from(advanced('in time'))])
    expect(value()).not.toBe(first)
    expect(test.chain.send(advanced('twice')).err).toEqual(notExpired)
    nextSlot()
    const forged = advanced('forged')
    forged[1]! ^= 1
    expect(refusal(() => test.chain.send(forged))).toBe('SignatureFailure')
    expect(refusal(() => test.chain.simulate(forged, { sigVerify: true }))).toBe('SignatureFailure')
  })

  it('are also used up by a failing transaction', async () => {
    const { test, payer, value, advance, nextSlot } = await withNonce()
    const blockhash = value()
    nextSlot()
    const landed = test.send([advance(), transfer(payer, someone(), 1000n * SOL)], [payer], { blockhash })
    expect(landed.err).toEqual({ InstructionError: [1, { Custom: 1 }] })
    const next = value()
    expect(next).not.toBe(blockhash)
    await test.reopen()
    expect(value()).toBe(next)
    expect(refusal(() => test.send([advance(), memo('again')], [payer], { blockhash }))).toBe('BlockhashNotFound')
    nextSlot()
    expect(test.send([advance(), memo('next')], [payer], { blockhash: next }).err).toBeNull()
  })

  it('count only as the first instruction and with their authority', async () => {
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

  it('include the data that a program returns', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const mint = await mintOf(test, payer, spl.TOKEN_PROGRAM_ID)
    const landed = test.send([spl.createAmountToUiAmountInstruction(mint, 1_500_000n)], [payer])
    expect(landed.returnData?.programId).toBe(spl.TOKEN_PROGRAM_ID.toBase58())
    expect(Buffer.from(landed.returnData!.data).toString()).toBe('1.5')
  })
})

describe('a bundle on the embedded chain', () => {
  it('lands completely, in order and in one slot', async () => {
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

  it('has no effect if one of its transactions fails, is refused or occurs twice', async () => {
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
  it('shows the result and changes nothing', async () => {
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

  it('checks signatures and blockhash as requested', async () => {
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
  it('agrees with the runtime after any mix of work', { tags: 'sampled' }, async () => {
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
        test.wall.ms += test.chain.slotMs()
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
      { numRuns: runs(6, 60) },
    )
    expect(counts.landed).toBeGreaterThan(runs(0, 30))
    expect(counts.failed).toBeGreaterThanOrEqual(runs(0, 6))
  })
})

describe('the clock sysvar', () => {
  it('has the current time, even if nothing has run for long', async () => {
    const { chain, wall } = await openTestChain()
    const read = () =>
      Buffer.from(chain.account('SysvarC1ock11111111111111111111111111111111')!.data).readBigInt64LE(32)
    const before = read()
    wall.ms += 90_000
    expect(read() - before).toBe(90n)
    chain.advance(3_600)
    expect(read() - before).toBe(3_690n)
  })
})
