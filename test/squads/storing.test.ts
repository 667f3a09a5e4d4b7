/** What the real program stores of a proposal: byte for byte what was planned, directly and through a buffer. */
import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, Keypair, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explainTransactionError } from '../../src/chain/errors/index.ts'
import {
  buildProposalCreation,
  buildReclaim,
  MOST_MESSAGE_BYTES,
  readProposal,
  readTransactionBuffers,
  readVaultTransaction,
  requireExecutable,
} from '../../src/chain/programs/squads/index.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction, maxBytesOf } from '../../src/solana/messages.ts'
import {
  compactMessage,
  innerMessageOf,
  NOTHING_LOADED,
  type PinnedMessage,
  pinMessage,
  readStoredMessage,
  SquadsFault,
  storedMessage,
  storedMessageDifference,
  vaultAddress,
} from '../../src/solana/squads/index.ts'
import { SOL, someone } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { addressOf, keyOf, lacksSquads, openSquads } from '../support/squads.ts'

/** A message of any shape that the program stores; it need not run. */
const messages = (vault: string) =>
  fc
    .record({
      signers: fc.integer({ min: 1, max: 4 }),
      others: fc.integer({ min: 0, max: 12 }),
      parts: fc.array(
        fc.record({
          program: fc.nat(),
          accounts: fc.array(fc.nat(), { maxLength: 20 }),
          data: fc.uint8Array({ maxLength: 300 }),
        }),
        { minLength: 1, maxLength: 8 },
      ),
      writable: fc.tuple(fc.nat(), fc.nat()),
    })
    .map(({ signers, others, parts, writable }): PinnedMessage => {
      const count = signers + others
      const keys = [vault, ...Array.from({ length: count - 1 }, () => someone().toBase58())]
      return pinMessage(
        {
          signers,
          writableSigners: (writable[0] % signers) + 1,
          writableOthers: writable[1] % (others + 1),
          keys,
          instructions: parts.map(({ program, accounts, data }) => ({
            programIdIndex: program % count,
            accounts: Uint8Array.from(accounts.map((place) => place % count)),
            data,
          })),
          lookups: [],
        },
        NOTHING_LOADED,
      )
    })

describe('a stored message', () => {
  it('is read as it was written, and no shortened or lengthened one is read', () => {
    fc.assert(
      fc.property(messages(someone().toBase58()), fc.nat(), (message, cut) => {
        const bytes = storedMessage(message)
        expect(pinMessage(readStoredMessage(bytes), NOTHING_LOADED)).toEqual(message)
        expect(() => readStoredMessage(bytes.subarray(0, cut % bytes.length))).toThrow(SquadsFault)
        expect(() => readStoredMessage(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(SquadsFault)
      }),
      { numRuns: runs(50, 1_000) },
    )
  })

  it('of any bytes is read, or refused with a sentence', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        try {
          expect(storedMessage(readStoredMessage(bytes))).toEqual(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(SquadsFault)
          expect((error as Error).message).toMatch(/^The message of the vault transaction cannot be read: /)
        }
      }),
      { numRuns: runs(500, 20_000) },
    )
  })
})

describe('an execution', () => {
  it('that locks more than 64 accounts is refused before it is proposed, also if a lookup table has them', async () => {
    const multisig = someone().toBase58()
    const vault = vaultAddress(multisig, 0)
    const member = someone().toBase58()
    const withTable = (count: number) => {
      const places = Uint8Array.from({ length: count }, (_, place) => place)
      const writable = Array.from({ length: count }, () => someone().toBase58())
      const shape = {
        signers: 1,
        writableSigners: 1,
        writableOthers: 0,
        keys: [vault, SystemProgram.programId.toBase58()],
      }
      const lookups = [{ table: someone().toBase58(), writable: places, readonly: new Uint8Array() }]
      const instructions = [{ programIdIndex: 1, accounts: places.map((place) => place + 2), data: new Uint8Array() }]
      return pinMessage({ ...shape, instructions, lookups }, { writable, readonly: [] })
    }
    const execution = (count: number, version: 0 | 1) =>
      requireExecutable(
        { multisig, index: 1n, vaultIndex: 0, ephemeralSigners: 0, message: withTable(count) },
        { member, version },
      )
    await execution(40, 0)
    for (const version of [0, 1] as const)
      await expect(execution(60, version)).rejects.toMatchObject({ details: { reason: 'execution_too_large' } })
  })
})

describe.skipIf(lacksSquads)(`the program ${lacksSquads}`, () => {
  it('stores every message as planned, directly or through a buffer, and no change goes unnoticed', async () => {
    const squads = await openSquads()
    const { node, multisig, vault } = squads
    await fc.assert(
      fc.asyncProperty(messages(vault), fc.nat(), fc.integer({ min: 1, max: 255 }), async (message, at, flip) => {
        const { index, buffer, transactions } = await squads.propose(message, { ephemeralSigners: 3 })
        expect(buffer === null).toBe(transactions.length === 1)
        const { transaction, proposal } = await readProposal(node, multisig, index)
        expect(proposal?.status).toBe('active')
        expect(transaction!.ephemeralSigners).toBe(3)
        expect(Buffer.from(storedMessage(transaction!.message)).equals(storedMessage(message))).toBe(true)
        expect(storedMessageDifference(message, transaction!.message)).toBeNull()
        const changed = Buffer.from(storedMessage(message))
        changed[at % changed.length]! ^= flip
        let other: PinnedMessage
        try {
          other = pinMessage(readStoredMessage(changed), NOTHING_LOADED)
        } catch {
          return
        }
        expect(storedMessageDifference(message, other)).toMatch(
          /^(Instruction \d+ of )?[Tt]he stored transaction .+\.$/,
        )
      }),
      { numRuns: runs(40, 400) },
    )
  })

  it('stores a message up to the largest that a buffer holds', async () => {
    const squads = await openSquads()
    const { node, multisig, vault } = squads
    const note = (bytes: number) =>
      new TransactionInstruction({
        programId: SystemProgram.programId,
        keys: [{ pubkey: keyOf(vault), isSigner: true, isWritable: true }],
        data: Buffer.alloc(bytes),
      })
    const sample = squads.wrapped([note(100)])
    const sized = (bytes: number): PinnedMessage => ({
      ...sample,
      instructions: [{ ...sample.instructions[0]!, data: new Uint8Array(bytes - compactMessage(sample).length + 100) }],
    })
    const counts: [number, number][] = []
    for (const bytes of [886, 887, 888, 911 + 981, 911 + 981 + 1, MOST_MESSAGE_BYTES]) {
      const inner = sized(bytes)
      const index = await squads.nextIndex()
      const terms = { multisig, vaultIndex: 0, index, member: addressOf(squads.svc), inner, ephemeralSigners: 0 }
      const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 })]
      const { transactions } = await buildProposalCreation({
        ...squads.envelope(),
        ...(bytes === MOST_MESSAGE_BYTES ? { before } : {}),
        ...{ ...terms, approve: false },
      })
      for (const transaction of transactions) {
        const { err, logs } = squads.land(transaction, squads.svc)
        expect(err, logs.join('\n')).toBeNull()
      }
      const { transaction } = await readProposal(node, multisig, index)
      expect(storedMessageDifference(inner, transaction!.message)).toBeNull()
      counts.push([bytes, transactions.length])
      // The chain takes equal transactions once, and this message has only zeros.
      expect(new Set(transactions.map(({ transaction: raw }) => Buffer.from(raw).toString('hex'))).size).toBe(
        transactions.length,
      )
    }
    expect(counts).toEqual([
      [886, 1],
      [887, 1],
      [888, 2],
      [1892, 3],
      [1893, 4],
      [10128, 12],
    ])
    const terms = { multisig, vaultIndex: 0, index: 9n, member: addressOf(squads.svc), ephemeralSigners: 0 }
    await expect(
      buildProposalCreation({ ...squads.envelope(), ...terms, inner: sized(MOST_MESSAGE_BYTES + 1), approve: false }),
    ).rejects.toThrow('The proposal has 10,129 bytes; Squads stores at most 10,128: split it into several')
  })

  it('takes a larger message in one transaction of version 1', async () => {
    const squads = await openSquads()
    const to = Array.from({ length: 20 }, () => someone())
    const inner = squads.wrapped(to.slice(0, 18).map((wallet) => squads.pay(wallet, 1_000_000)))
    const index = await squads.nextIndex()
    const messageConfig = {
      computeUnitLimit: 400_000,
      loadedAccountsDataSizeLimit: 8_388_608,
      priorityFeeLamports: null,
      heapSize: null,
    }
    const terms = {
      multisig: squads.multisig,
      vaultIndex: 0,
      index,
      member: addressOf(squads.svc),
      inner,
      ephemeralSigners: 0,
      approve: false,
    }
    const two = await buildProposalCreation({ ...squads.envelope(), ...terms })
    const one = await buildProposalCreation({ ...squads.envelope(), messageConfig, ...terms })
    expect([two.transactions.length, one.transactions.length]).toEqual([3, 1])
    const [built] = one.transactions
    expect(built!.transaction.length).toBeLessThan(maxBytesOf(built!.transaction))
    const { err, logs } = squads.land(built!, squads.svc)
    expect(err, logs.join('\n')).toBeNull()
    expect(
      storedMessageDifference(inner, (await readProposal(squads.node, squads.multisig, index)).transaction!.message),
    ).toBeNull()
  })

  it('gives the rent of a buffer back that is given up, and refuses the rest of it', async () => {
    const squads = await openSquads()
    const { node, multisig, svc, chain } = squads
    const inner = squads.wrapped(Array.from({ length: 25 }, () => squads.pay(someone(), 1_000_000)))
    const terms = {
      multisig,
      vaultIndex: 0,
      index: 1n,
      member: addressOf(svc),
      inner,
      ephemeralSigners: 0,
      approve: false,
    }
    const { transactions, buffer, messageBytes } = await buildProposalCreation({
      ...squads.envelope(),
      ...terms,
      bufferIndex: 1,
    })
    expect([transactions.length, messageBytes]).toEqual([3, 3 + 1 + 32 * 27 + 1 + 25 * 18 + 1])
    expect(squads.land(transactions[0]!, svc).err).toBeNull()
    const [none, started] = await readTransactionBuffers(node, multisig, addressOf(svc))
    expect(none).toBeNull()
    expect(started).toMatchObject({ creator: addressOf(svc), size: messageBytes, written: 911 })
    const early = squads.land(transactions[2]!, svc)
    expect(explainTransactionError(early.err, { logs: early.logs })).toMatchObject({ code: 6041 })
    const held = chain.account(buffer!)!.lamports
    const before = chain.account(addressOf(svc))!.lamports
    const closing = await buildReclaim({ ...squads.envelope(), multisig, index: 1n, rentCollector: null, buffers: [1] })
    expect(squads.land(closing, svc).err).toBeNull()
    expect(chain.account(addressOf(svc))!.lamports - before).toBe(held - 5_000n)
    expect(chain.account(buffer!)).toBeNull()
    expect(await readVaultTransaction(node, multisig, 1n)).toBeNull()
  })

  it('executes 25 transfers without a lookup table', async () => {
    const squads = await openSquads()
    const to = Array.from({ length: 25 }, () => someone())
    const { index } = await squads.propose(squads.wrapped(to.map((wallet) => squads.pay(wallet, 1_000_000))))
    await squads.approved(index)
    const execution = await squads.execution(index)
    expect(execution.transaction.length).toBeLessThanOrEqual(1232)
    expect(squads.land(execution, squads.svc).err).toBeNull()
    for (const wallet of to) expect(squads.chain.account(wallet.toBase58())!.lamports).toBe(1_000_000n)
  })

  it('signs for ephemeral signers, whose addresses the index fixes', async () => {
    const squads = await openSquads()
    const { vault, chain, multisig } = squads
    const index = await squads.nextIndex()
    const [mint = ''] = squads.ephemeral(index, 1)
    const list = [
      SystemProgram.createAccount({
        fromPubkey: keyOf(vault),
        newAccountPubkey: keyOf(mint),
        space: spl.MINT_SIZE,
        lamports: Number(chain.minimumBalance(spl.MINT_SIZE)),
        programId: spl.TOKEN_PROGRAM_ID,
      }),
      spl.createInitializeMint2Instruction(keyOf(mint), 6, keyOf(vault), null),
    ]
    expect(() => squads.wrapped(list)).toThrow(
      `${mint} must sign, but is neither the vault ${vault} nor one of its ephemeral signers: build it with the vault in this role`,
    )
    await squads.propose(squads.wrapped(list, [mint]), { ephemeralSigners: 1 })
    await squads.approved(index)
    expect((await squads.execute(index)).err).toBeNull()
    expect(chain.account(mint)!.owner).toBe(spl.TOKEN_PROGRAM_ID.toBase58())
    expect((await readVaultTransaction(squads.node, multisig, index))!.ephemeralSigners).toBe(1)
  })

  it('demands the signature of a wallet that the message names, which nobody gives by accident', async () => {
    const squads = await openSquads()
    const { svc, vault } = squads
    const mint = Keypair.generate()
    const list = [SystemProgram.transfer({ fromPubkey: svc.publicKey, toPubkey: mint.publicKey, lamports: SOL })]
    const { transaction } = compileTransaction({
      payer: keyOf(vault),
      recentBlockhash: squads.envelope().recentBlockhash,
      instructions: list,
      bytesOf: (key) => key.toBytes(),
    })
    const inner = innerMessageOf(decodeWireTransaction(transaction), { vault, cosigners: [addressOf(svc)] })
    const { index } = await squads.propose(inner, { by: squads.a })
    await squads.approved(index)
    await expect(squads.execution(index, svc)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining(`takes the signature of ${addressOf(svc)} for its own instructions`),
    })
    expect((await squads.execute(index, svc, [svc])).err).toBeNull()
    expect(squads.chain.account(addressOf(mint))!.lamports).toBe(SOL)
  })
})

describe('a transaction that a vault is to execute', () => {
  const multisig = someone().toBase58()
  const vault = vaultAddress(multisig, 0)
  const blockhash = someone().toBase58()
  const payment = (from: string) =>
    SystemProgram.transfer({ fromPubkey: keyOf(from), toPubkey: someone(), lamports: 1 })
  const wrap = (instructions: TransactionInstruction[], payer = vault) => {
    const { transaction } = compileTransaction({
      payer: keyOf(payer),
      recentBlockhash: blockhash,
      instructions,
      bytesOf: (key) => key.toBytes(),
    })
    return innerMessageOf(decodeWireTransaction(transaction), { vault })
  }

  it('is refused if another wallet pays, if it uses a durable nonce, and if nothing is left to execute', () => {
    const payer = someone().toBase58()
    expect(() => wrap([payment(payer)], payer)).toThrow(
      `The vault ${vault} must pay, but ${payer} does: build it for the vault`,
    )
    const nonce = SystemProgram.nonceAdvance({ noncePubkey: someone(), authorizedPubkey: keyOf(vault) })
    expect(() => wrap([nonce, payment(vault)])).toThrow(
      'A vault transaction cannot use a durable nonce: build it with a recent blockhash',
    )
    expect(() => wrap([ComputeBudgetProgram.setComputeUnitLimit({ units: 1 })])).toThrow(
      'The transaction has no instruction for the vault',
    )
  })

  it('loses its compute budget and the program of it, and keeps all else', () => {
    const pay = payment(vault)
    const budget = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
      ComputeBudgetProgram.requestHeapFrame({ bytes: 32_768 }),
    ]
    expect(wrap([...budget, pay])).toEqual(wrap([pay]))
    expect(wrap([pay, ...budget])).toEqual(wrap([pay]))
  })
})
