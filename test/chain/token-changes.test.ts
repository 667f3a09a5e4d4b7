/** What transactions do to tokens, told from their instructions: those that svc builds, and those of strangers. */
import * as spl from '@solana/spl-token'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildAuthorityTransfer,
  buildTokenCreation,
  metadataChangesIn,
  type TokenAuthority,
  type TokenProgram,
  tokenChangesIn,
} from '../../src/chain/programs/tokens/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS as KNOWN } from '../../src/solana/programs.ts'
import { TOKEN_AUTHORITIES } from '../../src/solana/token-authorities.ts'
import { runs } from '../support/runs.ts'
import { createdToken } from '../support/token-accounts.ts'

const PAYER = Keypair.generate().publicKey
const MINT = Keypair.generate().publicKey
const OTHER = Keypair.generate().publicKey
const BLOCKHASH = '11111111111111111111111111111111'
const PROGRAMS: [TokenProgram, PublicKey][] = [
  ['spl', spl.TOKEN_PROGRAM_ID],
  ['token2022', spl.TOKEN_2022_PROGRAM_ID],
]

const changesIn = ({ transaction }: Pick<UnsignedTransaction, 'transaction'>) =>
  tokenChangesIn(decodeWireTransaction(transaction).message)

function changesOf(...instructions: TransactionInstruction[]) {
  const message = new TransactionMessage({ payerKey: PAYER, recentBlockhash: BLOCKHASH, instructions })
  return changesIn({ transaction: new VersionedTransaction(message.compileToV0Message()).serialize() })
}

describe.each(PROGRAMS)('a transaction for a %s token', (tokenProgram, program) => {
  const creation = (revokeMintAuthority: boolean, revokeFreezeAuthority: boolean) =>
    buildTokenCreation({
      payer: PAYER.toBase58(),
      mint: MINT.toBase58(),
      name: 'Genesis',
      symbol: 'GEN',
      uri: 'https://example.com/genesis.json',
      decimals: 6,
      initialSupply: 5n,
      rent: 10_000_000n,
      recentBlockhash: BLOCKHASH,
      tokenProgram,
      revokeMintAuthority,
      revokeFreezeAuthority,
    })

  it.each<[boolean, boolean, TokenAuthority[]]>([
    [false, false, []],
    [true, false, ['mint']],
    [false, true, ['freeze']],
    [true, true, ['mint', 'freeze']],
  ])('creates it with mint revoked %s and freeze revoked %s', async (mint, freeze, revoked) => {
    expect(changesIn(await creation(mint, freeze))).toEqual([{ mint: MINT.toBase58(), created: true, revoked }])
  })

  it.each<TokenAuthority>(['mint', 'freeze', 'metadata'])('removes its %s authority', async (type) => {
    const envelope = { payer: PAYER.toBase58(), mint: MINT.toBase58(), recentBlockhash: BLOCKHASH }
    const changes = changesIn(
      await buildAuthorityTransfer({ ...envelope, type, to: null, token: createdToken(tokenProgram) }),
    )
    // Metaplex's instruction does not name the mint.
    const unseen = tokenProgram === 'spl' && type === 'metadata'
    expect(changes).toEqual(unseen ? [] : [{ mint: MINT.toBase58(), created: false, revoked: [type] }])
  })

  it('is reported change by change if it has several', () => {
    const [drop, types] = [spl.createSetAuthorityInstruction, spl.AuthorityType]
    const changes = changesOf(
      drop(MINT, PAYER, types.FreezeAccount, null, [], program),
      spl.createInitializeMintInstruction(OTHER, 0, PAYER, null, program),
      drop(MINT, PAYER, types.MintTokens, null, [], program),
      drop(MINT, PAYER, types.MintTokens, null, [], program),
    )
    expect(changes).toEqual([
      { mint: MINT.toBase58(), created: false, revoked: ['mint', 'freeze'] },
      { mint: OTHER.toBase58(), created: true, revoked: ['freeze'] },
    ])
  })

  it('changes without a revocation if an authority only moves', () => {
    const set = spl.createSetAuthorityInstruction
    const { MintTokens, FreezeAccount } = spl.AuthorityType
    for (const type of [MintTokens, FreezeAccount]) {
      const moved = [{ mint: MINT.toBase58(), created: false, revoked: [] }]
      expect(changesOf(set(MINT, PAYER, type, OTHER, [], program))).toEqual(moved)
    }
  })

  it('changes with each authority of an extension, of which only the metadata pointer counts as revoked', () => {
    const set = spl.createSetAuthorityInstruction
    for (const { kind } of Object.values(TOKEN_AUTHORITIES)) {
      if (kind === null || kind < 4) continue
      const revoked = kind === spl.AuthorityType.MetadataPointer ? ['metadata'] : []
      expect(changesOf(set(MINT, PAYER, kind, null, [], program))).toEqual([
        { mint: MINT.toBase58(), created: false, revoked },
      ])
      expect(changesOf(set(MINT, PAYER, kind, OTHER, [], program))).toMatchObject([{ revoked: [] }])
    }
  })

  it('has no change for authorities of token accounts', () => {
    const set = spl.createSetAuthorityInstruction
    const { AccountOwner, CloseAccount } = spl.AuthorityType
    expect(
      changesOf(
        set(OTHER, PAYER, CloseAccount, null, [], program),
        set(OTHER, PAYER, AccountOwner, PAYER, [], program),
        spl.createTransferInstruction(OTHER, MINT, PAYER, 0n, [], program),
        SystemProgram.transfer({ fromPubkey: PAYER, toPubkey: OTHER, lamports: 1 }),
      ),
    ).toEqual([])
  })
})

it('a mint that is paused, closed or set otherwise is changed, and nothing of it is revoked', () => {
  const program = spl.TOKEN_2022_PROGRAM_ID
  const fee = [spl.createSetTransferFeeInstruction, spl.createHarvestWithheldTokensToMintInstruction] as const
  const changed = [
    spl.createPauseInstruction(MINT, PAYER, [], program),
    spl.createResumeInstruction(MINT, PAYER, [], program),
    spl.createCloseAccountInstruction(MINT, PAYER, PAYER, [], program),
    fee[0](MINT, PAYER, [], 5, 9n, program),
    fee[1](MINT, [OTHER], program),
    spl.createWithdrawWithheldTokensFromMintInstruction(MINT, OTHER, PAYER, [], program),
    spl.createUpdateDefaultAccountStateInstruction(MINT, spl.AccountState.Frozen, PAYER, [], program),
    spl.createUpdateRateInterestBearingMintInstruction(MINT, PAYER, 5, [], program),
    spl.createUpdateMultiplierDataInstruction(MINT, PAYER, 2, 0n, [], program),
    spl.createUpdateTransferHookInstruction(MINT, PAYER, OTHER, [], program),
    spl.createUpdateMetadataPointerInstruction(MINT, PAYER, OTHER, [], program),
  ]
  for (const each of changed) expect(changesOf(each)).toEqual([{ mint: MINT.toBase58(), created: false, revoked: [] }])
  const others = [
    spl.createCloseAccountInstruction(MINT, PAYER, PAYER),
    spl.createTransferCheckedInstruction(MINT, MINT, OTHER, PAYER, 1n, 6, [], program),
    spl.createWithdrawWithheldTokensFromAccountsInstruction(MINT, OTHER, PAYER, [], [PAYER], program),
  ]
  for (const each of others) expect(changesOf(each)).toEqual([])
})

it('metadata in the mint whose update authority moves to somebody else is reported and stays changeable', async () => {
  const envelope = { payer: PAYER.toBase58(), mint: MINT.toBase58(), recentBlockhash: BLOCKHASH }
  const built = await buildAuthorityTransfer({
    ...envelope,
    type: 'metadata',
    to: null,
    token: createdToken('token2022'),
  })
  const { message } = decodeWireTransaction(built.transaction)
  const [instruction] = message.instructions
  expect(tokenChangesIn(message)).toMatchObject([{ revoked: ['metadata'] }])
  instruction!.data = Uint8Array.from([...instruction!.data.subarray(0, 8), ...OTHER.toBytes()])
  expect(tokenChangesIn(message)).toMatchObject([{ created: false, revoked: [] }])
})

const instructionData = fc.oneof(
  fc.constantFrom(0, 1, 2).map((type) => Uint8Array.of(6, type, 0)),
  fc
    .tuple(fc.constantFrom(0, 20), fc.constantFrom(0, 1, 2), fc.constantFrom(0, 31, 32))
    .map(([tag, option, left]) => Uint8Array.of(tag, ...new Uint8Array(33), option, ...new Uint8Array(left))),
  fc.uint8Array({ maxLength: 80 }),
  fc
    .tuple(
      fc.constantFrom(0, 6, 20),
      fc.constantFrom(0, 1, 2, 255),
      fc.constantFrom(0, 1),
      fc.uint8Array({ maxLength: 80 }),
    )
    .map(([tag, type, option, rest]) => Uint8Array.of(tag, type, option, ...rest)),
  fc.uint8Array({ maxLength: 40 }).map((rest) => Uint8Array.of(215, 228, 166, 228, 84, 100, 86, 123, ...rest)),
)

it('other instructions, cut short or with accounts from a table, cause no exception and no invented mint', {
  tags: 'sampled',
}, () => {
  const keys = [PAYER, MINT, OTHER, ...PROGRAMS.map(([, program]) => program)].map((key) => key.toBase58())
  const instruction = fc.record({
    programIdIndex: fc.constantFrom(3, 4, 1, 7),
    accounts: fc.array(fc.constantFrom(0, 1, 2, 9), { maxLength: 3 }).map((indexes) => Uint8Array.from(indexes)),
    data: instructionData,
  })
  let told = 0
  fc.assert(
    fc.property(fc.array(instruction, { maxLength: 6 }), (instructions) => {
      const header = { version: 0, signers: 1, readonlySigners: 0, readonlyOthers: 0 } as const
      const changes = tokenChangesIn({
        ...header,
        keys,
        recentBlockhash: BLOCKHASH,
        blockhashOffset: 0,
        instructions,
        lookups: [],
        config: null,
      })
      const first = instructions
        .filter(({ programIdIndex }) => [3, 4].includes(programIdIndex))
        .map(({ accounts }) => keys[accounts[0] ?? keys.length])
      for (const { mint } of changes) expect(first).toContain(mint)
      told += changes.length
    }),
    { numRuns: runs(200, 1_000) },
  )
  expect(told).toBeGreaterThan(runs(10, 100))
})

it('an instruction that is shorter than its key needs has no effect', () => {
  const [keys, program] = [[{ pubkey: MINT, isSigner: false, isWritable: true }], spl.TOKEN_PROGRAM_ID]
  const raw = (...data: number[]) => changesOf({ programId: program, keys, data: Buffer.from(data) })
  const revoked = [{ mint: MINT.toBase58(), created: false, revoked: ['mint'] }]
  expect([raw(), raw(6), raw(6, 0), raw(6, 0, 1), raw(20, 6), raw(20, 6, ...new Uint8Array(31))]).toEqual(
    Array(6).fill([]),
  )
  expect(raw(6, 0, 0)).toEqual(revoked)
})

/** An instruction of Metaplex Token Metadata that names five accounts, the metadata at `place`. */
function changedBy(place: number, ...data: number[]) {
  const keys = Array.from({ length: 5 }, (_, n) => ({
    pubkey: n === place ? MINT : OTHER,
    isSigner: false,
    isWritable: true,
  }))
  const programId = new PublicKey(KNOWN.tokenMetadata.id)
  const instruction = new TransactionInstruction({ programId, keys, data: Buffer.from(data) })
  const message = new TransactionMessage({
    payerKey: PAYER,
    recentBlockhash: BLOCKHASH,
    instructions: [instruction],
  })
  const bytes = new VersionedTransaction(message.compileToV0Message()).serialize()
  return metadataChangesIn(decodeWireTransaction(bytes).message)
}

it('metadata is reported by every update that can freeze it or give it away, and by no other', () => {
  const texts = [1, 0, 0, 0, 65, 1, 0, 0, 0, 66, 0, 0, 0, 0, 0, 0]
  const creators = [1, 1, 0, 0, 0, ...new Uint8Array(34)]
  const key = [1, ...new Uint8Array(32)]
  const [some, none, no, yes] = [1, 0, 0, 1]
  const whole = [1, ...texts, ...creators, ...key, 0, none]
  const frozen = [{ metadata: MINT.toBase58(), isFrozen: true }]
  const handed = [{ metadata: MINT.toBase58(), isFrozen: false }]
  expect(changedBy(0, 15, none, none, none, some, no)).toEqual(frozen)
  expect(changedBy(0, 15, ...whole, ...key, some, yes, some, no)).toEqual(frozen)
  expect(changedBy(0, 15, ...whole, ...key, some, yes, none)).toEqual(handed)
  expect(changedBy(0, 15, none, ...key, none, none)).toEqual(handed)
  expect(changedBy(0, 15, none, none, none, some, yes)).toEqual([])
  for (const variant of [0, 1]) {
    expect(changedBy(4, 50, variant, ...key, 1, ...texts, ...creators, none, some, no, 0)).toEqual(frozen)
    expect(changedBy(4, 50, variant, none, none, some, no, none, 0)).toEqual([])
    expect(changedBy(4, 50, variant, ...key, none, none, none, none, 0)).toEqual(handed)
  }
  expect(changedBy(4, 50, 2, none, none, some, no, none)).toEqual(frozen)
  expect(changedBy(4, 50, 3, none, none, some, no, none)).toEqual([])
})

it('an update of metadata that is cut short or made up causes no exception', () => {
  const data = fc.tuple(fc.constantFrom(15, 50), fc.uint8Array({ maxLength: 60 }))
  fc.assert(fc.property(data, ([tag, rest]) => changedBy(0, tag, ...rest).length <= 1))
})
