/** Tokens of both programs on the embedded chain: created, read back, and their authorities gone in every order. */
import * as spl from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AuthorityStatus,
  buildAuthorityTransfer,
  buildTokenCreation,
  metadataAddressOf,
  mintBytes,
  type OnChainToken,
  readTokenState,
  type TokenAuthority,
  type TokenCreation,
  type TokenProgram,
  tokenStatus,
} from '../../src/chain/programs/tokens/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import {
  hasProgram,
  mintOf,
  openTestChain,
  PROGRAMS_DIR,
  sharedTestChain,
  someone,
  type TestChain,
} from '../support/local-chain.ts'
import { embeddedNode } from '../support/node.ts'
import { inSoak, runs } from '../support/runs.ts'
import { createdToken } from '../support/token-accounts.ts'

const AUTHORITIES: TokenAuthority[] = ['mint', 'freeze', 'metadata']
const ORDERS = AUTHORITIES.flatMap((first) =>
  AUTHORITIES.filter((second) => second !== first).map((second) => [
    first,
    second,
    AUTHORITIES.find((third) => third !== first && third !== second)!,
  ]),
)
const FLAGS = [true, false].flatMap((mint) => [true, false].map((freeze) => ({ mint, freeze })))
const [PAYER, MINT, PLATFORM] = [goldenKey(1), goldenKey(2), goldenKey(3)]
const LONGEST = { name: 'N'.repeat(32), symbol: 'S'.repeat(10), uri: `https://${'u'.repeat(192)}` }

/** What comes with the token's own instructions in the largest transaction. */
const COMPANY = {
  before: [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
  ],
  after: [SystemProgram.transfer({ fromPubkey: PAYER.publicKey, toPubkey: PLATFORM.publicKey, lamports: 50_000_000 })],
}

/** Lamports per byte that the golden transactions give their mints, which is enough on every chain. */
const GOLDEN_RATE = 6_960n

type Wishes = Partial<TokenCreation>

/** `rate` is in lamports per byte. */
async function creationOf(
  tokenProgram: TokenProgram,
  payer: Keypair,
  mint: Keypair,
  { rate = GOLDEN_RATE, ...wishes }: Wishes & { rate?: bigint } = {},
) {
  const texts = { name: 'Genesis', symbol: 'GEN', uri: 'https://example.com/genesis.json', ...wishes }
  const bytes = await mintBytes({ tokenProgram, ...texts })
  return buildTokenCreation({
    payer: payer.publicKey.toBase58(),
    mint: mint.publicKey.toBase58(),
    decimals: 6,
    initialSupply: 1_000_000_000_000_000n,
    revokeMintAuthority: false,
    revokeFreezeAuthority: false,
    tokenProgram,
    recentBlockhash: GOLDEN_BLOCKHASH,
    rent: rate * BigInt(bytes + 128),
    ...texts,
  })
}

function revocationOf(
  tokenProgram: TokenProgram,
  type: TokenAuthority,
  {
    payer,
    mint,
    token,
    messageConfig,
  }: { payer: Keypair; mint: PublicKey; token?: OnChainToken; messageConfig?: TransactionConfig | undefined },
  recentBlockhash = GOLDEN_BLOCKHASH,
) {
  return buildAuthorityTransfer({
    payer: payer.publicKey.toBase58(),
    mint: mint.toBase58(),
    ...{ type, to: null, token: token ?? createdToken(tokenProgram) },
    recentBlockhash,
    messageConfig,
  })
}

const shared = sharedTestChain({ programsDir: PROGRAMS_DIR })

/** A wallet on a chain, of its own for a given payer; what is built elsewhere is signed here, as a stranger's wallet does. */
async function open(payer?: Keypair) {
  const test = payer === undefined ? await shared() : await openTestChain({ programsDir: PROGRAMS_DIR })
  const connection = embeddedNode(test.chain)
  const wallet = payer ?? test.wallet()
  if (payer !== undefined) test.chain.airdrop(payer.publicKey.toBase58(), 100_000_000_000n)
  return {
    ...test,
    test: test as TestChain,
    payer: wallet,
    read: (mint: PublicKey) => readTokenState(connection, mint.toBase58()),
    blockhash: () => test.chain.latestBlockhash().blockhash,
    /** Its error, null when it did what it should. */
    land({ transaction, requiredSigners }: UnsignedTransaction, ...signers: Keypair[]) {
      expect(requiredSigners).toEqual(signers.map(({ publicKey }) => publicKey.toBase58()))
      const decoded = VersionedTransaction.deserialize(transaction)
      decoded.message.recentBlockhash = test.chain.latestBlockhash().blockhash
      decoded.sign(signers)
      test.chain.advance(1)
      try {
        return test.chain.send(decoded.serialize()).err
      } catch (error) {
        return (error as { err?: unknown }).err ?? error
      }
    },
  }
}

async function openWithToken(tokenProgram: TokenProgram, wishes: Wishes = {}) {
  const opened = await open()
  const mint = Keypair.generate()
  const rate = opened.test.chain.minimumBalance(0) / 128n
  const created = await creationOf(tokenProgram, opened.payer, mint, { rate, ...wishes })
  expect(opened.land(created, opened.payer, mint)).toBeNull()
  return { ...opened, mint: mint.publicKey }
}

/** What contract says of who is left. */
const STATUS: Record<string, AuthorityStatus> = {
  '': 'created',
  mint: 'mint_authority_revoked',
  freeze: 'freeze_authority_revoked',
  metadata: 'created',
  'freeze,mint': 'mint_authority_revoked',
  'metadata,mint': 'mint_authority_revoked',
  'freeze,metadata': 'freeze_authority_revoked',
  'freeze,metadata,mint': 'fully_immutable',
}

const missing = !hasProgram(PROGRAMS.tokenMetadata.id)

describe.each([
  { tokenProgram: 'spl', title: 'an SPL token with Metaplex metadata (needs Metaplex Token Metadata in the cache)' },
  { tokenProgram: 'token2022', title: 'a Token-2022 token' },
] as const)('$title', ({ tokenProgram }) => {
  const real = it.skipIf(tokenProgram === 'spl' && missing)
  const program = tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID

  for (const flags of FLAGS) {
    real(
      `is created with mint ${flags.mint ? 'revoked' : 'kept'} and freeze ${flags.freeze ? 'revoked' : 'kept'}`,
      async () => {
        const { test, payer, mint, read } = await openWithToken(tokenProgram, {
          revokeMintAuthority: flags.mint,
          revokeFreezeAuthority: flags.freeze,
          decimals: 9,
          initialSupply: 123n,
        })
        const holder = payer.publicKey.toBase58()
        const state = await read(mint)
        expect(state).toEqual({
          mint: mint.toBase58(),
          tokenProgram,
          decimals: 9,
          supply: 123n,
          mintAuthority: flags.mint ? null : holder,
          freezeAuthority: flags.freeze ? null : holder,
          metadata: {
            name: 'Genesis',
            symbol: 'GEN',
            uri: 'https://example.com/genesis.json',
            updateAuthority: holder,
            isMutable: true,
            source: tokenProgram === 'spl' ? 'metaplex' : 'extension',
          },
          metadataPointerAuthority: null,
          metadataElsewhere: null,
          extensions:
            tokenProgram === 'spl' ? null : expect.objectContaining({ transferFee: null, transferHook: null }),
        })
        const gone = [...(flags.freeze ? ['freeze'] : []), ...(flags.mint ? ['mint'] : [])].join(',')
        expect(tokenStatus(state)).toBe(STATUS[gone])
        const account = spl.getAssociatedTokenAddressSync(mint, payer.publicKey, false, program)
        expect(Buffer.from(test.chain.account(account.toBase58())!.data).readBigUInt64LE(64)).toBe(123n)
        const { lamports, data } = test.chain.account(mint.toBase58())!
        expect(lamports).toBe(test.chain.minimumBalance(data.length))
      },
    )
  }

  for (const order of inSoak ? ORDERS : ORDERS.slice(2, 4)) {
    real(`loses ${order.join(', then ')} and is fully immutable`, { tags: 'sampled' }, async () => {
      const { payer, mint, read, land } = await openWithToken(tokenProgram)
      const gone: TokenAuthority[] = []
      for (const type of order) {
        const stranger = await revocationOf(tokenProgram, type, { payer: goldenKey(9), mint })
        expect(land(stranger, goldenKey(9))).not.toBeNull()
        expect(land(await revocationOf(tokenProgram, type, { payer, mint }), payer)).toBeNull()
        gone.push(type)
        const state = await read(mint)
        expect({
          mint: state.mintAuthority === null,
          freeze: state.freezeAuthority === null,
          metadata: state.metadata?.isMutable === false,
        }).toEqual(Object.fromEntries(AUTHORITIES.map((each) => [each, gone.includes(each)])))
        expect(tokenStatus(state)).toBe(STATUS[[...gone].sort().join(',')])
      }
      expect((await read(mint)).supply).toBe(1_000_000_000_000_000n)
    })
  }

  real('can have nothing minted, frozen or renamed once it is fully immutable', async () => {
    const { test, payer, mint, read, land, blockhash } = await openWithToken(tokenProgram)
    const account = spl.getAssociatedTokenAddressSync(mint, payer.publicKey, false, program)
    const minting = spl.createMintToInstruction(mint, account, payer.publicKey, 1n, [], program)
    const freezing = spl.createFreezeAccountInstruction(account, mint, payer.publicKey, [], program)
    const thawing = spl.createThawAccountInstruction(account, mint, payer.publicKey, [], program)
    const renaming = await rename(tokenProgram, mint, payer.publicKey)
    const funding = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: mint, lamports: 1_000_000 })
    const instructions = [minting, freezing, thawing, funding, renaming]
    const attempt = (each: TransactionInstruction[]) =>
      test.chain.simulate(test.sign(each, [payer], { blockhash: blockhash() })).err
    expect(attempt(instructions)).toBeNull()
    for (const type of AUTHORITIES) {
      expect(land(await revocationOf(tokenProgram, type, { payer, mint }), payer)).toBeNull()
    }
    expect(attempt([minting])).toEqual({ InstructionError: [0, { Custom: 5 }] })
    expect(attempt([freezing])).toEqual({ InstructionError: [0, { Custom: 16 }] })
    expect(attempt([renaming])).toMatchObject({ InstructionError: [0, { Custom: expect.any(Number) }] })
    expect((await read(mint)).metadata?.name).toBe('Genesis')
  })

  real('takes the longest texts, and no account for a supply of none', async () => {
    const { test, payer, mint, read } = await openWithToken(tokenProgram, { ...LONGEST, initialSupply: 0n })
    expect((await read(mint)).metadata).toMatchObject(LONGEST)
    expect([...test.chain.tokenAccountsOf(payer.publicKey.toBase58())]).toEqual([])
  })

  real('returns texts of any script unchanged', { tags: 'sampled' }, async () => {
    const { payer, land, read } = await open()
    const text = (limit: number) =>
      fc
        .string({ unit: 'grapheme', maxLength: limit })
        .filter((s) => Buffer.byteLength(s) <= limit && !s.endsWith('\0'))
    await fc.assert(
      fc.asyncProperty(text(32), text(10), text(200), async (name, symbol, uri) => {
        const mint = Keypair.generate()
        expect(land(await creationOf(tokenProgram, payer, mint, { name, symbol, uri }), payer, mint)).toBeNull()
        expect((await read(mint.publicKey)).metadata).toMatchObject({ name, symbol, uri })
      }),
      { numRuns: runs(5, 25), endOnFailure: true },
    )
  })

  it(`is one transaction of at most ${MAX_TRANSACTION_BYTES} bytes whatever the flags, beside a platform fee`, async ({
    annotate,
  }) => {
    const sizes: Record<string, number> = {}
    for (const { mint, freeze } of FLAGS) {
      const wishes = { ...LONGEST, ...COMPANY, revokeMintAuthority: mint, revokeFreezeAuthority: freeze }
      const { transaction } = await creationOf(tokenProgram, PAYER, MINT, wishes)
      sizes[`mint ${mint ? 'revoked' : 'kept'}, freeze ${freeze ? 'revoked' : 'kept'}`] = transaction.length
    }
    await annotate(`${tokenProgram}: ${JSON.stringify(sizes)}`, 'size')
    expect(sizes).toEqual(SIZES[tokenProgram])
    expect(Math.max(...Object.values(sizes))).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
  })

  for (const [name, wishes] of Object.entries<Wishes>({
    'create-kept': {},
    'create-revoked': { revokeMintAuthority: true, revokeFreezeAuthority: true },
    'create-v1': { messageConfig: GOLDEN_CONFIG },
    'create-longest': { ...LONGEST, ...COMPANY, revokeMintAuthority: true },
  })) {
    const golden = it.skipIf(RECORDING && tokenProgram === 'spl' && missing)
    golden(`is built as recorded: ${name}`, async ({ annotate }) => {
      const { transaction } = await creationOf(tokenProgram, PAYER, MINT, wishes)
      const bytes = await expectGolden(`tokens/${tokenProgram}-${name}`, transaction, async () => {
        const { test, chain } = await open(PAYER)
        chain.airdrop(PLATFORM.publicKey.toBase58(), 1_000_000_000n)
        return test
      })
      await annotate(`${tokenProgram} ${name}: ${bytes} bytes`, 'size')
    })
  }

  for (const [name, type, messageConfig] of AUTHORITIES.flatMap(
    (type) =>
      [
        [`revoke-${type}`, type, undefined],
        [`revoke-${type}-v1`, type, GOLDEN_CONFIG],
      ] as const,
  )) {
    const golden = it.skipIf(RECORDING && tokenProgram === 'spl' && missing)
    golden(`is built as recorded: ${name}`, async ({ annotate }) => {
      const of = { payer: PAYER, mint: MINT.publicKey, messageConfig }
      const { transaction } = await revocationOf(tokenProgram, type, of)
      const bytes = await expectGolden(`tokens/${tokenProgram}-${name}`, transaction, async () => {
        const { test, land } = await open(PAYER)
        expect(land(await creationOf(tokenProgram, PAYER, MINT), PAYER, MINT)).toBeNull()
        return test
      })
      await annotate(`${tokenProgram} ${name}: ${bytes} bytes`, 'size')
    })
  }

  it('refuses what the programs would refuse, naming the field', async () => {
    const refusals: [Wishes, string][] = [
      [{ name: 'N'.repeat(33) }, 'name'],
      [{ name: 'é'.repeat(17) }, 'name'],
      [{ symbol: 'S'.repeat(11) }, 'symbol'],
      [{ uri: 'u'.repeat(201) }, 'uri'],
      [{ decimals: 10 }, 'decimals'],
      [{ decimals: 1.5 }, 'decimals'],
      [{ initialSupply: 2n ** 64n }, 'initial_supply'],
      [{ initialSupply: -1n }, 'initial_supply'],
    ]
    for (const [wishes, param] of refusals) {
      await expect(creationOf(tokenProgram, PAYER, MINT, wishes)).rejects.toMatchObject({ code: 'bad_request', param })
    }
  })

  it('refuses a transaction above the size limit of the chain', async () => {
    const after = Array.from({ length: 40 }, () =>
      SystemProgram.transfer({ fromPubkey: PAYER.publicKey, toPubkey: someone(), lamports: 1 }),
    )
    for (const length of [10, 40]) {
      const creation = creationOf(tokenProgram, PAYER, MINT, { ...LONGEST, after: after.slice(0, length) })
      await expect(creation).rejects.toMatchObject({
        code: 'bad_request',
        message: expect.stringContaining('1232 bytes'),
      })
    }
  })

  it('is read without metadata if it has none, and is not found if it is not a mint', async () => {
    const { test, payer, read } = await open()
    const mint = await mintOf(test, payer, program)
    const state = await read(mint)
    expect(state).toMatchObject({ tokenProgram, metadata: null, supply: 0n, freezeAuthority: null })
    expect(tokenStatus(state)).toBe('freeze_authority_revoked')
    await expect(revocationOf(tokenProgram, 'metadata', { payer, mint, token: state })).rejects.toMatchObject({
      code: 'bad_request',
      param: 'type',
    })
    const account = await ataOf(test, payer, mint, program)
    for (const address of [someone(), payer.publicKey, account]) {
      await expect(read(address)).rejects.toMatchObject({ code: 'not_found', param: 'mint' })
    }
  })
})

describe('the rent of a Token-2022 mint', () => {
  it.each([36, 37, 38, 39, 40])(
    'is exact with %i bytes of texts: 37 make a mint as long as a multisig',
    async (bytes) => {
      const { chain, mint } = await openWithToken('token2022', { name: 'a', symbol: 'b', uri: 'u'.repeat(bytes - 2) })
      const { lamports, data } = chain.account(mint.toBase58())!
      expect(lamports).toBe(chain.minimumBalance(data.length))
      expect(data.length).toBe(318 + bytes + (bytes === 37 ? 2 : 0))
    },
  )
})

describe('a Token-2022 token of somebody else', () => {
  it('counts a movable pointer as changeable metadata, and loses it with the metadata', async () => {
    const { payer, mint, read, land } = await openPointing(({ payer, mint }) => [payer, mint])
    const token = await read(mint)
    expect(token).toMatchObject({ metadataPointerAuthority: payer.publicKey.toBase58(), metadataElsewhere: null })
    expect(tokenStatus(token)).toBe('mint_authority_revoked')
    expect(land(await revocationOf('token2022', 'metadata', { payer, mint, token }), payer)).toBeNull()
    expect(tokenStatus(await read(mint))).toBe('fully_immutable')
  })

  it('is not immutable if its pointer leads to an account that is not read', async () => {
    const elsewhere = someone()
    const { mint, read } = await openPointing(() => [null, elsewhere])
    const token = await read(mint)
    expect(token).toMatchObject({ metadataPointerAuthority: null, metadataElsewhere: elsewhere.toBase58() })
    expect(tokenStatus(token)).toBe('mint_authority_revoked')
  })
})

/** A chain with a mint that has a metadata pointer, and neither metadata nor a mint or freeze authority. */
async function openPointing(
  pointer: (keys: { payer: PublicKey; mint: PublicKey }) => [authority: PublicKey | null, address: PublicKey],
) {
  const opened = await open()
  const [payer, mint, program] = [opened.payer.publicKey, Keypair.generate(), spl.TOKEN_2022_PROGRAM_ID]
  const key = mint.publicKey
  const space = spl.getMintLen([spl.ExtensionType.MetadataPointer])
  const instructions = [
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: key,
      space,
      lamports: Number(opened.chain.minimumBalance(space)),
      programId: program,
    }),
    spl.createInitializeMetadataPointerInstruction(key, ...pointer({ payer, mint: key }), program),
    spl.createInitializeMint2Instruction(key, 6, payer, null, program),
    spl.createSetAuthorityInstruction(key, payer, spl.AuthorityType.MintTokens, null, [], program),
  ]
  expect(opened.send(instructions, [opened.payer, mint]).err).toBeNull()
  return { ...opened, mint: key }
}

async function ataOf(test: TestChain, payer: Keypair, mint: PublicKey, program: PublicKey): Promise<PublicKey> {
  const account = spl.getAssociatedTokenAddressSync(mint, payer.publicKey, false, program)
  const opening = spl.createAssociatedTokenAccountInstruction(payer.publicKey, account, payer.publicKey, mint, program)
  expect(test.send([opening], [payer]).err).toBeNull()
  return account
}

/** Calls the token `x`, by each program's own instruction. */
async function rename(tokenProgram: TokenProgram, mint: PublicKey, authority: PublicKey) {
  const signer = { pubkey: authority, isSigner: true, isWritable: false }
  const x = Buffer.from([1, 0, 0, 0, 0x78])
  if (tokenProgram === 'spl') {
    return new TransactionInstruction({
      programId: new PublicKey(PROGRAMS.tokenMetadata.id),
      keys: [{ pubkey: new PublicKey(metadataAddressOf(mint.toBase58())), isSigner: false, isWritable: true }, signer],
      // UpdateMetadataAccountV2: data with three strings, no fee, creators, collection or uses; nothing else.
      data: Buffer.concat([Buffer.from([15, 1]), x, x, x, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0])]),
    })
  }
  return new TransactionInstruction({
    programId: spl.TOKEN_2022_PROGRAM_ID,
    keys: [{ pubkey: mint, isSigner: false, isWritable: true }, signer],
    // UpdateField: the field `name`.
    data: Buffer.concat([Buffer.from([221, 233, 49, 45, 181, 202, 220, 200, 0]), x]),
  })
}

/** Bytes at the longest texts, with compute limit, compute price and a platform fee. */
const SIZES: Record<TokenProgram, Record<string, number>> = {
  spl: {
    'mint kept, freeze kept': 950,
    'mint kept, freeze revoked': 918,
    'mint revoked, freeze kept': 958,
    'mint revoked, freeze revoked': 926,
  },
  token2022: {
    'mint kept, freeze kept': 954,
    'mint kept, freeze revoked': 922,
    'mint revoked, freeze kept': 962,
    'mint revoked, freeze revoked': 930,
  },
}
