/** Claims over HTTP for everybody: every kind for partner and creator, in SOL and in another quote, and what is refused with its way out. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { claimDemand, type FeeClaimRequest } from '../../commands/fees/claim-demand.ts'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { requireDemanded, signingFor } from '../../commands/signing/demand.ts'
import { readPositions } from '../../src/chain/programs/damm-v2/index.ts'
import { claimableShares } from '../../src/operations/fee-schedules/claimable.ts'
import { readPools } from '../../src/operations/pools/on-chain.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { createMint, give, type Mint, unitsIn } from '../support/gold.ts'
import { CURVE, IMAGE, keysIn, landOn, settlePools } from '../support/launches.ts'
import { mapped } from '../support/mapped.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { hasProgram } from '../support/programs.ts'
import { openService, removeFolder, type Service } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { addressOf, SOL } from '../support/wallets.ts'

const NEEDED = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata, PROGRAMS.lock]
const lacking = NEEDED.filter(({ id }) => !hasProgram(id))
const EARNING = {
  ...CURVE,
  leftover: '1000',
  creator_fee_percentage: 20,
  pool_creation_fee: 0.01,
  migration_fee: { percentage: 5, creator_percentage: 40 },
  locked_vesting: { amount: '100000000', periods: 10, duration_seconds: 864_000, cliff_seconds: 3_600 },
  liquidity: { partner: 10, partner_locked: 50, creator: 10, creator_locked: 30 },
}

describe.skipIf(lacking.length > 0)('fee claims of all parties', () => {
  const folders = [makeSharedFolder('svc-'), makeSharedFolder('svc-')]
  const [platform, creator, trader, payer, quote] = mapped([1, 2, 3, 4, 5], () => Keypair.generate())
  const [vault] = PublicKey.findProgramAddressSync([Buffer.from('vault')], platform.publicKey)
  let service: Service
  let chain: Awaited<ReturnType<Service['services']['chain']['local']>>
  let pool: { address: string; base_mint: string }
  let dollars: Mint

  const lamportsOf = (owner: Keypair) => chain.account(addressOf(owner))?.lamports ?? 0n
  const tokensOf = (owner: PublicKey, mint: string, program = TOKEN_PROGRAM_ID) =>
    unitsIn(chain, getAssociatedTokenAddressSync(new PublicKey(mint), owner, true, program)) ?? 0n
  const request = async (path: string, body: object) => service.request('POST', path, { body })
  const land = (transaction: string, ...keys: Keypair[]) => landOn(chain, transaction, keys)
  const launch = async (preset: string, symbol: string) => {
    const body = { creator: addressOf(creator), name: 'My Token', symbol, image: IMAGE, preset }
    const { status, json } = await request('/v2/pools', body)
    expect([status, json.error]).toEqual([201, undefined])
    for (const text of json.data.transactions) land(text, creator, ...keysIn(json.data.required_signers))
    return json.data.pool as typeof pool
  }
  const buy = async (address: string, amount: bigint) => {
    const { json } = await request(`/v2/pools/${address}/swaps`, {
      payer: addressOf(trader),
      side: 'buy',
      amount: String(amount),
    })
    expect(json.error).toBeUndefined()
    land(json.data.tx.transaction, trader)
  }
  const claim = (body: object, address = pool.address) =>
    request(`/v2/pools/${address}/fee-claims`, { payer: addressOf(payer), ...body })
  const built = async (body: object, address = pool.address) => {
    const { status, json } = await claim(body, address)
    expect([status, json.error]).toEqual([200, undefined])
    if (json.data.tx.mode === 'signed') return json.data
    // The command line would sign it as well.
    const asked = { address, kind: 'dbc', splits: undefined, ...body } as FeeClaimRequest
    const wallet = createWallet()
    const clock = { now: () => Date.now(), sleep: async () => undefined }
    const demand = await claimDemand(
      signingFor({ wallet, clock }, addressOf(payer), { guard: undefined, isRead: true }),
      asked,
      json.data,
    )
    await requireDemanded({ wallet }, [json.data.tx.transaction], demand)
    return json.data
  }
  const refused = async (body: object, address = pool.address) => {
    const { status, json } = await claim(body, address)
    expect([status, json.error?.code]).toEqual([400, 'bad_request'])
    return json.error as { param: string; message: string; details: Record<string, unknown> }
  }
  /** Sets the delegate of each of the owner's positions in the pool, by default the creator's; answers the NFTs' accounts as they are then. */
  const delegated = async (address: string, of: { permissions: number; delegate: PublicKey; owner?: Keypair }) => {
    const positions = await readPositions(service.services.chain, address, addressOf(of.owner ?? creator))
    return positions.map(({ position, positionNftAccount }) => {
      const [account, nft] = [chain.account(position)!, chain.account(positionNftAccount)!]
      const [data, token] = [Buffer.from(account.data), Buffer.from(nft.data)]
      data.writeUInt32LE(of.permissions, 392)
      token.writeUInt32LE(1, 72)
      of.delegate.toBuffer().copy(token, 76)
      chain.setAccount(position, { ...account, data })
      chain.setAccount(positionNftAccount, { ...nft, data: token })
      return { address: positionNftAccount, account: chain.account(positionNftAccount)! }
    })
  }
  const settle = () => settlePools(service)

  beforeAll(async () => {
    const presets = join(folders[1]!, 'presets.json')
    const dollar = {
      ...EARNING,
      quote_mint: addressOf(quote),
      token_program: 'token2022',
      fee_claimer: vault.toBase58(),
      allow_programs: true,
      locked_vesting: undefined,
    }
    writeFileSync(presets, JSON.stringify({ earning: EARNING, dollar }))
    service = await openService({
      dataDir: folders[0]!,
      settings: {
        signer: 'keypair',
        'signer.keypair': keypairFile(folders[1]!, platform),
        'pools.presets': presets,
        'pools.crank': true,
      },
    })
    chain = await service.services.chain.local()
    for (const key of [platform, creator, trader, payer]) chain.airdrop(addressOf(key), 1_000n * SOL)
    await service.request('PATCH', '/v2/signer/policy', {
      body: {
        lamports_per_transaction: String(10n * SOL),
        lamports_per_day: String(100n * SOL),
        max_fee_lamports: '10000000',
      },
    })
    dollars = createMint(chain, payer, { key: quote })
    give(chain, payer, dollars, trader.publicKey, 1_000n * SOL)
    pool = await launch('earning', 'ERN')
    await buy(pool.address, 20n * SOL)
    return async () => {
      await service.close()
      for (const folder of folders) removeFolder(folder)
    }
  })

  it('pay the creator its trading fees exactly, signed by it, whoever pays', async () => {
    const data = await built({ beneficiary: 'creator' })
    expect(data).toMatchObject({
      kind: 'dbc',
      beneficiary: 'creator',
      claimer: addressOf(creator),
      quote_decimals: 9,
      base_mint: pool.base_mint,
      base_decimals: 6,
    })
    // 1 % of 20 SOL, less a fifth for Meteora, and a fifth of the rest.
    expect(data.estimated_quote).toBe('32000000')
    expect(data.tx.requiredSigners.toSorted()).toEqual([payer, creator].map(addressOf).toSorted())
    const before = lamportsOf(creator)
    land(data.tx.transaction, payer, creator)
    expect(lamportsOf(creator) - before).toBe(32_000_000n)
    expect((await refused({ beneficiary: 'creator' })).details).toEqual({ reason: 'nothing_to_claim' })
    expect((await built({})).claimer).toBe(addressOf(platform))
  })

  it("split the creator's amount to the lamport, in SOL and in another quote", async () => {
    const recipients = [1, 2, 3].map(() => Keypair.generate())
    for (const key of recipients) chain.airdrop(addressOf(key), SOL)
    const bps = [3_333, 3_333, 3_334]
    const splits = recipients.map((key, i) => ({ recipient: addressOf(key), bps: bps[i] }))
    await buy(pool.address, SOL + 1_234_567n)
    const before = recipients.map(lamportsOf)
    const data = await built({ beneficiary: 'creator', splits })
    land(data.tx.transaction, payer, creator)
    const shares = recipients.map((key, i) => lamportsOf(key) - before[i]!)
    expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(BigInt(data.estimated_quote))

    const other = await launch('dollar', 'DLR')
    await buy(other.address, SOL + 1_234_567n)
    const inQuote = await built({ beneficiary: 'creator', splits }, other.address)
    expect(inQuote).toMatchObject({ quote_mint: addressOf(quote), quote_decimals: 9 })
    land(inQuote.tx.transaction, payer, creator)
    const paid = recipients.map((key) => tokensOf(key.publicKey, addressOf(quote)))
    expect(paid.reduce((sum, share) => sum + share, 0n)).toBe(BigInt(inQuote.estimated_quote))

    // The partner is a vault: its claim is built for it, and never signed here.
    const forVault = await built({ splits }, other.address)
    expect(forVault.tx.requiredSigners).toEqual([addressOf(payer), vault.toBase58()])
    const { param, details } = await refused({ mode: 'signed' }, other.address)
    expect([param, details]).toEqual(['mode', { claimer: vault.toBase58(), fee_claimer: vault.toBase58() }])
  })

  it('name the recipient of a split that cannot be paid in another quote', async () => {
    const other = await launch('dollar', 'DLS')
    await buy(other.address, SOL)
    const [good, bad] = [addressOf(trader), quote.publicKey.toBase58()]
    const splits = [good, bad].map((recipient) => ({ recipient, bps: 5_000 }))
    const { param, message } = await refused({ beneficiary: 'creator', splits }, other.address)
    expect([param, message]).toEqual(['splits.1.recipient', expect.stringContaining('not a wallet')])
  })

  it('are not signed by the platform wallet for another party, and name that party', async () => {
    await buy(pool.address, SOL)
    const { param, message, details } = await refused({ beneficiary: 'creator', mode: 'signed' })
    expect([param, details]).toEqual(['mode', { claimer: addressOf(creator) }])
    expect(message).toContain(`pays the creator, ${addressOf(creator)}`)
  })

  it('are refused before the end of the curve or the migration, with the reason', async () => {
    for (const beneficiary of ['partner', 'creator']) {
      for (const kind of ['surplus', 'migration_fee']) {
        const { param, message, details } = await refused({ kind, beneficiary })
        expect([param, message]).toEqual(['kind', expect.stringContaining('its curve is not full')])
        expect(details).toEqual({ reason: 'too_early' })
      }
    }
    for (const [kind, message] of [
      ['leftover', 'has not migrated'],
      ['vesting', 'not locked yet'],
      ['damm_v2', 'has not migrated'],
    ]) {
      const early = await refused({ kind, beneficiary: kind === 'leftover' ? 'partner' : 'creator' })
      expect([early.message, early.details.reason]).toEqual([expect.stringContaining(message!), 'too_early'])
    }
  })

  it('pay the platform wallet the pool creation fee, signed by it, once', async () => {
    const before = lamportsOf(platform)
    const { estimated_lamports, tx } = await built({ kind: 'pool_creation_fee', mode: 'signed' })
    expect(estimated_lamports).toBe('9000000')
    expect(lamportsOf(platform) - before).toBe(9_000_000n - chain.transaction(tx.signature)!.fee)
    const { message, details } = await refused({ kind: 'pool_creation_fee' })
    expect([message, details.reason]).toEqual([expect.stringContaining('was already withdrawn'), 'withdrawn'])
  })

  const transfer = (new_creator: string, by = creator) =>
    request(`/v2/pools/${pool.address}/creator-transfers`, { payer: addressOf(by), new_creator })

  it("do not pass the creator's role to an empty address, nor while the curve waits for its migration", async () => {
    const nobodies = ['11111111111111111111111111111111', addressOf(creator), pool.address, pool.base_mint]
    for (const nobody of nobodies) {
      const { status, json } = await transfer(nobody)
      expect([nobody, status, json.error?.param]).toEqual([nobody, 400, 'new_creator'])
    }
    await buy(pool.address, 900n * SOL)
    const { status, json } = await transfer(addressOf(payer))
    expect([status, json.error?.param]).toEqual([400, 'address'])
    expect(json.error.message).toContain('full and has not migrated')
  })

  it('pay both parties the migration fee, and the leftover to its receiver, once each', async () => {
    await settle()
    const half = await built({ kind: 'migration_fee', beneficiary: 'creator' })
    const before = lamportsOf(creator)
    land(half.tx.transaction, payer, creator)
    expect(lamportsOf(creator) - before).toBe(BigInt(half.estimated_quote))
    expect((await refused({ kind: 'migration_fee', beneficiary: 'creator' })).details).toEqual({ reason: 'withdrawn' })
    const own = lamportsOf(platform)
    const partner = await built({ kind: 'migration_fee', mode: 'signed' })
    expect(lamportsOf(platform) - own).toBe(
      BigInt(partner.estimated_quote) - chain.transaction(partner.tx.signature)!.fee,
    )
    const left = await built({ kind: 'leftover', mode: 'signed' })
    expect(left.claimer).toBe(addressOf(platform))
    expect(tokensOf(platform.publicKey, pool.base_mint)).toBe(BigInt(left.estimated_base))
    expect((await refused({ kind: 'leftover' })).details).toEqual({ reason: 'withdrawn' })
  })

  it('pay vested tokens once they unlock, and name the next unlock', async () => {
    // A schedule sees the lock's own recipient and what is vested, also once another wallet is the creator.
    const seen = async (newCreator?: string) => {
      const { chain } = service.services
      const [read] = await readPools(chain, [pool.address])
      if (read?.type !== 'dbc') throw new Error('the curve is gone')
      const chainPool = newCreator === undefined ? read : { ...read, pool: { ...read.pool, creator: newCreator } }
      const target = { place: 1, address: pool.address, migrated_to: null }
      const at = { target, chainPool, wallet: addressOf(creator) }
      const [share] = await claimableShares(chain, { kinds: ['vesting'], beneficiary: null }, at)
      return [share?.owner, share?.isAny]
    }
    expect(await seen()).toEqual([addressOf(creator), false])
    const early = await refused({ kind: 'vesting' })
    expect(early.message).toMatch(/^There is nothing to claim from \w+ yet: the next \d+ raw units of \w+ unlock at 20/)
    chain.advance(3_600 + 2 * 86_400)
    expect(await seen(addressOf(trader))).toEqual([addressOf(creator), true])
    const data = await built({ kind: 'vesting' })
    expect(data).toMatchObject({ beneficiary: 'creator', claimer: addressOf(creator) })
    expect(data.estimated_quote).toBeUndefined()
    land(data.tx.transaction, payer, creator)
    expect(tokensOf(creator.publicKey, pool.base_mint)).toBe(BigInt(data.estimated_base))
    expect((await refused({ kind: 'vesting' })).message).toMatch(/unlock at 20/)
    expect(await seen(addressOf(trader))).toEqual([addressOf(creator), false])
  })

  it('pay the fees of any owner’s positions in the migrated pool, by either address', async () => {
    await settle()
    const [after] = (await service.request('GET', '/v2/pools?type=damm_v2')).json.data
    for (const [address, body] of [
      [pool.address, { beneficiary: 'creator' }],
      [after.address, { beneficiary: 'creator' }],
      [after.address, { owner: addressOf(creator) }],
    ] as const) {
      await buy(after.address, SOL)
      const data = await built({ kind: 'damm_v2', ...body }, address)
      expect(data).toMatchObject({ pool_address: after.address, claimer: addressOf(creator), remaining_positions: 0 })
      const before = lamportsOf(creator)
      land(data.tx.transaction, payer, creator)
      expect(lamportsOf(creator) - before).toBe(BigInt(data.estimated_quote))
    }
    const nothing = await refused({ kind: 'damm_v2', owner: addressOf(trader) })
    expect(nothing.message).toMatch(`for ${addressOf(trader)}`)
    await buy(after.address, SOL)
    const signed = await refused({ kind: 'damm_v2', beneficiary: 'creator', mode: 'signed' })
    expect(signed.message).toContain(`pays the creator, ${addressOf(creator)}`)
    const own = lamportsOf(platform)
    const { estimated_quote, tx } = await built({ kind: 'damm_v2', mode: 'signed' })
    expect(lamportsOf(platform) - own).toBe(BigInt(estimated_quote) - chain.transaction(tx.signature)!.fee)
  })

  it('can be signed by a delegate of the owner, pay the owner alone, and are recorded as the owner’s', async () => {
    const [after] = (await service.request('GET', '/v2/pools?type=damm_v2')).json.data
    const at = `/v2/pools/${after.address}/fee-delegations`
    const shown = async () => (await service.request('GET', `${at}?owner=${addressOf(creator)}`)).json.data
    const { positions } = await shown()
    expect(positions).toContainEqual(expect.objectContaining({ delegate: null, permissions: [], usable: false }))
    const asked = async (body: object) => (await request(at, { payer: addressOf(creator), ...body })).json
    const granted = await asked({ delegate: addressOf(payer) })
    const all = positions.map(({ position }: { position: string }) => position)
    expect(granted.data).toMatchObject({
      owner: addressOf(creator),
      positions: all,
      replaced: [],
      remaining_positions: 0,
    })
    expect(granted.data.tx.requiredSigners).toEqual([addressOf(creator)])
    expect((await asked({ delegate: addressOf(creator) })).error.param).toBe('delegate')
    expect((await asked({ delegate: null })).error.message).toContain('have no delegate')
    expect((await asked({ delegate: addressOf(payer), owner: addressOf(trader) })).error.param).toBe('owner')
    const foreign = await asked({ delegate: addressOf(payer), owner: addressOf(creator), mode: 'signed' })
    expect(foreign.error.param).toBe('owner')
    // A program before 0.2.5 has no delegates, so the accounts are set as it would leave them.
    const nfts = await delegated(after.address, { permissions: 16, delegate: payer.publicKey })
    expect((await shown()).positions).toEqual(
      positions.map((before: object) => ({
        ...before,
        delegate: addressOf(payer),
        permissions: ['claim_fees_to_owner'],
        usable: true,
      })),
    )
    expect((await asked({ delegate: addressOf(payer) })).error.message).toContain('already')
    const other = await asked({ delegate: addressOf(trader) })
    expect(other.data.replaced).toEqual([addressOf(payer)])
    await buy(after.address, SOL)
    const data = await built({ kind: 'damm_v2', owner: addressOf(creator) }, after.address)
    expect(data).toMatchObject({ claimer: addressOf(creator), delegate: addressOf(payer) })
    expect(data.tx.requiredSigners).toEqual([addressOf(payer)])
    // The owner's claim looks like that of a delegate once another wallet holds the NFT, with the owner as delegate.
    const own = (await claim({ kind: 'damm_v2', owner: addressOf(creator), payer: addressOf(creator) }, after.address))
      .json.data
    expect(own.delegate).toBeUndefined()
    const signed = VersionedTransaction.deserialize(Buffer.from(own.tx.transaction, 'base64'))
    signed.sign([creator])
    const transaction = Buffer.from(signed.serialize()).toString('base64')
    expect((await request('/v2/transactions', { transaction })).json.error).toBeUndefined()
    for (const { address, account } of nfts) {
      const bytes = Buffer.from(account.data)
      trader.publicKey.toBuffer().copy(bytes, 32)
      creator.publicKey.toBuffer().copy(bytes, 76)
      chain.setAccount(address, { ...account, data: bytes })
    }
    await settle()
    const recorded = (await service.request('GET', `/v2/pools/${after.address}/fee-claims`)).json.data
    const claimers = recorded.map(({ claimer, beneficiary }: Record<string, string>) => [claimer, beneficiary])
    expect(claimers).toContainEqual([addressOf(trader), null])
    for (const { address, account } of nfts) chain.setAccount(address, account)
  })

  it('are made by a schedule for a partner who has made the platform wallet its delegate', async () => {
    const [after] = (await service.request('GET', '/v2/pools?type=damm_v2')).json.data
    await buy(after.address, SOL)
    const { services } = service
    const [chainPool] = await readPools(services.chain, [pool.address])
    const target = { place: 1, address: pool.address, migrated_to: after.address }
    const at = { target, chainPool: chainPool!, wallet: addressOf(payer) }
    const shares = () => claimableShares(services.chain, { kinds: ['damm_v2'], beneficiary: null }, at)
    expect(await shares()).toMatchObject([{ owner: addressOf(payer), isAny: false }])
    await delegated(after.address, { permissions: 16, delegate: payer.publicKey, owner: platform })
    expect(await shares()).toMatchObject([{ owner: addressOf(platform), delegate: addressOf(payer), isAny: true }])
    await delegated(after.address, { permissions: 2, delegate: payer.publicKey, owner: platform })
    expect(await shares()).toMatchObject([{ owner: addressOf(payer), isAny: false }])
  })

  it('follow the creator: unclaimed fees move with the role', async () => {
    const claimed = await built({ beneficiary: 'creator' })
    const { status, json } = await transfer(addressOf(payer))
    expect([status, json.error]).toEqual([200, undefined])
    expect(json.data).toMatchObject({
      creator: addressOf(creator),
      new_creator: addressOf(payer),
      unclaimed_quote: claimed.estimated_quote,
      unclaimed_base: '0',
    })
    land(json.data.tx.transaction, creator)
    const after = await built({ beneficiary: 'creator' })
    expect(after).toMatchObject({ claimer: addressOf(payer), estimated_quote: claimed.estimated_quote })
    // The positions stay with the wallet that they were made for.
    const positions = await refused({ kind: 'damm_v2', beneficiary: 'creator' })
    expect(positions.message).toContain(`There is nothing to claim`)
  })

  it('pay every kind for a Token-2022 launch in another quote too', async () => {
    const other = await launch('dollar', 'DLT')
    await buy(other.address, 900n * SOL)
    await settle()
    const mint = addressOf(quote)
    for (const kind of ['dbc', 'migration_fee']) {
      const data = await built({ kind, beneficiary: 'creator' }, other.address)
      const before = tokensOf(creator.publicKey, mint)
      land(data.tx.transaction, payer, creator)
      expect(tokensOf(creator.publicKey, mint) - before).toBe(BigInt(data.estimated_quote))
    }
    const left = await built({ kind: 'leftover' }, other.address)
    expect(left.claimer).toBe(addressOf(platform))
    land(left.tx.transaction, payer)
    expect(tokensOf(platform.publicKey, other.base_mint, TOKEN_2022_PROGRAM_ID)).toBe(BigInt(left.estimated_base))
    const found = (await service.request('GET', '/v2/pools?type=damm_v2')).json.data
    const { address } = found.find(({ base_mint }: { base_mint: string }) => base_mint === other.base_mint)
    await buy(address, SOL)
    const data = await built({ kind: 'damm_v2', beneficiary: 'creator' }, address)
    const before = tokensOf(creator.publicKey, mint)
    land(data.tx.transaction, payer, creator)
    expect(tokensOf(creator.publicKey, mint) - before).toBe(BigInt(data.estimated_quote))
  })
})
