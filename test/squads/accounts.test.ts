/** The accounts of Squads as a node may show them: real ones, cut ones, those of others, and noise. */

import { PublicKey } from '@solana/web3.js'
import * as squads from '@sqds/multisig'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  approvedProposal,
  decodeMultisig,
  decodeProposal,
  decodeSquadsSettings,
  decodeTransactionBuffer,
  decodeVaultTransaction,
  SquadsFault,
  squadsProposalAddress,
  vaultTransactionData,
} from '../../src/solana/squads/index.ts'
import { runs } from '../support/runs.ts'
import { someAddress } from '../support/wallets.ts'

const { generated } = squads
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes))
const u64 = fc.bigInt(0n, 2n ** 64n - 1n)
const account = (data: Uint8Array, owner: string = PROGRAMS.squads.id): ChainAccount => ({
  ...{ lamports: 1n, executable: false, owner, data },
})

/** Reads the bytes as every kind of account. */
const readers = (data: Uint8Array, multisig: string) => [
  () => decodeMultisig(multisig, account(data)),
  () => decodeProposal(account(data), multisig, 1n),
  () => decodeVaultTransaction(account(data), multisig, 1n),
  () => decodeSquadsSettings(multisig, account(data)),
  () => decodeTransactionBuffer(multisig, account(data)),
]

describe('a multisig', () => {
  it("is read as Squads' own client writes it", () => {
    fc.assert(
      fc.property(
        fc.record({
          configAuthority: key,
          threshold: fc.integer({ min: 1, max: 65_535 }),
          timeLock: fc.nat(0xffffffff),
          transactionIndex: u64,
          staleTransactionIndex: u64,
          rentCollector: fc.option(key),
          members: fc.array(fc.record({ key, mask: fc.nat(7) }), { minLength: 1, maxLength: 20 }),
        }),
        ({ members, ...rest }) => {
          const [data] = generated.Multisig.fromArgs({
            ...rest,
            createKey: PublicKey.default,
            bump: 255,
            transactionIndex: rest.transactionIndex as never,
            staleTransactionIndex: rest.staleTransactionIndex as never,
            members: members.map((member) => ({ key: member.key, permissions: { mask: member.mask } })),
          }).serialize()
          const address = someAddress()
          const authority = rest.configAuthority.toBase58()
          expect(decodeMultisig(address, account(data))).toEqual({
            address,
            threshold: rest.threshold,
            timeLock: rest.timeLock,
            transactionIndex: rest.transactionIndex,
            staleTransactionIndex: rest.staleTransactionIndex,
            rentCollector: rest.rentCollector?.toBase58() ?? null,
            configAuthority: authority === SYSTEM_PROGRAM ? null : authority,
            members: members.map(({ key: of, mask }) => ({
              address: of.toBase58(),
              initiate: (mask & 1) !== 0,
              vote: (mask & 2) !== 0,
              execute: (mask & 4) !== 0,
            })),
          })
        },
      ),
      { numRuns: runs(50, 1_000) },
    )
  })
})

describe('a proposal', () => {
  it("is read in every state as Squads' own client writes it, and only for its multisig and index", () => {
    fc.assert(
      fc.property(
        key,
        u64,
        fc.constantFrom('Draft', 'Active', 'Rejected', 'Approved', 'Executing', 'Executed', 'Cancelled'),
        fc.array(key, { maxLength: 5 }),
        fc.array(key, { maxLength: 5 }),
        (multisig, index, kind, approved, rejected) => {
          const status = kind === 'Executing' ? { __kind: kind } : { __kind: kind, timestamp: 1_800_000_000 }
          const [data] = generated.Proposal.fromArgs({
            multisig,
            transactionIndex: index as never,
            status: status as never,
            bump: 254,
            approved,
            rejected,
            cancelled: [],
          }).serialize()
          const of = multisig.toBase58()
          expect(decodeProposal(account(data), of, index)).toEqual({
            address: squadsProposalAddress(of, index),
            multisig: of,
            index,
            status: kind.toLowerCase(),
            timestamp: kind === 'Executing' ? null : 1_800_000_000n,
            approved: approved.map(String),
            rejected: rejected.map(String),
            cancelled: [],
          })
          expect(() => decodeProposal(account(data), someAddress(), index)).toThrow(SquadsFault)
          const other = index === 0n ? 1n : index - 1n
          expect(() => decodeProposal(account(data), of, other)).toThrow(/says that it is number/)
        },
      ),
      { numRuns: runs(50, 1_000) },
    )
  })

  it('that a trial writes is read as approved', () => {
    const [multisig, voter] = [someAddress(), someAddress()]
    expect(decodeProposal(account(approvedProposal(multisig, 7n, [voter])), multisig, 7n)).toMatchObject({
      ...{ status: 'approved', approved: [voter], rejected: [], cancelled: [], timestamp: 0n },
    })
  })
})

describe('an account of Squads', () => {
  it('of any bytes is read or refused with a sentence, also if its kind and its start are right', () => {
    const multisig = someAddress()
    const transaction = vaultTransactionData({
      ...{ multisig, creator: someAddress(), index: 1n, vaultIndex: 0, ephemeralSigners: 2 },
      message: {
        ...{ signers: 1, writableSigners: 1, writableOthers: 0, lookups: [] },
        keys: [someAddress(), SYSTEM_PROGRAM],
        instructions: [{ programIdIndex: 1, accounts: Uint8Array.of(0), data: Uint8Array.of(1, 2) }],
      },
    })
    const starts = ['multisig', 'proposal', 'vaultTransaction', 'programConfig', 'transactionBuffer'].map((name) =>
      Uint8Array.from(generated[`${name}Discriminator` as 'multisigDiscriminator']),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(new Uint8Array(), ...starts, transaction, approvedProposal(multisig, 1n, [multisig])),
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(400),
        (start, noise, cut) => {
          const data = Buffer.concat([start.subarray(0, cut), noise])
          for (const read of readers(data, multisig)) {
            try {
              read()
            } catch (error) {
              expect(error).toBeInstanceOf(SquadsFault)
              expect((error as Error).message).not.toMatch(/undefined|NaN|\[object/)
            }
          }
        },
      ),
      { numRuns: runs(500, 20_000) },
    )
  })

  it('of another program is refused with the name of its owner', () => {
    const [multisig, owner] = [someAddress(), someAddress()]
    const data = approvedProposal(multisig, 1n, [])
    const address = squadsProposalAddress(multisig, 1n)
    expect(() => decodeProposal(account(data, owner), multisig, 1n)).toThrow(
      `${address} is not a proposal of Squads v4: ${owner} owns it`,
    )
    expect(() => decodeVaultTransaction(account(data), multisig, 1n)).toThrow(
      / is a proposal, not a vault transaction$/,
    )
  })
})
