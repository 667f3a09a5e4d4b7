/** Each act on a token, byte for byte as the real programs took it, so that it is guarded without them. */
import * as spl from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildAuthorityTransfer,
  buildExtensionUpdates,
  buildHarvest,
  buildMetadataUpdate,
  buildMintAct,
  buildWalletActs,
  buildWithheldWithdrawal,
  type OnChainToken,
  type WalletAct,
} from '../../src/chain/programs/tokens/index.ts'
import { initializeMetadata } from '../../src/chain/programs/tokens/metadata-extension.ts'
import { createMetadata } from '../../src/chain/programs/tokens/metaplex.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import { fieldType } from '../../src/solana/programs/field-types.ts'
import { TOKEN_METADATA } from '../../src/solana/programs/token-metadata.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { TokenAuthorityType } from '../../src/solana/token-authorities.ts'
import { addressOf, createMint, type Extension, give, run, tokenAccountOf } from '../support/gold.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL, type TestChain } from '../support/local-chain.ts'

const [PAYER, MINT, ONE, TWO, OTHER] = [71, 72, 73, 74, 75].map(goldenKey) as [Key, Key, Key, Key, Key]
type Key = ReturnType<typeof goldenKey>
const [payer, mint] = [addressOf(PAYER), addressOf(MINT)]
const { ExtensionType } = spl
const PROGRAM_IDS = { spl: spl.TOKEN_PROGRAM_ID, token2022: spl.TOKEN_2022_PROGRAM_ID }
type Program = keyof typeof PROGRAM_IDS
const TEXTS = { name: 'Genesis', symbol: 'GEN', uri: 'https://example.com/genesis.json' }

const EXTENSIONS: Extension[] = [
  {
    type: ExtensionType.TransferFeeConfig,
    initialize: (at, id, by) => spl.createInitializeTransferFeeConfigInstruction(at, by, by, 1_000, 99n, id),
  },
  {
    type: ExtensionType.MintCloseAuthority,
    initialize: (at, id, by) => spl.createInitializeMintCloseAuthorityInstruction(at, by, id),
  },
  {
    type: ExtensionType.TransferHook,
    initialize: (at, id, by) => spl.createInitializeTransferHookInstruction(at, by, PublicKey.default, id),
  },
  {
    type: ExtensionType.MetadataPointer,
    initialize: (at, id, by) => spl.createInitializeMetadataPointerInstruction(at, by, at, id),
  },
  {
    type: ExtensionType.PausableConfig,
    initialize: (at, id, by) => spl.createInitializePausableConfigInstruction(at, by, id),
  },
  {
    type: ExtensionType.DefaultAccountState,
    initialize: (at, id) => spl.createInitializeDefaultAccountStateInstruction(at, spl.AccountState.Initialized, id),
  },
]
const INTEREST: Extension = {
  type: ExtensionType.InterestBearingConfig,
  initialize: (at, id, by) => spl.createInitializeInterestBearingMintInstruction(at, by, 1, id),
}
const SCALED: Extension = {
  type: ExtensionType.ScaledUiAmountConfig,
  initialize: (at, id, by) => spl.createInitializeScaledUiAmountConfigInstruction(at, by, 2, id),
}

interface Chain extends TestChain {
  token: { mint: PublicKey; program: PublicKey }
}

/** A chain with the mint, whose authorities the payer holds. */
async function open(program: Program, last: Extension = INTEREST): Promise<Chain> {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  for (const key of [PAYER, ONE, TWO]) test.chain.airdrop(addressOf(key), 100n * SOL)
  const extensions = program === 'spl' ? {} : { extensions: [...EXTENSIONS, last] }
  const token = createMint(test.chain, PAYER, { program: PROGRAM_IDS[program], key: MINT, ...extensions })
  return { ...test, token }
}

const landed = ({ chain }: Chain, ...instructions: Parameters<typeof run>[1]) => {
  const { err, logs } = run(chain, instructions, [PAYER])
  expect(err, logs.join('\n')).toBeNull()
}

/** The associated account of the golden mint. */
const accountOf = (key: Key, program: Program) =>
  tokenAccountOf({ mint: MINT.publicKey, program: PROGRAM_IDS[program] }, key.publicKey)

type Terms = { payer: string; recentBlockhash: string; messageConfig?: typeof GOLDEN_CONFIG }
interface Case {
  name: string
  needs?: string
  build(terms: Terms): Promise<UnsignedTransaction>
  arrange(): Promise<Chain>
}

const walletActs = (['mint', 'burn', 'freeze', 'thaw'] as const).flatMap((act: WalletAct): Case[] =>
  (Object.keys(PROGRAM_IDS) as Program[]).map((program) => {
    const wallets = act === 'mint' ? [ONE, TWO] : act === 'burn' ? [PAYER] : [ONE]
    return {
      name: `${program}-${act}`,
      build: (terms) =>
        buildWalletActs({
          ...{ ...terms, act, mint, tokenProgram: program, decimals: 9, param: 'wallets' },
          wallets: wallets.map((key) => ({
            wallet: addressOf(key),
            tokenAccount: accountOf(key, program).toBase58(),
            amount: act === 'mint' || act === 'burn' ? 7n : 0n,
            opens: key === TWO,
            hasLamports: true,
          })),
        }),
      async arrange() {
        const at = await open(program)
        for (const key of [PAYER, ONE]) give(at.chain, PAYER, at.token, key.publicKey, 100n)
        const { mint: key, program: id } = at.token
        if (act === 'thaw')
          landed(at, spl.createFreezeAccountInstruction(accountOf(ONE, program), key, PAYER.publicKey, [], id))
        return at
      },
    }
  }),
)

const mintActs = (['pause', 'resume', 'close'] as const).map(
  (act): Case => ({
    name: act,
    build: (terms) => buildMintAct({ ...terms, act, mint }),
    async arrange() {
      const at = await open('token2022')
      const pause = spl.createPauseInstruction(MINT.publicKey, PAYER.publicKey, [], PROGRAM_IDS.token2022)
      if (act === 'resume') landed(at, pause)
      return at
    },
  }),
)

/** The token as it is read after `openNamed`. */
const named = (program: Program): OnChainToken =>
  ({
    tokenProgram: program,
    metadata: {
      ...TEXTS,
      updateAuthority: payer,
      isMutable: true,
      source: program === 'spl' ? 'metaplex' : 'extension',
    },
    metadataPointerAuthority: program === 'spl' ? null : payer,
  }) as OnChainToken

async function openNamed(program: Program): Promise<Chain> {
  const at = await open(program)
  at.chain.airdrop(mint, SOL)
  landed(at, await (program === 'spl' ? createMetadata : initializeMetadata)(MINT.publicKey, PAYER.publicKey, TEXTS))
  return at
}

const needsMetaplex = (program: Program) => (program === 'spl' ? { needs: PROGRAMS.tokenMetadata.id } : {})

const authorities = (
  [
    ['spl', 'mint', OTHER],
    ['spl', 'freeze', null],
    ['spl', 'metadata', OTHER],
    ['spl', 'metadata', null],
    ['token2022', 'metadata', OTHER],
    ['token2022', 'metadata', null],
    ['token2022', 'pause', OTHER],
    ['token2022', 'withheld_withdraw', null],
  ] as [Program, TokenAuthorityType, Key | null][]
).map(
  ([program, type, to]): Case => ({
    name: `${program}-${to === null ? 'end' : 'give'}-${type}`,
    ...needsMetaplex(program),
    build: (terms) => buildAuthorityTransfer({ ...terms, mint, type, to: to && addressOf(to), token: named(program) }),
    arrange: () => openNamed(program),
  }),
)

/** The account of Metaplex with a royalty and two creators, which stay. */
const ROYAL_DATA = Buffer.concat([
  ...[Buffer.of(4), PAYER.publicKey.toBytes(), MINT.publicKey.toBytes()],
  ...Object.values(TEXTS).map((text) => fieldType('string').write(text)),
  ...[Buffer.of(244, 1, 1, 1, 0, 0, 0), PAYER.publicKey.toBytes(), Buffer.of(1, 100)],
  Buffer.of(0, 1, 0, 0, 0, 0),
])
const ROYAL = { owner: TOKEN_METADATA.id, data: ROYAL_DATA }
const CHANGE = { mint, fields: [], removed: [], immutable: false, topUp: 0n, metaplex: null }
const updates: Case[] = [
  {
    name: 'spl-update',
    ...needsMetaplex('spl'),
    build: (terms) =>
      buildMetadataUpdate({ ...terms, ...CHANGE, token: named('spl'), texts: { name: 'Other' }, metaplex: ROYAL }),
    arrange: () => openNamed('spl'),
  },
  {
    name: 'token2022-update',
    build: (terms) =>
      buildMetadataUpdate({
        ...{ ...terms, ...CHANGE, token: named('token2022'), texts: { symbol: 'OTH' }, immutable: true },
        ...{ fields: [{ key: 'website', value: 'example.com' }], topUp: 1_000_000n },
      }),
    arrange: () => openNamed('token2022'),
  },
]

const withheld = accountOf(ONE, 'token2022').toBase58()
/** A chain on which two accounts withhold fees, those of one of them in the mint. */
async function openWithheld(): Promise<Chain> {
  const at = await open('token2022')
  const { mint: key, program: id } = at.token
  give(at.chain, PAYER, at.token, PAYER.publicKey, 1_000n)
  for (const receiver of [ONE, TWO]) {
    const account = give(at.chain, PAYER, at.token, receiver.publicKey, 1n)
    const from = accountOf(PAYER, 'token2022')
    landed(at, spl.createTransferCheckedInstruction(from, key, account, PAYER.publicKey, 50n, 9, [], id))
  }
  landed(at, spl.createHarvestWithheldTokensToMintInstruction(key, [accountOf(TWO, 'token2022')], id))
  return at
}
const fees: Case[] = [
  {
    name: 'withdraw-withheld',
    build: (terms) =>
      buildWithheldWithdrawal({
        ...{ ...terms, mint, recipient: addressOf(OTHER), opens: true, fromMint: true, accounts: [withheld] },
        tokenAccount: accountOf(OTHER, 'token2022').toBase58(),
      }),
    arrange: openWithheld,
  },
  {
    name: 'harvest',
    build: (terms) => buildHarvest({ ...terms, mint, accounts: [withheld] }),
    arrange: openWithheld,
  },
]

const settings: Case[] = [
  {
    name: 'set-extensions',
    build: (terms) =>
      buildExtensionUpdates({
        ...{ ...terms, mint },
        updates: {
          transferFee: { basisPoints: 50, maximumFee: 7n },
          ...{ interestBasisPoints: -5, isFrozenByDefault: true, transferHook: MEMO_PROGRAM },
        },
      }),
    arrange: () => open('token2022'),
  },
  {
    name: 'set-multiplier',
    build: (terms) =>
      buildExtensionUpdates({
        ...{ ...terms, mint },
        updates: { multiplier: { value: 2.5, effectiveAt: 1_893_456_000n }, transferHook: null },
      }),
    arrange: () => open('token2022', SCALED),
  },
]

describe('the golden transaction of an act on a token is as recorded', () => {
  const all = [...walletActs, ...mintActs, ...authorities, ...updates, ...fees, ...settings]
  for (const { name, needs, build, arrange } of all) {
    const isLacking = RECORDING && needs !== undefined && !hasProgram(needs)
    it.skipIf(isLacking)(name, async () => {
      const terms = { payer, recentBlockhash: GOLDEN_BLOCKHASH }
      const [one, two] = [await build(terms), await build({ ...terms, messageConfig: GOLDEN_CONFIG })]
      for (const { requiredSigners } of [one, two]) expect(requiredSigners).toEqual([payer])
      await expectGolden(`token-acts/${name}`, one.transaction, arrange)
      await expectGolden(`token-acts/v1-${name}`, two.transaction, arrange)
    })
  }
})
