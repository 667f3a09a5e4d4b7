/** What strangers' clients do on the chain past the service is reported as if they had done it through the service, each once. */
import { addPlugin, burn, create, transferV1, updatePlugin } from '@metaplex-foundation/mpl-core'
import * as spl from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { buildClawback } from '../../src/chain/programs/merkle-distributor/index.ts'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { buildAuthorityTransfer, metadataAddressOf } from '../../src/chain/programs/tokens/index.ts'
import { setField, setUpdateAuthority } from '../../src/chain/programs/tokens/metadata-extension.ts'
import { handMetadata } from '../../src/chain/programs/tokens/metaplex.ts'
import { INSTRUCTIONS_SYSVAR } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { insertToken } from '../../src/store/resources/tokens.ts'
import {
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { assetsOn, lacksCore } from '../support/assets.ts'
import { createMint, DAY, give, lacksLock } from '../support/gold.ts'
import { buildGoldLock, buildGoldUnlock } from '../support/lock-builds.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { hasProgram } from '../support/programs.ts'
import { startService } from '../support/service.ts'
import { createdToken } from '../support/token-accounts.ts'
import { keypairOf } from '../support/wallets.ts'
import { actsOn, WAYS, type Way } from './acts.ts'

/** The instructions of a transaction, to be put into another one. */
function instructionsOf(bytes: Uint8Array): TransactionInstruction[] {
  const { message } = VersionedTransaction.deserialize(bytes)
  return TransactionMessage.decompile(message).instructions
}

type Told = Record<Way, string[]>

/** Runs the same acts in both ways and compares what is reported. */
async function compared(run: (way: Way) => Promise<string[]>): Promise<Told> {
  const told: Partial<Told> = {}
  for (const way of WAYS) told[way] = await run(way)
  expect(told.past).toEqual(told.through)
  return told as Told
}

const typesOf = (told: readonly string[]) =>
  told.map((text) => text.slice(0, text.indexOf(' '))).filter((type) => type !== 'record')

describe.skipIf(lacksCore)('assets (needs Metaplex Core)', () => {
  it('that a stranger mints, stakes, releases, transfers and burns are reported as if through the service', async () => {
    const { past } = await compared(async (way) => {
      const scene = await assetsOn(await startPlatform(null))
      const acts = await actsOn(scene, way)
      const [user, other] = [scene.funded(), scene.funded()]
      const made = await scene.built('POST', '/v2/collections', {
        payer: addressOf(user),
        name: 'C',
        uri: 'https://example.com/c.json',
      })
      await scene.submit(made, [user])
      await acts.settle(1)
      const { instructions, context, signer, key } = await loadCore()
      const asset = Keypair.generate()
      const own = {
        collection: key(made.collection),
        payer: signer(addressOf(user)),
        authority: signer(addressOf(user)),
      }
      const plugin = { type: 'FreezeDelegate', frozen: true } as const
      const at = key(addressOf(asset))
      await acts.send(
        acts.sign(
          instructions(
            create(context, {
              ...own,
              asset: signer(addressOf(asset)),
              collection: { publicKey: key(made.collection) },
              name: 'A',
              uri: 'https://example.com/a.json',
            }),
          ),
          [user, asset],
        ),
      )
      const steps = [
        addPlugin(context, { ...own, asset: at, plugin: { ...plugin, authority: { type: 'Owner' } } }),
        updatePlugin(context, { ...own, asset: at, plugin: { type: 'FreezeDelegate', frozen: false } }),
        transferV1(context, { ...own, asset: at, newOwner: key(addressOf(other)) }),
      ]
      for (const step of steps) await acts.send(acts.sign(instructions(step), [user]))
      const byOther = { ...own, payer: signer(addressOf(other)), authority: signer(addressOf(other)) }
      const burning = burn(context, {
        ...byOther,
        asset: { publicKey: at },
        collection: { publicKey: key(made.collection) },
      } as never)
      // Version 1 of transactions is read like every other.
      await acts.send(acts.signV1(instructions(burning), [other]))
      await acts.settle()
      const { json } = await acts.request('GET', `/v2/nfts/${addressOf(asset)}`)
      const names = {
        [addressOf(user)]: 'USER',
        [addressOf(other)]: 'OTHER',
        [addressOf(asset)]: 'ASSET',
        [made.collection]: 'COLLECTION',
      }
      expect(json.data.status).toBe('burned')
      return acts.told(names)
    })
    expect(typesOf(past)).toEqual([
      'nft.burned',
      'nft.created',
      'nft.staked',
      'nft.unstaked',
      'stake.acquired',
      'stake.released',
    ])
  })
})

describe.skipIf(lacksDistributor)('an airdrop (needs the Jito merkle distributor)', () => {
  it('that strangers claim, also by a lookup table, and take back is reported as if through the service', async () => {
    const { past } = await compared(async (way) => {
      const all = await airdropsOn(await startService())
      const acts = await actsOn(all, way)
      const payer = all.wallet()
      const wallets = Array.from({ length: 3 }, () => all.wallet())
      const mint = all.mintFor(payer, 1_000_000n)
      const entries = entriesFor(wallets)
      const stored = await all.storeTree(mint, entries)
      const { distributor } = await all.vaultOf(mint)
      const built = await all.ok('POST', '/v2/airdrops', createBody(payer, mint, stored.root))
      await acts.send(Buffer.from(all.sign(built.transaction, [payer]), 'base64'))
      await acts.settle(1)
      // The instructions of a claim are the program's, whoever made them: only how they are sent differs.
      const claimOf = async (n: number) => {
        const claim = await all.ok('POST', `/v2/airdrops/${stored.id}/claims`, claimBody(wallets[n]!))
        return instructionsOf(Buffer.from(claim.transaction, 'base64'))
      }
      await acts.send(acts.sign(await claimOf(0), [wallets[0]!]))
      await acts.send(acts.sign(await claimOf(1), [wallets[1]!], [await tableWith(acts, payer, distributor)]))
      acts.pass(31 * DAY_S)
      await acts.settle(1)
      const clawback = await buildClawback({
        payer: addressOf(payer),
        recentBlockhash: acts.chain.latestBlockhash().blockhash,
        distributor,
        mint,
        receiver: spl.getAssociatedTokenAddressSync(new PublicKey(mint), payer.publicKey).toBase58(),
        opensReceiverFor: null,
      })
      await acts.send(acts.sign(instructionsOf(clawback.transaction), [payer]))
      await acts.settle()
      const names = Object.fromEntries(wallets.map((wallet, n) => [addressOf(wallet), `WALLET ${n}`]))
      return acts.told({
        ...names,
        [addressOf(payer)]: 'PAYER',
        [stored.id]: 'ID',
        [mint]: 'MINT',
        [distributor]: 'DISTRIBUTOR',
        [stored.root]: 'ROOT',
        [stored.created_by as string]: 'KEY',
      })
    })
    expect(typesOf(past)).toEqual([
      'airdrop.claim_started',
      'airdrop.claimed',
      'airdrop.claimed',
      'airdrop.initialized',
      'airdrop.tree_built',
      'airdrop.vault_drained',
    ])
  })
})

/** A lookup table with one address, warm enough to be used. */
async function tableWith(acts: Awaited<ReturnType<typeof actsOn>>, payer: Keypair, address: string) {
  const authority = { authority: payer.publicKey, payer: payer.publicKey }
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    ...authority,
    recentSlot: acts.chain.slot() - 1,
  })
  const extend = AddressLookupTableProgram.extendLookupTable({
    ...authority,
    lookupTable: table,
    addresses: [new PublicKey(address)],
  })
  acts.past(acts.sign([create, extend], [payer]))
  acts.pass(2)
  const state = AddressLookupTableAccount.deserialize(acts.chain.account(table.toBase58())!.data)
  return new AddressLookupTableAccount({ key: table, state })
}

describe('a token of this service', () => {
  it('whose authorities are revoked by spl-token is reported as if through the service', async () => {
    const { past } = await compared(async (way) => {
      const scene = await assetsOn(await startService())
      const acts = await actsOn(scene, way)
      const user = scene.funded()
      const made = await scene.built('POST', '/v2/tokens', {
        payer: addressOf(user),
        name: 'T',
        symbol: 'T',
        initial_supply: '1000',
        token_program: 'token2022',
        uri: 'https://example.com/t.json',
        revoke_freeze_authority: false,
      })
      const mintKey = keypairOf(made.required_signers.mint_secret_key)
      await scene.submit(made, [user, mintKey])
      await acts.settle(1)
      const revoke = (type: spl.AuthorityType) =>
        spl.createSetAuthorityInstruction(mintKey.publicKey, user.publicKey, type, null, [], spl.TOKEN_2022_PROGRAM_ID)
      await acts.send(acts.sign([revoke(spl.AuthorityType.FreezeAccount)], [user]))
      await acts.settle(1)
      await acts.send(acts.sign([revoke(spl.AuthorityType.MintTokens)], [user]))
      await acts.settle()
      return acts.told({ [made.mint]: 'MINT', [addressOf(user)]: 'USER' })
    })
    expect(typesOf(past)).toEqual(['token.created', 'token.freeze_authority_revoked', 'token.mint_authority_revoked'])
  })
})

/** Its mint authority passes to another wallet. */
const handed = (mint: PublicKey, from: Keypair, to: PublicKey, program: PublicKey) =>
  spl.createSetAuthorityInstruction(mint, from.publicKey, spl.AuthorityType.MintTokens, to, [], program)

describe('a Token-2022 token of this service', () => {
  it('that is made fully immutable past it, authority by authority, is reported once', async () => {
    const service = await startService()
    const scene = await assetsOn(service)
    const acts = await actsOn(scene, 'past')
    const [user, other] = [scene.funded(), Keypair.generate()]
    const made = await scene.built('POST', '/v2/tokens', {
      payer: addressOf(user),
      name: 'T',
      symbol: 'T',
      initial_supply: '1000',
      token_program: 'token2022',
      uri: 'https://example.com/t.json',
      revoke_freeze_authority: true,
      revoke_mint_authority: true,
      extensions: { pausable: true },
    })
    const mintKey = keypairOf(made.required_signers.mint_secret_key)
    await scene.submit(made, [user, mintKey])
    await acts.settle(2)
    const { PausableConfig } = spl.AuthorityType
    const [mint, program] = [mintKey.publicKey, spl.TOKEN_2022_PROGRAM_ID]
    const paused = spl.createSetAuthorityInstruction(mint, user.publicKey, PausableConfig, other.publicKey, [], program)
    await acts.send(acts.sign([paused], [user]))
    await acts.settle(2)
    const [record] = (await service.request('GET', '/v2/tokens')).json.data
    expect(record.raw.extensions.authorities).toEqual({ pause: addressOf(other) })
    await acts.send(acts.sign([await setUpdateAuthority(mint, user.publicKey)], [user]))
    await acts.settle(2)
    const told = await acts.told({ [made.mint]: 'MINT', [addressOf(user)]: 'USER', [addressOf(other)]: 'OTHER' })
    expect(typesOf(told).filter((type) => type === 'token.fully_immutable')).toHaveLength(1)
  })
})

describe('a Token-2022 token of this service whose mint others change past it', () => {
  it('has the new texts and settings in its record, and leaves the list once the mint is closed', async () => {
    const service = await startService()
    const scene = await assetsOn(service)
    const acts = await actsOn(scene, 'past')
    const user = scene.funded()
    const made = await scene.built('POST', '/v2/tokens', {
      payer: addressOf(user),
      name: 'T',
      symbol: 'T',
      initial_supply: '1000',
      token_program: 'token2022',
      uri: 'https://example.com/t.json',
      extensions: { pausable: true, closable: true, transfer_fee: { basis_points: 100 } },
    })
    const mintKey = keypairOf(made.required_signers.mint_secret_key)
    await scene.submit(made, [user, mintKey])
    await acts.settle(2)
    const [mint, by, program] = [mintKey.publicKey, user.publicKey, spl.TOKEN_2022_PROGRAM_ID]
    const recordAfter = async (...instructions: TransactionInstruction[]) => {
      await acts.send(acts.sign(instructions, [user]))
      await acts.settle(2)
      const [record] = (await service.request('GET', '/v2/tokens')).json.data
      return record
    }
    expect((await recordAfter(await setField(mint, by, { key: 'name', value: 'U' }))).raw.metadata.name).toBe('U')
    expect((await recordAfter(spl.createPauseInstruction(mint, by, [], program))).raw.extensions.paused).toBe(true)
    expect((await recordAfter(spl.createResumeInstruction(mint, by, [], program))).raw.extensions.paused).toBe(false)
    const fee = spl.createSetTransferFeeInstruction(mint, by, [], 7, 9n, program)
    expect((await recordAfter(fee)).raw.extensions.transfer_fee).toMatchObject({ basis_points: 7, maximum_fee: '9' })
    const account = spl.getAssociatedTokenAddressSync(mint, by, false, program)
    const burned = spl.createBurnInstruction(account, mint, by, 1_000n, [], program)
    const closed = spl.createCloseAccountInstruction(mint, by, by, [], program)
    expect(await recordAfter(burned, closed)).toBeUndefined()
    expect((await service.request('GET', `/v2/tokens/${made.mint}`)).status).toBe(404)
    const told = await acts.told({})
    expect(typesOf(told)).toEqual(['token.created', 'token.freeze_authority_revoked'])
  })
})

describe('a token of this service whose authorities are given away past it', () => {
  it.skipIf(!hasProgram(PROGRAMS.tokenMetadata.id))('has the new holders in its record', async () => {
    const scene = await assetsOn(await startService())
    const acts = await actsOn(scene, 'past')
    const [user, other] = [scene.funded(), Keypair.generate()]
    const made = await scene.built('POST', '/v2/tokens', {
      payer: addressOf(user),
      name: 'T',
      symbol: 'T',
      initial_supply: '1000',
      token_program: 'spl',
      uri: 'https://example.com/t.json',
    })
    const mintKey = keypairOf(made.required_signers.mint_secret_key)
    await scene.submit(made, [user, mintKey])
    await acts.settle(2)
    await acts.send(acts.sign([handed(mintKey.publicKey, user, other.publicKey, spl.TOKEN_PROGRAM_ID)], [user]))
    const metadata = await handMetadata(mintKey.publicKey, user.publicKey, other.publicKey)
    await acts.send(acts.sign([metadata], [user]))
    await acts.settle(2)
    const told = await acts.told({ [made.mint]: 'MINT', [addressOf(user)]: 'USER', [addressOf(other)]: 'OTHER' })
    expect(typesOf(told)).toEqual(['token.created', 'token.freeze_authority_revoked'])
    expect(told.at(-1)).toContain('"mint_authority":"OTHER"')
    expect(told.at(-1)).toContain('"update_authority":"OTHER"')
  })
})

/** Metaplex's newer instruction, as its own SDKs build it: only `is_mutable` is set. */
async function updatedByV1(mint: PublicKey, authority: PublicKey): Promise<TransactionInstruction[]> {
  const programId = new PublicKey(PROGRAMS.tokenMetadata.id)
  const key = (pubkey: PublicKey, isSigner = false, isWritable = false) => ({ pubkey, isSigner, isWritable })
  const none = key(programId)
  const metadata = new PublicKey(await metadataAddressOf(mint.toBase58()))
  const before = [key(authority, true), none, none, key(mint), key(metadata, false, true), none]
  const sysvar = new PublicKey(INSTRUCTIONS_SYSVAR)
  const keys = [...before, key(authority, true, true), key(SystemProgram.programId), key(sysvar), none, none]
  return [new TransactionInstruction({ programId, keys, data: Buffer.from([50, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]) })]
}

describe.skipIf(!hasProgram(PROGRAMS.tokenMetadata.id))('a token with Metaplex metadata (needs that program)', () => {
  it.each(['UpdateMetadataAccountV2', 'Update'])('that %s makes immutable past the service is reported', async (by) => {
    const scene = await assetsOn(await startService())
    const acts = await actsOn(scene, 'past')
    const user = scene.funded()
    const made = await scene.built('POST', '/v2/tokens', {
      payer: addressOf(user),
      name: 'T',
      symbol: 'T',
      initial_supply: '1000',
      token_program: 'spl',
      uri: 'https://example.com/t.json',
      revoke_freeze_authority: true,
      revoke_mint_authority: true,
    })
    await scene.submit(made, [user, keypairOf(made.required_signers.mint_secret_key)])
    await acts.settle(2)
    const envelope = { payer: addressOf(user), recentBlockhash: acts.chain.latestBlockhash().blockhash }
    const instructions =
      by === 'Update'
        ? await updatedByV1(new PublicKey(made.mint), user.publicKey)
        : instructionsOf(
            (
              await buildAuthorityTransfer({
                ...envelope,
                mint: made.mint,
                type: 'metadata',
                to: null,
                token: createdToken('spl'),
              })
            ).transaction,
          )
    await acts.send(acts.sign(instructions, [user]))
    await acts.settle(2)
    const told = await acts.told({ [made.mint]: 'MINT', [addressOf(user)]: 'USER' })
    expect(typesOf(told)).toContain('token.fully_immutable')
    expect(told.at(-1)).toContain('record tokens {"mint":"MINT","status":"fully_immutable"')
    expect(told.at(-1)).toContain('"is_mutable":false')
  })
})

describe.skipIf(lacksLock !== '')(`gold ${lacksLock}`, () => {
  it.each([
    ['of a mint that was made elsewhere', false],
    ['of a mint that was made here, whose authority goes in between,', true],
  ])('%s that a stranger locks and unlocks is reported as if through the service', async (_, isMadeHere) => {
    const { past } = await compared(async (way) => {
      const key = Keypair.generate()
      const scene = await assetsOn(await startService({ settings: { 'gold.mint': addressOf(key) } }))
      const acts = await actsOn(scene, way)
      const [issuer, user] = [scene.funded(), scene.funded()]
      const gold = createMint(acts.chain, issuer, { key })
      give(acts.chain, issuer, gold, user.publicKey, 1_000n)
      const token = { mint: addressOf(key), status: 'created', token_program: 'spl', raw_json: '{}' } as const
      const row = { ...token, external_uid: null, metadata_json: null, created_at: scene.clock.now() }
      if (isMadeHere) await scene.services.store.write((tx) => insertToken(tx, row))
      await acts.settle(1)
      const common = () => ({
        payer: addressOf(user),
        mint: addressOf(key),
        tokenProgram: 'spl' as const,
        memo: 'other',
        recentBlockhash: acts.chain.latestBlockhash().blockhash,
      })
      const now = acts.chain.unixTimestamp()
      const unlocksAt = Math.ceil(now / DAY) * DAY + DAY
      const locking = await buildGoldLock({ ...common(), amount: 400n, startsAt: now, unlocksAt })
      await acts.send(acts.sign(instructionsOf(locking.transaction), [user]))
      if (isMadeHere) {
        const { MintTokens } = spl.AuthorityType
        const revoking = spl.createSetAuthorityInstruction(key.publicKey, issuer.publicKey, MintTokens, null)
        await acts.send(acts.sign([revoking], [issuer]))
      }
      await acts.settle(2)
      acts.pass(2 * DAY)
      const unlocking = await buildGoldUnlock({ ...common(), amount: 400n })
      await acts.send(acts.sign(instructionsOf(unlocking.transaction), [user]))
      await acts.settle()
      const told = await acts.told({
        [addressOf(key)]: 'MINT',
        [addressOf(user)]: 'USER',
        [addressOf(issuer)]: 'ISSUER',
      })
      return told.map((text) => text.replace(/"(escrow|unlocks_at)":"[^"]*"/g, ''))
    })
    const revoked = isMadeHere ? ['token.created', 'token.mint_authority_revoked'] : []
    expect(typesOf(past)).toEqual(['gold.locked', 'gold.unlock_eligible', 'gold.unlocked', ...revoked])
  })
})
