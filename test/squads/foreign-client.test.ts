/** Squads' own client beside ours, in both directions, on the real program. */

import { ComputeBudgetProgram, type Keypair, PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js'
import * as squads from '@sqds/multisig'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLookups, readMultisig, readProposal, readVaultTransaction } from '../../src/chain/programs/squads/index.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import {
  compactMessage,
  ephemeralSignerAddress,
  innerMessageOf,
  multisigAddress,
  readCompactMessage,
  squadsProposalAddress,
  squadsTransactionAddress,
  storedMessageDifference,
  transactionBufferAddress,
  unwrapMessage,
  vaultAddress,
} from '../../src/solana/squads/index.ts'
import { SOL, someone } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { addressOf, keyOf, lacksSquads, lookupTable, openSquads, type SquadsChain } from '../support/squads.ts'

const { instructions, accounts } = squads
const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes))
const byte = fc.nat(255)

describe('an address of Squads', () => {
  it("is that of Squads' own client for every key and index", () => {
    fc.assert(
      fc.property(address, address, byte, fc.bigInt(0n, 2n ** 64n - 1n), (multisig, member, small, index) => {
        const of = multisig.toBase58()
        const pda = (found: [PublicKey, number]) => found[0].toBase58()
        expect(multisigAddress(of)).toBe(pda(squads.getMultisigPda({ createKey: multisig })))
        expect(vaultAddress(of, small)).toBe(pda(squads.getVaultPda({ multisigPda: multisig, index: small })))
        const transaction = pda(squads.getTransactionPda({ multisigPda: multisig, index }))
        expect(squadsTransactionAddress(of, index)).toBe(transaction)
        expect(squadsProposalAddress(of, index)).toBe(
          pda(squads.getProposalPda({ multisigPda: multisig, transactionIndex: index })),
        )
        expect(ephemeralSignerAddress(transaction, small)).toBe(
          pda(squads.getEphemeralSignerPda({ transactionPda: keyOf(transaction), ephemeralSignerIndex: small })),
        )
        const seeds = [Buffer.from('multisig'), multisig.toBytes(), Buffer.from('transaction_buffer')]
        const buffer = PublicKey.findProgramAddressSync(
          [...seeds, member.toBytes(), Buffer.of(small)],
          squads.PROGRAM_ID,
        )
        expect(transactionBufferAddress(of, member.toBase58(), small)).toBe(pda(buffer))
      }),
      { numRuns: runs(30, 500) },
    )
  })
})

/** Instructions among few accounts, so that most accounts are used in several ways. */
const someInstructions = (vault: PublicKey, ephemeral: readonly PublicKey[]) =>
  fc
    .array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 2, maxLength: 8 })
    .map((keys) => keys.map((key) => new PublicKey(key)))
    .chain((keys) =>
      fc.array(
        fc.record({
          programId: fc.constantFrom(...keys),
          keys: fc.array(
            fc.record({
              pubkey: fc.constantFrom(vault, ...ephemeral, ...keys),
              isSigner: fc.boolean(),
              isWritable: fc.boolean(),
            }),
            { maxLength: 12 },
          ),
          data: fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
        }),
        { minLength: 1, maxLength: 6 },
      ),
    )
    .map((list) =>
      list.map((instruction) => ({
        ...instruction,
        keys: instruction.keys.map((key) => ({
          ...key,
          isSigner: key.isSigner && [vault, ...ephemeral].some((signer) => signer.equals(key.pubkey)),
        })),
      })),
    )

describe('the message of a vault transaction', () => {
  it("has the bytes of Squads' own client for every transaction, with and without a compute budget", () => {
    const multisig = someone().toBase58()
    const vault = keyOf(vaultAddress(multisig, 0))
    const transaction = squadsTransactionAddress(multisig, 1n)
    const ephemeral = [0, 1].map((i) => keyOf(ephemeralSignerAddress(transaction, i)))
    fc.assert(
      fc.property(someInstructions(vault, ephemeral), fc.boolean(), (list, hasBudget) => {
        const budget = hasBudget ? [ComputeBudgetProgram.setComputeUnitLimit({ units: 7 })] : []
        const built = compileTransaction({
          payer: vault,
          recentBlockhash: PublicKey.default.toBase58(),
          instructions: [...budget, ...list],
          bytesOf: (key: PublicKey) => key.toBytes(),
        })
        fc.pre(built.transaction.length <= 1232)
        const own = innerMessageOf(decodeWireTransaction(built.transaction), {
          vault: vault.toBase58(),
          ephemeral: ephemeral.map(String),
        })
        const message = new TransactionMessage({
          payerKey: vault,
          recentBlockhash: PublicKey.default.toBase58(),
          instructions: list,
        })
        const theirs = squads.utils.transactionMessageToMultisigTransactionMessageBytes({ message, vaultPda: vault })
        expect(Buffer.from(compactMessage(own)).toString('hex')).toBe(Buffer.from(theirs).toString('hex'))
      }),
      { numRuns: runs(200, 5_000) },
    )
  })
})

const theirVote = ({ multisig }: SquadsChain, index: bigint, by: Keypair) =>
  instructions.proposalApprove({ multisigPda: keyOf(multisig), transactionIndex: index, member: by.publicKey })

describe.skipIf(lacksSquads)(`Squads' own client ${lacksSquads}`, () => {
  it('reads, approves and executes what is proposed here', async () => {
    const own = await openSquads()
    const { node, multisig, svc, a, b, chain } = own
    const to = someone()
    const { index } = await own.propose(own.wrapped([own.pay(to, SOL)]))
    const shown = await accounts.Multisig.fromAccountAddress(node, keyOf(multisig))
    expect(shown.members.map(({ key, permissions }) => [key.toBase58(), permissions.mask])).toEqual(
      [[addressOf(svc), 5], ...[a, b, own.c].map((key) => [addressOf(key), 7])].toSorted(([x], [y]) =>
        Buffer.compare(keyOf(x as string).toBytes(), keyOf(y as string).toBytes()),
      ),
    )
    const stored = await accounts.VaultTransaction.fromAccountAddress(
      node,
      keyOf(squadsTransactionAddress(multisig, index)),
    )
    expect(stored.message.instructions).toHaveLength(1)
    for (const by of [a, b]) expect(own.send([theirVote(own, index, by)], [by]).err).toBeNull()
    const { instruction } = await instructions.vaultTransactionExecute({
      connection: node,
      multisigPda: keyOf(multisig),
      transactionIndex: index,
      member: a.publicKey,
    })
    expect(own.send([instruction], [a]).err).toBeNull()
    expect(chain.account(to.toBase58())!.lamports).toBe(SOL)
    expect((await readProposal(node, multisig, index)).proposal?.status).toBe('executed')
  })

  it('proposes what is read, approved and executed here, with a lookup table and 55 transfers', async () => {
    const own = await openSquads()
    const { node, multisig, vault, svc, chain } = own
    const wallets = Array.from({ length: 55 }, () => someone())
    const table = lookupTable(own, [...wallets, SystemProgram.programId])
    const list = wallets.map((to) => own.pay(to, 1_000_000))
    const message = new TransactionMessage({
      payerKey: keyOf(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: list,
    })
    const index = await own.nextIndex()
    // Their client puts the System program into the table too.
    const bytes = squads.utils.transactionMessageToMultisigTransactionMessageBytes({
      message,
      vaultPda: keyOf(vault),
      addressLookupTableAccounts: [table],
    })
    const inner = await readLookups(node, readCompactMessage(bytes))
    const { transactions } = await own.propose(inner)
    expect(transactions.length).toBe(3)
    const { transaction } = await readProposal(node, multisig, index)
    expect(storedMessageDifference(inner, transaction!.message)).toBeNull()
    const { keys, instructions: shown } = unwrapMessage(transaction!.message)
    expect(shown.map(({ accounts: places }) => keys[places[1]!])).toEqual(wallets.map(String))
    await own.approved(index)
    const execution = await own.execution(index, svc)
    expect(execution.transaction.length).toBeLessThan(600)
    const { err, logs } = own.land(execution, svc)
    expect(err, logs.slice(-3).join('\n')).toBeNull()
    for (const to of wallets) expect(chain.account(to.toBase58())!.lamports).toBe(1_000_000n)
  })

  it('proposes with its own instructions what is decoded here', async () => {
    const own = await openSquads({ proposer: 'ivx' })
    const { node, multisig, vault, svc, b, chain } = own
    const to = someone()
    const index = await own.nextIndex()
    const base = { multisigPda: keyOf(multisig), transactionIndex: index, creator: svc.publicKey }
    const transactionMessage = new TransactionMessage({
      payerKey: keyOf(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [own.pay(to, 5)],
    })
    const creation = instructions.vaultTransactionCreate({
      ...base,
      vaultIndex: 0,
      ephemeralSigners: 0,
      transactionMessage,
    })
    const landed = own.send([creation, instructions.proposalCreate(base), theirVote(own, index, svc)], [svc])
    expect(landed.err).toBeNull()
    const { proposal, transaction } = await readProposal(node, multisig, index)
    expect(proposal).toMatchObject({ status: 'active', approved: [addressOf(svc)], rejected: [], cancelled: [] })
    expect(transaction).toMatchObject({ creator: addressOf(svc), vaultIndex: 0, ephemeralSigners: 0 })
    expect(storedMessageDifference(own.wrapped([own.pay(to, 5)]), transaction!.message)).toBeNull()
    expect(storedMessageDifference(own.wrapped([own.pay(to, 6)]), transaction!.message)).toBe(
      'Instruction 1 of the stored transaction has other data: its amounts or terms were changed.',
    )
    const other = someone()
    expect(storedMessageDifference(own.wrapped([own.pay(other, 5)]), transaction!.message)).toBe(
      `Instruction 1 of the stored transaction has the account ${to} in place 2 instead of ${other}.`,
    )
    expect((await own.vote('approve', index, b)).err).toBeNull()
    chain.airdrop(to.toBase58(), SOL)
    expect((await own.execute(index, b)).err).toBeNull()
    expect(chain.account(to.toBase58())!.lamports).toBe(SOL + 5n)
    expect(await readVaultTransaction(node, multisig, index + 1n)).toBeNull()
    expect((await readMultisig(node, multisig)).transactionIndex).toBe(index)
  })

  it('makes a change of the rules, which is named for what it is', async () => {
    const own = await openSquads()
    const { node, multisig, a } = own
    const index = await own.nextIndex()
    const base = { multisigPda: keyOf(multisig), transactionIndex: index, creator: a.publicKey }
    const change = instructions.configTransactionCreate({
      ...base,
      actions: [{ __kind: 'SetTimeLock', newTimeLock: 5 }],
    })
    expect(own.send([change, instructions.proposalCreate(base)], [a]).err).toBeNull()
    await expect(readProposal(node, multisig, index)).rejects.toMatchObject({
      code: 'bad_request',
      message: `${squadsTransactionAddress(multisig, index)} is a change of the members or rules of a multisig, not a vault transaction`,
    })
  })
})
