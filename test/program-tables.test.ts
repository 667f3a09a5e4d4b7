/** The rows of programs' tables are those of their IDLs, as far as the frameworks and SDKs say them. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as spl from '@solana/spl-token'
import {
  NONCE_ACCOUNT_LENGTH,
  NonceAccount,
  PublicKey,
  SYSVAR_RECENT_BLOCKHASHES_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js'
import { expect, it } from 'vitest'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../src/solana/program-ids.ts'
import { ASSOCIATED_TOKEN } from '../src/solana/programs/associated-token.ts'
import { JUPITER_LOCK } from '../src/solana/programs/jupiter-lock.ts'
import { MERKLE_DISTRIBUTOR } from '../src/solana/programs/merkle-distributor.ts'
import { METAPLEX_CORE } from '../src/solana/programs/metaplex-core.ts'
import { PRESALE } from '../src/solana/programs/presale.ts'
import { SYSTEM } from '../src/solana/programs/system.ts'
import type { PlainInstruction } from '../src/solana/programs/table.ts'
import { TOKEN, TOKEN_2022 } from '../src/solana/programs/token.ts'
import { TOKEN_METADATA_INTERFACE } from '../src/solana/programs/token-metadata-interface.ts'
import { EXTENSIONS_OFFSET, readMint, readTokenAccount } from '../src/solana/token-accounts.ts'
import { mapped } from './support/mapped.ts'

const prefixOf = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 16)

it('first bytes of Anchor instructions are the hash of their names', () => {
  for (const { layout } of [JUPITER_LOCK, MERKLE_DISTRIBUTOR, PRESALE]) {
    for (const [prefix, [name]] of Object.entries(layout.table)) expect(prefix, name).toBe(prefixOf(`global:${name}`))
  }
})

it('first bytes of the metadata in a mint are the hashes of the interface', () => {
  const names = ['initialize_account', 'updating_field', 'remove_key_ix', 'update_the_authority']
  const prefixes = names.map((name) => prefixOf(`spl_token_metadata_interface:${name}`))
  expect(Object.keys(TOKEN_METADATA_INTERFACE.layout.table)).toEqual(prefixes)
})

const CORE_SDK = resolve('node_modules/@metaplex-foundation/mpl-core/dist/src/generated/instructions')
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** First bytes, and accounts with their flags, as the generated client of the SDK has them. */
function inCoreSdk(name: string) {
  const [code, types] = ['js', 'd.ts'].map((end) => readFileSync(`${CORE_SDK}/${camel(name)}.${end}`, 'utf8'))
  const fallbacks = [...code!.matchAll(/if \(!resolvedAccounts\.(\w+)\.value\)/g)].map(([, account]) => account)
  const accounts = [...code!.matchAll(/(\w+): \{\s+index: \d+,\s+isWritable: (\w+),/g)].map(
    ([, account, isWritable]) => {
      const [, optional, type = ''] = new RegExp(`\\b${account}(\\??): (.*);`).exec(types!) ?? []
      const flags = [
        type.includes('Signer') ? 's' : '',
        isWritable === 'true' ? 'w' : '',
        optional === '?' && !fallbacks.includes(account) ? 'o' : '',
      ].join('')
      return flags === '' ? snake(account!) : `${snake(account!)}:${flags}`
    },
  )
  const prefix = Number(/discriminator: (\d+)/.exec(code!)?.[1])
    .toString(16)
    .padStart(2, '0')
  return { prefix, accounts }
}

it('instructions of Metaplex Core have the accounts of its SDK, in their order and with their flags', () => {
  const rows = Object.entries(METAPLEX_CORE.layout.table)
  expect(rows.length).toBeGreaterThan(20)
  for (const [prefix, [name, roles]] of rows) {
    const accounts = roles.split(' ').map((word) => {
      const [role, flags = ''] = word.split(':')
      const sorted = [...'swo'].filter((flag) => flags.includes(flag)).join('')
      return sorted === '' ? role : `${role}:${sorted}`
    })
    expect({ prefix, accounts }, name).toEqual(inCoreSdk(name))
  }
})

const [A, B, C, D] = mapped([1, 2, 3, 4], (byte) => new PublicKey(new Uint8Array(32).fill(byte)))
const [a, b, c, d] = [A, B, C, D].map(String) as [string, string, string, string]
const BASE = new PublicKey(new Uint8Array(32).fill(5))
const base = String(BASE)
const systemProgram = SYSTEM_PROGRAM
const [nonceAccount, rentSysvar] = [a, String(SYSVAR_RENT_PUBKEY)]
const recentBlockhashesSysvar = String(SYSVAR_RECENT_BLOCKHASHES_PUBKEY)
const terms = { lamports: 7n, space: 8n, owner: d }
const by = { authority: c, signers: [] }
const [AMOUNT, fee] = [{ amount: 9n }, { transferFeeBasisPoints: 3, maximumFee: 8n }]
const T22 = new PublicKey(TOKEN_2022_PROGRAM)

it.each<[title: string, table: PlainInstruction, sdk: TransactionInstruction]>([
  [
    'createAccount',
    SYSTEM.instruction('createAccount', { source: a, newAccount: b }, terms),
    SystemProgram.createAccount({ fromPubkey: A, newAccountPubkey: B, lamports: 7, space: 8, programId: D }),
  ],
  [
    'createAccountWithSeed',
    SYSTEM.instruction('createAccountWithSeed', { source: a, newAccount: b }, { base: a, seed: 'é', ...terms }),
    SystemProgram.createAccountWithSeed({
      ...{ fromPubkey: A, newAccountPubkey: B, basePubkey: A, seed: 'é', lamports: 7, space: 8, programId: D },
    }),
  ],
  [
    'assign',
    SYSTEM.instruction('assign', { account: a }, { owner: d }),
    SystemProgram.assign({ accountPubkey: A, programId: D }),
  ],
  [
    'transfer',
    SYSTEM.instruction('transfer', { source: a, destination: b }, { lamports: 7n }),
    SystemProgram.transfer({ fromPubkey: A, toPubkey: B, lamports: 7 }),
  ],
  [
    'transferWithSeed',
    SYSTEM.instruction(
      'transferWithSeed',
      { source: a, sourceBase: base, destination: b },
      { lamports: 7n, sourceSeed: 's', sourceOwner: d },
    ),
    SystemProgram.transfer({ fromPubkey: A, basePubkey: BASE, toPubkey: B, lamports: 7, seed: 's', programId: D }),
  ],
  [
    'advanceNonce',
    SYSTEM.instruction('advanceNonce', { nonceAccount, recentBlockhashesSysvar, nonceAuthority: b }, {}),
    SystemProgram.nonceAdvance({ noncePubkey: A, authorizedPubkey: B }),
  ],
  [
    'withdrawFromNonce',
    SYSTEM.instruction(
      'withdrawFromNonce',
      { nonceAccount, destination: b, recentBlockhashesSysvar, rentSysvar, nonceAuthority: c },
      { lamports: 7n },
    ),
    SystemProgram.nonceWithdraw({ noncePubkey: A, toPubkey: B, authorizedPubkey: C, lamports: 7 }),
  ],
  [
    'authorizeNonce',
    SYSTEM.instruction('authorizeNonce', { nonceAccount, nonceAuthority: b }, { newAuthorized: c }),
    SystemProgram.nonceAuthorize({ noncePubkey: A, authorizedPubkey: B, newAuthorizedPubkey: C }),
  ],
  [
    'allocate',
    SYSTEM.instruction('allocate', { account: a }, { space: 8n }),
    SystemProgram.allocate({ accountPubkey: A, space: 8 }),
  ],
  [
    'create',
    ASSOCIATED_TOKEN.instruction(
      'createIdempotent',
      { source: a, account: b, wallet: c, mint: d, systemProgram, tokenProgram: TOKEN_PROGRAM },
      {},
    ),
    spl.createAssociatedTokenAccountIdempotentInstruction(A, B, C, D),
  ],
  [
    'initializeMint2',
    TOKEN.instruction('initializeMint2', { mint: a }, { decimals: 6, mintAuthority: b, freezeAuthority: c }),
    spl.createInitializeMint2Instruction(A, 6, B, C),
  ],
  [
    'initializeAccount3',
    TOKEN.instruction('initializeAccount3', { account: a, mint: b }, { owner: c }),
    spl.createInitializeAccount3Instruction(A, B, C),
  ],
  [
    'transferChecked',
    TOKEN.instruction('transferChecked', { source: a, mint: b, destination: d, ...by }, { ...AMOUNT, decimals: 6 }),
    spl.createTransferCheckedInstruction(A, B, D, C, 9n, 6),
  ],
  [
    'approve',
    TOKEN.instruction('approve', { source: a, delegate: b, ...by }, AMOUNT),
    spl.createApproveInstruction(A, B, C, 9n),
  ],
  ['revoke', TOKEN.instruction('revoke', { source: a, ...by }, {}), spl.createRevokeInstruction(A, C)],
  [
    'mintToChecked',
    TOKEN.instruction('mintToChecked', { mint: a, account: b, ...by }, { ...AMOUNT, decimals: 6 }),
    spl.createMintToCheckedInstruction(A, B, C, 9n, 6),
  ],
  ['burn', TOKEN.instruction('burn', { account: a, mint: b, ...by }, AMOUNT), spl.createBurnInstruction(A, B, C, 9n)],
  [
    'closeAccount',
    TOKEN.instruction('closeAccount', { account: a, destination: b, ...by }, {}),
    spl.createCloseAccountInstruction(A, B, C),
  ],
  [
    'freezeAccount',
    TOKEN.instruction('freezeAccount', { account: a, mint: b, ...by }, {}),
    spl.createFreezeAccountInstruction(A, B, C),
  ],
  [
    'setAuthority',
    TOKEN_2022.instruction('setAuthority', { account: a, ...by }, { kind: 4, newAuthority: d }),
    spl.createSetAuthorityInstruction(A, C, spl.AuthorityType.TransferFeeConfig, D, [], T22),
  ],
  [
    'setTransferFee',
    TOKEN_2022.instruction('setTransferFee', { mint: a, ...by }, fee),
    spl.createSetTransferFeeInstruction(A, C, [], 3, 8n, T22),
  ],
  [
    'withdrawWithheldTokensFromAccounts',
    TOKEN_2022.instruction(
      'withdrawWithheldTokensFromAccounts',
      { mint: a, feeRecipient: b, ...by, sourceAccounts: [d, base] },
      { numTokenAccounts: 2 },
    ),
    spl.createWithdrawWithheldTokensFromAccountsInstruction(A, B, C, [], [D, BASE], T22),
  ],
  [
    'harvestWithheldTokensToMint',
    TOKEN_2022.instruction('harvestWithheldTokensToMint', { mint: a, sourceAccounts: [d] }, {}),
    spl.createHarvestWithheldTokensToMintInstruction(A, [D], T22),
  ],
  [
    'updateTransferHook',
    TOKEN_2022.instruction('updateTransferHook', { mint: a, ...by }, { programId: d }),
    spl.createUpdateTransferHookInstruction(A, C, D, [], T22),
  ],
  [
    'initializeMetadataPointer',
    TOKEN_2022.instruction('initializeMetadataPointer', { mint: a }, { authority: b, pointsTo: c }),
    spl.createInitializeMetadataPointerInstruction(A, B, C, T22),
  ],
  ['pause', TOKEN_2022.instruction('pause', { mint: a, ...by }, {}), spl.createPauseInstruction(A, C, [], T22)],
])('%s has the accounts and bytes that the SDK gives it', (_, table, sdk) => {
  const accounts = sdk.keys.map(({ pubkey, isSigner, isWritable }) => ({
    ...{ address: String(pubkey), isSigner, isWritable },
  }))
  expect({ ...table, data: Buffer.from(table.data).toString('hex') }).toEqual({
    ...{ program: String(sdk.programId), accounts, data: sdk.data.toString('hex') },
  })
})

it('accounts of the token programs and nonces have the layouts of their SDKs', () => {
  const numbers = { amount: 7n, delegatedAmount: 6n, isNative: 5n, isNativeOption: 1 as const }
  const options = { delegate: C, delegateOption: 1 as const, closeAuthority: D, closeAuthorityOption: 1 as const }
  const account = Buffer.alloc(spl.ACCOUNT_SIZE)
  spl.AccountLayout.encode({ mint: A, owner: B, state: spl.AccountState.Frozen, ...numbers, ...options }, account)
  const state = { mint: a, owner: b, amount: 7n, delegate: c, state: 'frozen', nativeReserve: 5n } as const
  expect(readTokenAccount({ owner: TOKEN.id, data: account })).toEqual({
    ...{ ...state, delegatedAmount: 6n, closeAuthority: d },
  })
  const mint = Buffer.alloc(spl.MINT_SIZE)
  const authorities = { mintAuthority: A, mintAuthorityOption: 1 as const, freezeAuthority: B }
  const terms = { supply: 9n, decimals: 6, isInitialized: true, freezeAuthorityOption: 0 as const }
  spl.MintLayout.encode({ ...authorities, ...terms }, mint)
  expect(readMint({ owner: TOKEN_2022.id, data: mint })).toEqual({
    ...{ mintAuthority: a, supply: 9n, decimals: 6, isInitialized: true, freezeAuthority: null },
  })
  expect([TOKEN.sizeOf('multisig'), EXTENSIONS_OFFSET]).toEqual([spl.MULTISIG_SIZE, spl.ACCOUNT_SIZE + 1])
  const values = { version: 1, state: 1, authority: a, value: b, lamportsPerSignature: 5_000n }
  const nonce = NonceAccount.fromAccountData(Buffer.from(SYSTEM.accountData('nonce', values)))
  expect([nonce.authorizedPubkey, nonce.nonce, nonce.feeCalculator.lamportsPerSignature]).toEqual([A, b, 5_000])
  expect(SYSTEM.sizeOf('nonce')).toBe(NONCE_ACCOUNT_LENGTH)
})

it('no row of any table has a name twice', async () => {
  const folder = resolve('src/solana/programs')
  const files = await Promise.all(readdirSync(folder).map((file) => import(join(folder, file))))
  const tables: Partial<typeof SYSTEM>[] = files.flatMap(Object.values).filter((each) => typeof each === 'object')
  const rows = tables.flatMap((table) => Object.values(table.rows ?? {})).flatMap(Object.entries<readonly unknown[]>)
  expect(rows.length).toBeGreaterThan(200)
  for (const [row, texts] of rows) {
    for (const text of texts.slice(1).filter((each) => typeof each === 'string')) {
      const names = text.split(' ').map((word) => word.split(':')[0])
      expect(names, row).toEqual([...new Set(names)])
    }
  }
})
