/** Assets of Metaplex Core on the embedded chain: built, run by the real program, read back; golden transactions and sizes. */
import { transferV1 } from '@metaplex-foundation/mpl-core'
import { ComputeBudgetProgram, Keypair, type PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkTextSize, TEXT_BYTES } from '../../src/api/nfts.ts'
import { readStakeMemo } from '../../src/chain/programs/metaplex-core/changes.ts'
import {
  type AssetChange,
  type AssetState,
  assetChangesIn,
  buildBurn,
  buildCollectionCreation,
  buildCollectionHandover,
  buildFreeze,
  buildMint,
  buildRelease,
  type CollectionState,
  isFrozen,
} from '../../src/chain/programs/metaplex-core/index.ts'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { decodeAsset, decodeCollection } from '../../src/chain/programs/metaplex-core/state.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { stakeMemo } from '../../src/solana/memos.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey } from '../support/golden.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL, type TestChain } from '../support/local-chain.ts'
import { mapped } from '../support/mapped.ts'
import { runs } from '../support/runs.ts'

const [USER, AUTHORITY, OWNER, PLATFORM, COLLECTION, ASSET] = mapped([21, 22, 23, 24, 25, 26], goldenKey)
const text = ({ publicKey }: { publicKey: PublicKey }) => publicKey.toBase58()
const TEXTS = { name: 'Genesis #1', uri: 'https://example.com/genesis/1.json' }
/** As many bytes as 64 characters can take, then as long a URI as fits. */
const LONG_NAME = '€'.repeat(64)
const LONGEST = { name: LONG_NAME, uri: `https://${'u'.repeat(TEXT_BYTES - Buffer.byteLength(LONG_NAME) - 8)}` }
const LONGEST_ID = '€'.repeat(64)

/** What comes with the instructions in the largest transaction. */
const COMPANY = {
  before: [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
  ],
  after: [SystemProgram.transfer({ fromPubkey: USER.publicKey, toPubkey: PLATFORM.publicKey, lamports: 5_000_000 })],
}
const envelope: Envelope = { payer: text(USER), recentBlockhash: GOLDEN_BLOCKHASH }

/** As far as the builders look at them. */
const collectionOf = (key: Keypair) =>
  ({ address: text(key), decoded: { publicKey: text(key) } }) as unknown as CollectionState
const assetOf = (key: Keypair, collection: Keypair, owner = USER) =>
  ({
    address: text(key),
    collection: text(collection),
    owner: text(owner),
    decoded: { publicKey: text(key), owner: text(owner) },
  }) as unknown as AssetState

const of = { asset: assetOf(ASSET, COLLECTION), platformId: 'acme' }
const longest = { ...of, platformId: LONGEST_ID, ...COMPANY }
const platform = text(PLATFORM)
const mint = {
  ...envelope,
  asset: text(ASSET),
  collection: collectionOf(COLLECTION),
  authority: text(USER),
  owner: text(USER),
  ...TEXTS,
}
const three = { authority: text(AUTHORITY), owner: text(OWNER) }
const creation = { ...envelope, collection: text(COLLECTION), updateAuthority: text(USER), ...TEXTS }

type Step = 'nothing' | 'collection' | 'other-collection' | 'minted' | 'unfrozen' | 'staked' | 'staked-platform'
const builtWith = (shared: typeof envelope): [string, () => Promise<UnsignedTransaction>, Step][] => [
  ['collection', () => buildCollectionCreation({ ...creation, ...shared }), 'nothing'],
  [
    'collection-longest',
    () =>
      buildCollectionCreation({
        ...creation,
        ...shared,
        ...LONGEST,
        updateAuthority: platform,
        before: COMPANY.before,
      }),
    'nothing',
  ],
  [
    'handover',
    () => buildCollectionHandover({ ...shared, collection: text(COLLECTION), newAuthority: platform }),
    'collection',
  ],
  ['mint', () => buildMint({ ...mint, ...shared }), 'collection'],
  ['mint-by-authority', () => buildMint({ ...mint, ...shared, ...three }), 'other-collection'],
  [
    'mint-longest',
    () => buildMint({ ...mint, ...shared, ...three, ...LONGEST, before: COMPANY.before }),
    'other-collection',
  ],
  ['stake', () => buildFreeze({ ...shared, ...of, authority: null, existing: 'none' }), 'minted'],
  ['stake-for-platform', () => buildFreeze({ ...shared, ...of, authority: platform, existing: 'none' }), 'minted'],
  ['stake-again', () => buildFreeze({ ...shared, ...of, authority: null, existing: 'use' }), 'unfrozen'],
  ['stake-longest', () => buildFreeze({ ...shared, ...longest, authority: platform, existing: 'replace' }), 'unfrozen'],
  ['release', () => buildRelease({ ...shared, ...of, authority: null }), 'staked'],
  ['release-by-platform', () => buildRelease({ ...shared, ...of, authority: platform }), 'staked-platform'],
  ['release-longest', () => buildRelease({ ...shared, ...longest, authority: platform }), 'staked-platform'],
  ['burn', () => buildBurn({ ...shared, ...of, collection: collectionOf(COLLECTION) }), 'minted'],
]
const BUILT = builtWith(envelope)
/** The longest come with instructions for limit and price, which version 1 has no use for. */
const BUILT_V1 = builtWith({ ...envelope, messageConfig: GOLDEN_CONFIG }).filter(([name]) => !name.endsWith('-longest'))

/** A chain on which the golden keys have come so far. */
async function arranged(step: Step): Promise<TestChain> {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  for (const key of [USER, AUTHORITY, OWNER, PLATFORM]) test.chain.airdrop(text(key), 10n * SOL)
  if (step === 'nothing') return test
  const run = async (build: (recentBlockhash: string) => Promise<UnsignedTransaction>, ...signers: Keypair[]) => {
    const { transaction } = await build(test.chain.latestBlockhash().blockhash)
    expect(landed(test, transaction, signers).err).toBeNull()
  }
  const authority = step === 'other-collection' ? text(AUTHORITY) : text(USER)
  await run(
    (recentBlockhash) => buildCollectionCreation({ ...creation, updateAuthority: authority, recentBlockhash }),
    ...[USER, COLLECTION],
  )
  if (step === 'collection' || step === 'other-collection') return test
  await run((recentBlockhash) => buildMint({ ...mint, recentBlockhash }), USER, ASSET)
  if (step === 'minted') return test
  if (step === 'unfrozen') {
    const { core, context, signer, key, instructions } = await loadCore()
    const added = core.addPlugin(context, {
      asset: key(text(ASSET)),
      collection: key(text(COLLECTION)),
      payer: signer(text(USER)),
      authority: signer(text(USER)),
      plugin: { type: 'FreezeDelegate', frozen: false, authority: { type: 'Owner' } },
    })
    await run((recentBlockhash) => compileUnsigned({ ...envelope, recentBlockhash }, instructions(added)), USER)
    return test
  }
  const frozenFor = step === 'staked' ? null : platform
  await run(
    (recentBlockhash) => buildFreeze({ ...envelope, ...of, authority: frozenFor, existing: 'none', recentBlockhash }),
    USER,
  )
  return test
}

function landed({ chain }: TestChain, transaction: Uint8Array, signers: readonly Keypair[]) {
  const signed = VersionedTransaction.deserialize(transaction)
  signed.sign([...signers])
  return chain.send(signed.serialize())
}

describe('every builder of Metaplex Core', () => {
  it("makes the transactions that the program accepted when recorded, within the chain's limits", async () => {
    const sizes: Record<string, number> = {}
    for (const [name, build, step] of BUILT) {
      const { transaction } = await build()
      sizes[name] = await expectGolden(`core/${name}`, transaction, () => arranged(step))
    }
    for (const [name, build, step] of BUILT_V1) {
      await expectGolden(`core/v1-${name}`, (await build()).transaction, () => arranged(step))
    }
    expect(sizes).toMatchInlineSnapshot(`
      {
        "burn": 243,
        "collection": 366,
        "collection-longest": 1099,
        "handover": 276,
        "mint": 403,
        "mint-by-authority": 531,
        "mint-longest": 1232,
        "release": 384,
        "release-by-platform": 480,
        "release-longest": 738,
        "stake": 373,
        "stake-again": 371,
        "stake-for-platform": 405,
        "stake-longest": 706,
      }
    `)
  })

  it('has room for the longest texts of the API, and for no byte more', async () => {
    const sized = (uri: string) => buildMint({ ...mint, ...three, name: LONG_NAME, uri, before: COMPANY.before })
    const { transaction } = await sized(LONGEST.uri)
    expect(transaction.length).toBe(MAX_TRANSACTION_BYTES)
    await expect(sized(`${LONGEST.uri}u`)).rejects.toThrow('larger than the 1232 bytes')
  })
})

const withoutCore = it.skipIf(!hasProgram(PROGRAMS.core.id))

/** Wallets on a chain, and what is at addresses there. */
async function open() {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  const [user, other, platformKey] = [test.wallet(), test.wallet(), test.wallet()]
  const account = (key: Keypair) => test.chain.account(text(key))
  const asset = async (key: Keypair) => {
    const found = await decodeAsset(text(key), account(key))
    if (found.kind !== 'asset') throw new Error(`the asset is ${found.kind}`)
    return found.asset
  }
  const collection = async (key: Keypair) => (await decodeCollection(text(key), account(key)))!
  const land = async (
    build: (envelope: { payer: string; recentBlockhash: string }) => Promise<UnsignedTransaction>,
    ...signers: Keypair[]
  ) => {
    test.wall.ms += 1_000
    const recentBlockhash = test.chain.latestBlockhash().blockhash
    const { transaction } = await build({ payer: text(signers[0]!), recentBlockhash })
    return {
      ...landed(test, transaction, signers),
      changes: assetChangesIn(decodeWireTransaction(transaction).message),
    }
  }
  const made = Keypair.generate()
  await land(
    (of) => buildCollectionCreation({ ...of, collection: text(made), updateAuthority: text(user), ...TEXTS }),
    user,
    made,
  )
  const minted = Keypair.generate()
  const birth = await land(
    async (of) =>
      buildMint({
        ...of,
        asset: text(minted),
        collection: await collection(made),
        authority: text(user),
        owner: text(user),
        ...TEXTS,
      }),
    user,
    minted,
  )
  return { test, user, other, platformKey, account, asset, collection, land, made, minted, birth }
}

describe('an asset', () => {
  withoutCore('is minted, frozen, not given away, released and burned, and each shows on chain', async () => {
    const { user, other, account, asset, collection, land, made, minted, birth } = await open()
    const own = { asset: text(minted), collection: text(made) }
    expect([birth.err, birth.changes]).toEqual([null, [{ kind: 'minted', ...own, owner: text(user), ...TEXTS }]])
    expect(await asset(minted)).toMatchObject({ owner: text(user), collection: text(made), ...TEXTS, freeze: null })
    expect(await collection(made)).toMatchObject({ updateAuthority: text(user), updateDelegates: [], size: 1 })

    const staked = await land(
      async (of) =>
        buildFreeze({ ...of, asset: await asset(minted), authority: null, existing: 'none', platformId: 'acme' }),
      user,
    )
    const stake = { ...own, owner: text(user), holder: text(user), platformId: 'acme' }
    expect([staked.err, staked.changes]).toEqual([null, [{ kind: 'frozen', isNew: true, ...stake }]])
    expect((await asset(minted)).freeze).toEqual({ frozen: true, authority: { type: 'Owner' } })
    expect(isFrozen(await asset(minted), await collection(made))).toBe(true)

    const { context, signer, key, instructions } = await loadCore()
    const given = transferV1(context, {
      asset: key(own.asset),
      collection: key(own.collection),
      payer: signer(text(user)),
      authority: signer(text(user)),
      newOwner: key(text(other)),
    })
    const transfer = () => land((of) => compileUnsigned(of, instructions(given)), user)
    const frozen = { InstructionError: [0, { Custom: 9 }] }
    expect((await transfer()).err).toEqual(frozen)
    const burn = () =>
      land(async (of) => buildBurn({ ...of, asset: await asset(minted), collection: await collection(made) }), user)
    expect((await burn()).err).toEqual(frozen)

    const released = await land(
      async (of) => buildRelease({ ...of, asset: await asset(minted), authority: null, platformId: 'acme' }),
      user,
    )
    expect([released.err, released.changes]).toEqual([null, [{ kind: 'released', ...stake }]])
    expect((await asset(minted)).freeze).toBeNull()

    const moved = await transfer()
    expect([moved.err, moved.changes]).toEqual([null, [{ kind: 'transferred', ...own, owner: text(other) }]])
    expect((await asset(minted)).owner).toBe(text(other))
    const burned = await land(
      async (of) => buildBurn({ ...of, asset: await asset(minted), collection: await collection(made) }),
      other,
    )
    expect([burned.err, burned.changes]).toEqual([null, [{ kind: 'burned', ...own }]])
    expect(await decodeAsset(own.asset, account(minted))).toEqual({ kind: 'burned' })
    expect(await collection(made)).toMatchObject({ minted: 1, size: 0 })
  })

  withoutCore('that the platform has frozen is released by both keys together', async () => {
    const { user, platformKey, asset, land, minted } = await open()
    const freeze = async () =>
      land(
        async (of) =>
          buildFreeze({
            ...of,
            asset: await asset(minted),
            authority: text(platformKey),
            existing: 'none',
            platformId: 'acme',
          }),
        user,
      )
    expect(await freeze()).toMatchObject({ err: null, changes: [{ kind: 'frozen', holder: text(platformKey) }] })
    const authority = { type: 'Address', address: text(platformKey) }
    expect((await asset(minted)).freeze).toEqual({ frozen: true, authority })
    const release = (authority: string | null, ...signers: Keypair[]) =>
      land(async (of) => buildRelease({ ...of, asset: await asset(minted), authority, platformId: 'acme' }), ...signers)
    expect((await release(null, user)).err).toMatchObject({ InstructionError: [0, { Custom: 26 }] })
    const released = await release(text(platformKey), user, platformKey)
    expect([released.err, released.changes]).toMatchObject([null, [{ kind: 'released', owner: text(user) }]])
    expect((await asset(minted)).freeze).toBeNull()
  })

  withoutCore('with a plugin that is not frozen is staked by it, or with another in its place', async () => {
    const { user, platformKey, asset, land, made, minted } = await open()
    const { core, context, signer, key, instructions } = await loadCore()
    const add = (address: string | null) =>
      core.addPlugin(context, {
        asset: key(text(minted)),
        collection: key(text(made)),
        payer: signer(text(user)),
        authority: signer(text(user)),
        plugin: {
          type: 'FreezeDelegate',
          frozen: false,
          authority: address === null ? { type: 'Owner' } : { type: 'Address', address: key(address) },
        },
      })
    const stake = (authority: string | null, existing: 'use' | 'replace' | 'none') =>
      land(async (of) => buildFreeze({ ...of, asset: await asset(minted), authority, existing, platformId: 'a' }), user)
    const release = () =>
      land(async (of) => buildRelease({ ...of, asset: await asset(minted), authority: null, platformId: 'a' }), user)
    await land((of) => compileUnsigned(of, instructions(add(null))), user)
    expect((await stake(null, 'none')).err).toMatchObject({ InstructionError: [0, { Custom: 15 }] })
    const used = await stake(null, 'use')
    expect([used.err, used.changes]).toMatchObject([
      null,
      [{ kind: 'frozen', isNew: false, owner: text(user), platformId: 'a' }],
    ])
    expect((await release()).err).toBeNull()
    await land((of) => compileUnsigned(of, instructions(add(text(platformKey)))), user)
    const replaced = await stake(null, 'replace')
    expect([replaced.err, replaced.changes.length]).toEqual([null, 1])
    expect((await asset(minted)).freeze).toEqual({ frozen: true, authority: { type: 'Owner' } })
  })
})

describe('changes of assets', () => {
  it('are read from any bytes without an exception', { tags: 'sampled' }, () => {
    const keys = [PROGRAMS.core.id, ...[USER, OWNER, ASSET, COLLECTION].map(text)]
    const instruction = fc.record({
      programIdIndex: fc.nat(5),
      accounts: fc.uint8Array({ maxLength: 8, max: 6 }),
      data: fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc
          .tuple(fc.constantFrom(0, 2, 4, 6, 12, 14, 20), fc.uint8Array({ maxLength: 30, max: 3 }))
          .map(([code, rest]) => Uint8Array.of(code, ...rest)),
      ),
    })
    fc.assert(
      fc.property(fc.array(instruction, { maxLength: 6 }), (instructions) => {
        const message = { keys, instructions } as unknown as Parameters<typeof assetChangesIn>[0]
        for (const change of assetChangesIn(message)) {
          expect(keys).toContain(change.asset)
          expect(change.collection).not.toBe(PROGRAMS.core.id)
          if (change.kind === 'minted') expect(`${change.name}${change.uri}`).not.toContain('\0')
        }
      }),
      { numRuns: runs(400, 2_000) },
    )
  })

  it('with accounts from lookup tables name only the true owner and collection', () => {
    const keys = [...[USER, ASSET, AUTHORITY, COLLECTION].map(text), PROGRAMS.core.id]
    const [payer, asset, authority, collection, none, inTable] = [0, 1, 2, 3, 4, 5]
    const data = Buffer.from([20, 0, 1, 0, 0, 0, 110, 1, 0, 0, 0, 117, 0, 0])
    const told = (data: Uint8Array, ...accounts: number[]) =>
      assetChangesIn({
        keys,
        instructions: [{ programIdIndex: none, accounts: Uint8Array.from(accounts), data }],
      } as unknown as Parameters<typeof assetChangesIn>[0])
    const minted = (owner: number, into = collection) => told(data, asset, into, authority, payer, owner, none, none)
    expect(minted(none)).toMatchObject([{ kind: 'minted', owner: text(USER), collection: text(COLLECTION) }])
    expect(minted(authority)).toMatchObject([{ owner: text(AUTHORITY) }])
    expect(minted(none, none)).toMatchObject([{ collection: null }])
    expect(minted(inTable)).toEqual([])
    expect(minted(authority, inTable)).toEqual([])
    expect(told(data, asset, collection, authority, payer, none, inTable)).toEqual([])
    expect(told(Uint8Array.of(14, 0), asset, collection, payer, authority, inTable)).toEqual([])
    expect(told(Uint8Array.of(14, 0), inTable, collection, payer, authority, authority)).toEqual([])
  })

  it('of several assets have the platform of their own memo each, in the order of the message', async () => {
    const second = goldenKey(27)
    const part = async (asset: Keypair, platformId: string) => {
      const built = await buildFreeze({
        ...envelope,
        asset: assetOf(asset, COLLECTION),
        authority: null,
        existing: 'none',
        platformId,
      })
      return decodeWireTransaction(built.transaction).message
    }
    const [one, two] = [await part(ASSET, 'first: one'), await part(second, 'two')]
    // Keys of the second message behind those of the first.
    const shifted = two.instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex: programIdIndex + one.keys.length,
      accounts: accounts.map((index) => index + one.keys.length),
      data,
    }))
    const joined = { ...one, keys: [...one.keys, ...two.keys], instructions: [...shifted, ...one.instructions] }
    const told = assetChangesIn(joined).map((change) => {
      const { asset, platformId } = change as Extract<AssetChange, { kind: 'frozen' }>
      return [asset, platformId]
    })
    expect(told).toEqual([
      [text(second), 'two'],
      [text(ASSET), 'first: one'],
    ])
  })
})

describe('a memo of an asset', () => {
  it('returns every platform id of the API, and no other', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64 }), (id) => {
        const taken = id.length <= 64 && !/\p{Cc}/u.test(id)
        const read = readStakeMemo(Buffer.from(stakeMemo('stake', text(ASSET), id)))
        expect(read).toEqual({ verb: 'stake', asset: text(ASSET), platformId: taken ? id : null })
      }),
    )
    for (const foreign of ['', 'svc:stake:', `svc:burn:${text(ASSET)}:x`, 'hello']) {
      expect(readStakeMemo(Buffer.from(foreign))).toBeNull()
    }
    expect(readStakeMemo(Buffer.from(`svc:stake:${text(ASSET)}:a\0b`))?.platformId).toBeNull()
  })
})

describe('texts of assets', () => {
  it('are accepted by the API exactly if they fit', () => {
    const issues = (name: string, uri: string) => {
      const found: unknown[] = []
      checkTextSize({ name, uri }, { addIssue: (issue: unknown) => found.push(issue) } as never)
      return found
    }
    expect(issues(LONGEST.name, LONGEST.uri)).toEqual([])
    expect(issues(LONGEST.name, `${LONGEST.uri}u`)).toMatchObject([{ path: ['uri'] }])
  })
})
