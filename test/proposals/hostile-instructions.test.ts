/** What hostile acts look like to whoever approves them: who gains is in the text, and beside the balances of a run. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import {
  AddressLookupTableProgram,
  Keypair,
  PublicKey,
  StakeProgram,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { instructions as squads, types } from '@sqds/multisig'
import { describe, expect, it } from 'vitest'
import { describeMessage } from '../../src/chain/instructions/describe.ts'
import { controlChanges } from '../../src/chain/sending/control-states.ts'
import { simulateDecoded } from '../../src/chain/sending/simulations.ts'
import { printable } from '../../src/platform/printable.ts'
import { instructionTexts } from '../../src/solana/described-instructions.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { MEMO_PROGRAM, UPGRADEABLE_LOADER } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { mintOf, openTestChain, SOL, someone } from '../support/local-chain.ts'
import { mapped } from '../support/mapped.ts'
import { embeddedNode } from '../support/node.ts'
import { flat, requireWhole } from '../support/whole-texts.ts'

const [vault, thief, mint, account, asset, other] = mapped([1, 2, 3, 4, 5, 6], () => someone())
const none = Buffer.of(0)
const key = (pubkey: PublicKey, isSigner = false, isWritable = true) => ({ pubkey, isSigner, isWritable })
const call = (program: string, keys: ReturnType<typeof key>[], ...data: Uint8Array[]) =>
  new TransactionInstruction({ programId: new PublicKey(program), keys, data: Buffer.concat(data) })
const core = (tag: number, keys: ReturnType<typeof key>[], ...data: Uint8Array[]) =>
  call(PROGRAMS.core.id, keys, Buffer.of(tag), ...data)
const coreEnd = [key(SystemProgram.programId, false, false), key(new PublicKey(PROGRAMS.core.id), false, false)]
const setAuthority = (type: spl.AuthorityType, program = spl.TOKEN_2022_PROGRAM_ID) =>
  spl.createSetAuthorityInstruction(mint, vault, type, thief, [], program)

/** By what an approver must read in the part about control; null for an act that is only shown whole. */
const ACTS: readonly [title: string, words: RegExp | null, act: TransactionInstruction][] = [
  [
    'an assign of the vault with its new owner as an account',
    /goes to the program THIEF/,
    new TransactionInstruction({
      ...SystemProgram.assign({ accountPubkey: vault, programId: thief }),
      keys: [key(vault, true), key(thief, false, false)],
    }),
  ],
  [
    'an assign with a seed',
    /goes to the program THIEF/,
    SystemProgram.assign({ accountPubkey: account, basePubkey: vault, seed: 'x', programId: thief }),
  ],
  [
    'a nonce that gets another authority',
    /authority over the nonce .* goes to THIEF/,
    SystemProgram.nonceAuthorize({ noncePubkey: account, authorizedPubkey: vault, newAuthorizedPubkey: thief }),
  ],
  [
    'a Core asset that is transferred',
    /the asset .* goes to THIEF/,
    core(14, [key(asset), key(other), key(vault, true), key(vault, true), key(thief), ...coreEnd], none),
  ],
  [
    'a Core asset with another update authority',
    /update authority of the asset .* becomes Address THIEF/,
    core(
      15,
      [key(asset), key(other), key(vault, true), key(vault, true), ...coreEnd],
      none,
      none,
      Buffer.of(1, 1),
      thief.toBytes(),
    ),
  ],
  [
    'a Core collection with another update authority',
    /update authority of the collection .* goes to THIEF/,
    core(16, [key(other), key(vault, true), key(vault, true), key(thief), ...coreEnd], none, none),
  ],
  [
    'a Core plugin that lets somebody transfer the asset',
    /gets the plugin TransferDelegate, with Address \{address: THIEF\} as its authority/,
    core(
      2,
      [key(asset), key(other), key(vault, true), key(vault, true), ...coreEnd],
      Buffer.of(3, 1, 3),
      thief.toBytes(),
    ),
  ],
  [
    'a Core plugin with another authority',
    /authority over the plugin BurnDelegate .* goes to Address \{address: THIEF\}/,
    core(8, [key(asset), key(other), key(vault, true), key(vault, true), ...coreEnd], Buffer.of(2, 3), thief.toBytes()),
  ],
  [
    'metadata with another update authority',
    /update authority of the metadata .* goes to THIEF/,
    call(
      PROGRAMS.tokenMetadata.id,
      [key(account), key(vault, true)],
      Buffer.of(15, 0, 1),
      thief.toBytes(),
      Buffer.of(0, 0),
    ),
  ],
  ['a delegate', /THIEF may move tokens out of/, spl.createApproveInstruction(account, thief, vault, 2n ** 64n - 1n)],
  [
    'a delegate of a checked approval',
    /THIEF may move tokens out of/,
    spl.createApproveCheckedInstruction(account, mint, thief, vault, 5n, 6),
  ],
  [
    'a token account that is closed',
    /is closed, and its SOL goes to THIEF/,
    spl.createCloseAccountInstruction(account, thief, vault),
  ],
  ...Object.values(spl.AuthorityType)
    .filter((type) => typeof type === 'number')
    .map((type): [string, RegExp, TransactionInstruction] => [
      `the authority ${type} of a mint or account`,
      /the authority \w+ of .* goes to THIEF/,
      setAuthority(type),
    ]),
  [
    'a transfer hook',
    /the program THIEF runs in every transfer/,
    spl.createUpdateTransferHookInstruction(mint, vault, thief),
  ],
  [
    'a freeze',
    /is frozen: its tokens cannot be moved until .* thaws it/,
    spl.createFreezeAccountInstruction(account, mint, thief),
  ],
  [
    'the code of a program with another authority',
    /authority over the program or buffer .* goes to THIEF/,
    call(UPGRADEABLE_LOADER, [key(account), key(vault, true), key(thief)], Buffer.of(4, 0, 0, 0)),
  ],
  [
    'a program that is upgraded',
    /gets the code of THIEF/,
    call(
      UPGRADEABLE_LOADER,
      [key(account), key(other), key(thief), key(vault), key(mint), key(mint), key(vault, true)],
      Buffer.of(3, 0, 0, 0),
    ),
  ],
  [
    'a stake with another authority',
    /the stake .* goes to THIEF/,
    StakeProgram.authorize({
      stakePubkey: account,
      authorizedPubkey: vault,
      newAuthorizedPubkey: thief,
      stakeAuthorizationType: { index: 1 },
    }).instructions[0]!,
  ],
  [
    'a lookup table that is closed',
    /the lookup table .* is closed, and its SOL goes to THIEF/,
    call(
      AddressLookupTableProgram.programId.toBase58(),
      [key(account), key(vault, true), key(thief)],
      Buffer.of(4, 0, 0, 0),
    ),
  ],
  [
    'a lookup table that is extended',
    null,
    AddressLookupTableProgram.extendLookupTable({
      lookupTable: account,
      authority: vault,
      payer: vault,
      addresses: [thief],
    }),
  ],
  [
    'an airdrop with another admin',
    /the admin of the airdrop .* becomes THIEF/,
    call(
      PROGRAMS.distributor.id,
      [key(account), key(vault, true), key(thief)],
      createHash('sha256').update('global:set_admin').digest().subarray(0, 8),
    ),
  ],
  [
    'a lock with another recipient',
    /the recipient of the lock .* becomes THIEF/,
    call(
      PROGRAMS.lock.id,
      [key(account), key(new PublicKey(PROGRAMS.lock.id)), key(vault, true), key(SystemProgram.programId)],
      Buffer.from('1af27fffed6d2fce', 'hex'),
      thief.toBytes(),
      none,
    ),
  ],
  [
    'a multisig that gets a member by its configuration',
    /members and rules of the multisig .* would change: \[AddMember \{new_member: \{key: THIEF/,
    squads.configTransactionCreate({
      multisigPda: other,
      transactionIndex: 1n,
      creator: vault,
      actions: [{ __kind: 'AddMember', newMember: { key: thief, permissions: types.Permissions.all() } }],
    }),
  ],
  [
    'a proposal of another multisig whose vault pays a thief',
    null,
    squads.vaultTransactionCreate({
      multisigPda: other,
      transactionIndex: 1n,
      creator: vault,
      vaultIndex: 0,
      ephemeralSigners: 0,
      transactionMessage: new TransactionMessage({
        payerKey: account,
        recentBlockhash: PublicKey.default.toBase58(),
        instructions: [SystemProgram.transfer({ fromPubkey: account, toPubkey: thief, lamports: 1n })],
      }),
    }),
  ],
  [
    'a transfer with bytes after its end',
    null,
    new TransactionInstruction({
      ...SystemProgram.transfer({ fromPubkey: vault, toPubkey: thief, lamports: 1n }),
      data: Buffer.concat([
        SystemProgram.transfer({ fromPubkey: vault, toPubkey: thief, lamports: 1n }).data,
        Buffer.of(0xab, 0xcd),
      ]),
    }),
  ],
  [
    'a payment that names an account twice',
    null,
    call(
      SystemProgram.programId.toBase58(),
      [key(vault, true), key(thief), key(thief), key(vault)],
      Buffer.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
    ),
  ],
  [
    'a call of a program that nobody knows',
    null,
    call(other.toBase58(), [key(vault, true), key(thief)], thief.toBytes()),
  ],
]

const described = (instructions: TransactionInstruction[]) => {
  const message = new TransactionMessage({
    payerKey: vault,
    recentBlockhash: PublicKey.default.toBase58(),
    instructions,
  })
  const raw = new VersionedTransaction(message.compileToV0Message()).serialize()
  return describeMessage(decodeWireTransaction(raw).message)
}
const NAMES = new Map([[vault.toBase58(), 'this vault']])
/** The lines about control as one, with the thief by name. */
const controlPart = (lines: readonly string[]) => {
  const end = lines.findIndex((line) => line.startsWith('instruction 0'))
  return lines
    .slice(0, end)
    .map((line) => line.trim())
    .join(' ')
    .replaceAll(thief.toBase58(), 'THIEF')
}

describe('the text of a hostile act', () => {
  it.each(ACTS)('shows %s whole, with who gains', (_, words, act) => {
    const instructions = described([act])
    const lines = instructionTexts(instructions, NAMES)
    requireWhole(instructions, flat(lines))
    expect(flat(lines).includes(thief.toBase58()) || flat(lines).includes(thief.toBuffer().toString('hex'))).toBe(true)
    if (words !== null) expect(controlPart(lines)).toMatch(words)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  })

  it.each(['as', 'nft', 'col'])('shows who gains in the transaction %s of the cases', (name) => {
    const raw = readFileSync(join(import.meta.dirname, `vault-transactions/${name}.tx`), 'utf8').trim()
    const instructions = describeMessage(decodeWireTransaction(Buffer.from(raw, 'base64')).message)
    const lines = instructionTexts(instructions, new Map())
    requireWhole(instructions, flat(lines))
    expect(lines[0]).toBe('changes who controls something')
    expect(flat(lines)).toMatch(/goesto(theprogram)?DNL6ANDH4w2Zy8ZxEApuhixPBWF6xUP4zQaUCamegoR9/)
  })

  it('prints what a stranger wrote without control characters', () => {
    const memo = call(MEMO_PROGRAM, [], Buffer.from('\u001b[2J\n  owner  you\u202e'))
    const lines = instructionTexts(described([memo]), NAMES).map(printable)
    expect(lines.join('')).not.toMatch(/[\u001b\n\u202e]/)
    expect(lines.filter((line) => /^ {4}owner/.test(line))).toEqual([])
  })

  it('says first what the last of many instructions changes', () => {
    const pay = SystemProgram.transfer({ fromPubkey: vault, toPubkey: other, lamports: 1n })
    const lines = instructionTexts(described([...Array(12).fill(pay), ACTS[0]![2]]), NAMES)
    expect(lines.slice(0, 2).join(' ')).toMatch(/^changes who controls something {3}12: .* \(this vault\) goes to/)
  })
})

describe('a run of a hostile act', () => {
  /** A chain on which an owner has a token account of a mint, and a mint of Token-2022. */
  async function opened() {
    const test = await openTestChain()
    const node = embeddedNode(test.chain)
    const owner = test.wallet()
    const coin = await mintOf(test, owner, spl.TOKEN_PROGRAM_ID)
    const held = spl.getAssociatedTokenAddressSync(coin, owner.publicKey)
    const made = test.send(
      [
        spl.createAssociatedTokenAccountInstruction(owner.publicKey, held, owner.publicKey, coin),
        spl.createMintToInstruction(coin, held, owner.publicKey, 5_000_000n),
      ],
      [owner],
    )
    expect(made.err).toBeNull()
    const changes = async (...instructions: TransactionInstruction[]) => {
      const message = new TransactionMessage({
        payerKey: owner.publicKey,
        recentBlockhash: test.chain.latestBlockhash().blockhash,
        instructions,
      })
      const raw = new VersionedTransaction(message.compileToV0Message()).serialize()
      const { err, logs, control_changes } = await simulateDecoded(node, decodeWireTransaction(raw))
      expect(err, logs.join('\n')).toBeNull()
      return control_changes
    }
    return { test, owner, coin, held, changes }
  }
  const to = thief.toBase58()

  it('has before and after of owner, delegate, right to close and authorities', async () => {
    const { owner, coin, held, changes } = await opened()
    const [own, of] = [owner.publicKey, owner.publicKey.toBase58()]
    const set = (at: PublicKey, type: spl.AuthorityType) => spl.createSetAuthorityInstruction(at, own, type, thief)
    const row = (address: PublicKey, what: string, before: string | null, after: string | null) => ({
      ...{ address: address.toBase58(), what },
      ...{ before, after },
    })
    expect(await changes(SystemProgram.transfer({ fromPubkey: own, toPubkey: thief, lamports: SOL }))).toEqual([])
    expect(await changes(spl.createApproveInstruction(held, thief, own, 7n))).toEqual([
      row(held, 'delegate', null, to),
      row(held, 'amount of the delegate in raw units', null, '7'),
    ])
    expect(await changes(set(held, spl.AuthorityType.CloseAccount))).toEqual([row(held, 'close authority', null, to)])
    expect(await changes(set(held, spl.AuthorityType.AccountOwner))).toEqual([row(held, 'owner', of, to)])
    expect(await changes(set(coin, spl.AuthorityType.MintTokens))).toEqual([row(coin, 'mint authority', of, to)])
  })

  it('has the program that gets an account, and the authority over a nonce', async () => {
    const { test, owner, changes } = await opened()
    const own = owner.publicKey
    const [plain, nonce] = [Keypair.generate(), Keypair.generate()]
    const lamports = Number(test.chain.minimumBalance(80))
    const made = test.send(
      [
        SystemProgram.transfer({ fromPubkey: own, toPubkey: plain.publicKey, lamports: SOL }),
        SystemProgram.createAccount({
          ...{ fromPubkey: own, newAccountPubkey: nonce.publicKey, lamports, space: 80 },
          programId: SystemProgram.programId,
        }),
        SystemProgram.nonceInitialize({ noncePubkey: nonce.publicKey, authorizedPubkey: own }),
      ],
      [owner, nonce],
    )
    expect(made.err, made.logs.join('\n')).toBeNull()
    expect(await changes(SystemProgram.assign({ accountPubkey: plain.publicKey, programId: thief }))).toEqual([
      { address: plain.publicKey.toBase58(), what: 'program', before: SystemProgram.programId.toBase58(), after: to },
    ])
    const authorize = { noncePubkey: nonce.publicKey, authorizedPubkey: own, newAuthorizedPubkey: thief }
    expect(await changes(SystemProgram.nonceAuthorize(authorize))).toEqual([
      { address: nonce.publicKey.toBase58(), what: 'nonce authority', before: own.toBase58(), after: to },
    ])
  })

  it('has the owner of an asset, update authorities, and each place that named a signer in an unknown account', () => {
    const [from, own] = [vault.toBuffer(), vault.toBase58()]
    const at = (owner: string, ...data: Uint8Array[]) => ({
      ...{ lamports: 1n, owner, executable: false },
      data: new Uint8Array(Buffer.concat(data)),
    })
    const { core, tokenMetadata } = PROGRAMS
    const texts = Buffer.alloc(8)
    const kinds = (key: Uint8Array) => [
      at(core.id, Buffer.of(1), key, Buffer.of(1), key, texts),
      at(core.id, Buffer.of(5), key, texts, Buffer.alloc(8)),
      at(tokenMetadata.id, Buffer.of(4), key, Buffer.alloc(64)),
      at(other.toBase58(), Buffer.alloc(9), key),
      at(core.id, Buffer.of(1), key, Buffer.of(0), texts),
    ]
    const changes = controlChanges(
      ['asset', 'collection', 'metadata', 'account', 'free asset'],
      kinds(from),
      kinds(thief.toBuffer()),
      [own],
    )
    expect(changes.map(({ address, what, before, after }) => [address, what, before, after])).toEqual([
      ['asset', 'owner', own, to],
      ['asset', 'update authority', own, to],
      ['collection', 'update authority', own, to],
      ['metadata', 'update authority', own, to],
      ['account', 'the address at byte 9', own, to],
      ['free asset', 'owner', own, to],
    ])
  })
})
