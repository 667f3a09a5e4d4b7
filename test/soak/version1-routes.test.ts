/** Every building route in version 1 (SIMD-0385): what it builds lands, whole, within the limits that it states. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PoolRehearsal } from '../../src/api/index.ts'
import { AIRDROP_CLAIM_UNITS } from '../../src/chain/programs/merkle-distributor/index.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { routes } from '../api/bodies.ts'
import { IMAGES } from '../storage/images.ts'
import { expectVersion1, MOST_LOADED } from '../support/built-version1.ts'
import { createMint, DAY, give, lamportsOf } from '../support/gold.ts'
import { CURVE } from '../support/launches.ts'
import { HOUR, raisesOn } from '../support/new-raises.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { hasInstruction, hasProgram } from '../support/programs.ts'
import { openService, removeFolder, type Service } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { signV1 } from '../support/version1.ts'
import { addressOf, keypairOf, SOL } from '../support/wallets.ts'

const lacking = Object.values(PROGRAMS).filter(({ id }) => !hasProgram(id))
const IMAGE = Buffer.from(IMAGES.png).toString('base64')
const VESTING = {
  ...CURVE,
  initial_market_cap: 1,
  migration_market_cap: 3,
  locked_vesting: { amount: '100000', periods: 10, duration_seconds: 1_000 },
}
const POLICY = {
  lamports_per_transaction: String(100n * SOL),
  lamports_per_day: String(1_000n * SOL),
  max_fee_lamports: '10000000',
}
/** The root of a tree in which this leaf has this proof: leaf and nodes as the program hashes them. */
function rootOver(wallet: Uint8Array, amount: bigint, proof: readonly Buffer[]): Buffer {
  const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  const amounts = Buffer.alloc(16)
  amounts.writeBigUInt64LE(amount)
  const leaf = sha256(Buffer.of(0), sha256(wallet, amounts))
  return proof.reduce((node, sibling) => sha256(Buffer.of(1), ...[node, sibling].sort(Buffer.compare)), leaf)
}
/** Every route whose body has a version: what is built there must be executed below. */
const building = routes.filter(([, { body }]) => body !== undefined && 'tx_version' in body.shape).map(([name]) => name)

describe.skipIf(lacking.length > 0)('every building route in version 1 (needs every program in the cache)', () => {
  const [folder, files] = [makeSharedFolder('svc-'), makeSharedFolder('svc-')]
  const gold = Keypair.generate()
  const [wallet, user, other] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  const executed = new Set<string>()
  const sizes: Record<string, number> = {}
  let service: Service
  let chain: Awaited<ReturnType<Service['services']['chain']['local']>>

  beforeAll(async () => {
    const presets = join(files, 'presets.json')
    writeFileSync(presets, JSON.stringify({ shared: { ...CURVE, shared_config: true }, vesting: VESTING }))
    const settings = {
      signer: 'keypair',
      'signer.keypair': keypairFile(files, wallet),
      'priority-fee': '1000',
      'gold.mint': addressOf(gold),
      'pools.presets': presets,
    }
    service = await openService({ dataDir: folder, settings })
    chain = await service.services.chain.local()
    for (const key of [wallet, user, other]) chain.airdrop(addressOf(key), 1_000n * SOL)
    await service.request('PATCH', '/v2/signer/policy', { body: POLICY })
  })
  afterAll(async () => {
    await service.close()
    for (const each of [folder, files]) removeFolder(each)
  })

  /** Posts it as version 1; `name` is the route's. */
  const ask = async (name: string, path: string, body: object) => {
    const [, route] = routes.find(([found]) => found === name)!
    const answer = await service.request(route.method.toUpperCase(), path, { body: { ...body, tx_version: 1 } })
    expect([answer.status < 300, answer.json?.error], name).toEqual([true, undefined])
    executed.add(name)
    return answer.json.data
  }
  /** Signs with the keys and lands it, whole. */
  const land = (title: string, text: string, keys: readonly Keypair[]) => {
    const wire = Buffer.from(text, 'base64')
    const { message } = expectVersion1(wire)
    sizes[title] = wire.length
    const before = chain.simulate(wire, { replaceRecentBlockhash: true, sigVerify: false })
    expect(message.config!.loadedAccountsDataSizeLimit).toBeLessThan(MOST_LOADED)
    const landed = chain.send(signV1(wire, keys))
    expect(landed.err, `${title}: ${landed.logs.join('\n')}`).toBeNull()
    // A tenth and a page are the margin of the size, a tenth and a thousand that of the units.
    expect(message.config!.loadedAccountsDataSizeLimit! - before.loadedDataSize).toBeGreaterThan(0)
    expect(message.config!.computeUnitLimit).toBeGreaterThanOrEqual(landed.unitsConsumed)
    const { priorityFeeLamports, computeUnitLimit } = message.config!
    expect(priorityFeeLamports).toBe((BigInt(computeUnitLimit!) * 1_000n + 999_999n) / 1_000_000n)
    expect(landed.fee).toBe(5_000n * BigInt(message.signers) + priorityFeeLamports!)
    chain.advance(1)
    return landed
  }
  /** The transaction that the platform wallet has signed and sent. */
  const landedOf = (signature: string) => {
    const landed = chain.transaction(signature)!
    expect([landed.err, expectVersion1(landed.raw).signature]).toEqual([null, signature])
    chain.advance(1)
    return landed
  }
  const keysOf = (required: Record<string, number[]>) =>
    Object.values(required).flatMap((bytes) => (bytes.length > 0 ? [keypairOf(bytes)] : []))
  const platform_id = 'test'

  it('tokens: created by either program, and their authorities dropped', async () => {
    const payer = addressOf(user)
    const texts = {
      payer,
      name: 'My Token',
      symbol: 'MTK',
      uri: 'https://example.com/t.json',
      initial_supply: '1000000',
      revoke_freeze_authority: false,
    }
    const extensions = { transfer_fee: { basis_points: 100 }, scaled_amount: { multiplier: '2' }, pausable: true }
    const extended = { ...texts, token_program: 'token2022', extensions }
    const taxed = await ask('tokens.create', '/v2/tokens', extended)
    land('token with extensions', taxed.transaction, [user, ...keysOf(taxed.required_signers)])
    const others = [other, Keypair.generate()]
    const recipients = others.map((key) => ({ wallet: addressOf(key), amount: '10000' }))
    const paying = { payer, mint: taxed.mint, recipients, accept_transfer_fee: true }
    land('taxed transfer', (await ask('tokenTransfers.create', '/v2/token-transfers', paying)).transaction, [user])
    const [first, second] = others.map(({ publicKey }) =>
      spl
        .getAssociatedTokenAddressSync(new PublicKey(taxed.mint), publicKey, false, spl.TOKEN_2022_PROGRAM_ID)
        .toBase58(),
    )
    const at = `/v2/tokens/${taxed.mint}`
    const harvest = await ask('tokens.harvestFees', `${at}/harvests`, { payer, accounts: [first] })
    land('harvest', harvest.transaction, [user])
    const withdrawal = await ask('tokens.withdrawWithheld', `${at}/withheld-withdrawals`, { payer, accounts: [second] })
    expect(withdrawal.amount).toBe('200')
    land('withdrawal of fees', withdrawal.transaction, [user])
    const settings = { payer, transfer_fee: { basis_points: 5 }, scaled_amount: { multiplier: '3' } }
    land('settings', (await ask('tokens.updateExtensions', `${at}/extensions`, settings)).transaction, [user])
    const empty = { ...texts, initial_supply: '0', token_program: 'token2022' }
    const whole = await ask('tokens.create', '/v2/tokens', { ...empty, extensions: { pausable: true, closable: true } })
    land('token that can end', whole.transaction, [user, ...keysOf(whole.required_signers)])
    const its = `/v2/tokens/${whole.mint}`
    for (const name of ['pause', 'resume']) {
      land(name, (await ask(`tokens.${name}`, `${its}/pause`, { payer })).transaction, [user])
    }
    land('closing of a mint', (await ask('tokens.close', its, { payer })).transaction, [user])
    expect(chain.account(whole.mint)).toBeNull()
    for (const token_program of ['spl', 'token2022']) {
      const created = await ask('tokens.create', '/v2/tokens', { ...texts, token_program })
      land(`token ${token_program}`, created.transaction, [user, ...keysOf(created.required_signers)])
      const at = `/v2/tokens/${created.mint}`
      const minted = await ask('tokens.mint', `${at}/mints`, { payer, amount: '5', recipient: addressOf(other) })
      land(`minting ${token_program}`, minted.transaction, [user])
      land(`burning ${token_program}`, (await ask('tokens.burn', `${at}/burns`, { payer, amount: '5' })).transaction, [
        user,
      ])
      const frozen = await ask('tokens.freeze', `${at}/freezes`, { payer, wallet: addressOf(other) })
      land(`freezing ${token_program}`, frozen.transaction, [user])
      const thawed = await ask('tokens.thaw', `${at}/freezes/${addressOf(other)}`, { payer })
      land(`thawing ${token_program}`, thawed.transaction, [user])
      land(
        `freezing again ${token_program}`,
        (await ask('tokens.freeze', `${at}/freezes`, { payer, wallet: payer })).transaction,
        [user],
      )
      const all = await ask('tokens.thawList', `${at}/freezes`, { payer, wallets: [payer] })
      land(`thawing a list ${token_program}`, all.transaction, [user])
      const change = { payer, symbol: 'NEW', uri: 'https://example.com/new.json' }
      const fields = token_program === 'spl' ? {} : { fields: [{ key: 'website', value: 'https://example.com' }] }
      const updated = await ask('tokens.updateMetadata', at, { ...change, ...fields })
      expect(updated.metadata).toMatchObject({ name: texts.name, symbol: 'NEW' })
      land(`metadata ${token_program}`, updated.transaction, [user])
      const revoked = await ask('tokens.revokeAuthority', `/v2/tokens/${created.mint}/authorities/mint`, { payer })
      land(`revocation ${token_program}`, revoked.transaction, [user])
      const to = { payer, new_authority: addressOf(other) }
      const given = await ask('tokens.transferAuthority', `/v2/tokens/${created.mint}/authorities/metadata`, to)
      land(`transfer of an authority ${token_program}`, given.transaction, [user])
    }
  })

  it('collections and NFTs: minted, staked, released and burned', async () => {
    const texts = { name: 'My Things', uri: 'https://example.com/c.json' }
    const made = await ask('collections.create', '/v2/collections', { ...texts, payer: addressOf(user) })
    land('collection', made.transaction, [user])
    const collection = made.collection as string
    const passing = await ask('collections.create', '/v2/collections', { ...texts, payer: addressOf(user) })
    land('another collection', passing.transaction, [user])
    const to = { payer: addressOf(user), new_authority: addressOf(other) }
    const at = `/v2/collections/${passing.collection}/update-authority`
    land('transfer of a collection', (await ask('collections.transferAuthority', at, to)).transaction, [user])
    const minted = await ask('nfts.create', '/v2/nfts', { ...texts, payer: addressOf(user), platform_id, collection })
    land('NFT', minted.transaction, [user])
    const { asset } = minted
    const stake = { user: addressOf(user), platform_id, collection, platform_fee: 5_000 }
    land('stake', (await ask('stakes.create', '/v2/stakes', { ...stake, asset })).transaction, [user])
    land('release', (await ask('stakes.release', `/v2/stakes/${asset}`, stake)).transaction, [user])
    const burning = { owner: addressOf(user), platform_id, collection }
    land('burn', (await ask('nfts.burn', `/v2/nfts/${asset}`, burning)).transaction, [user])
  })

  it('gold: locked and unlocked', async () => {
    give(chain, user, createMint(chain, user, { key: gold }), user.publicKey, 500n)
    const lock = { user: addressOf(user), platform_id, amount: '400', lock_duration_days: 1 }
    land('gold lock', (await ask('goldLocks.create', '/v2/gold-locks', lock)).transaction, [user])
    chain.advance(2 * DAY)
    const unlocked = await ask('goldLocks.unlock', `/v2/gold-locks/${addressOf(user)}`, { platform_id })
    land('gold unlock', unlocked.transaction, [user])
  })

  it('locks: made, titled, claimed, given to another recipient, cancelled and closed', async () => {
    const token = createMint(chain, user)
    give(chain, user, token, user.publicKey, 5_000n)
    const payer = addressOf(user)
    const body = { payer, mint: token.mint.toBase58(), recipient: payer, amount: '1000' }
    const powers = { cancellable_by: 'both', recipient_changeable_by: 'both' }
    const lock = async (more: object) => {
      const made = await ask('locks.create', '/v2/locks', { ...body, ...powers, ...more })
      land('lock', made.transaction, [user])
      return `/v2/locks/${made.address}`
    }
    const later = new Date((chain.unixTimestamp() + 10 * DAY) * 1000).toISOString()
    const path = await lock({ cliff_at: later })
    land('title of a lock', (await ask('locks.entitle', `${path}/title`, { payer, title: 'Team' })).transaction, [user])
    const to = { payer, new_recipient: addressOf(other) }
    land('change of a recipient', (await ask('locks.changeRecipient', `${path}/recipient`, to)).transaction, [user])
    land('cancellation', (await ask('locks.cancel', path, { payer: addressOf(other) })).transaction, [other])
    land('closing of a lock', (await ask('locks.close', `${path}/closings`, { payer })).transaction, [user])
    const open = await lock({})
    land('claim of a lock', (await ask('locks.claim', `${open}/claims`, { payer })).transaction, [user])
  })

  it('a memo of the platform wallet', async () => {
    landedOf((await ask('signer.test', '/v2/signer/tests', { submit: true })).signature)
  })

  it('airdrops: made, claimed by a proof, and withdrawn by the platform wallet', async () => {
    const texts = { name: 'Drop', symbol: 'DRP', uri: 'https://example.com/d.json', initial_supply: '1000000' }
    const token = await ask('tokens.create', '/v2/tokens', { ...texts, payer: addressOf(user) })
    land('token', token.transaction, [user, ...keysOf(token.required_signers)])
    const { mint } = token
    const poor = Keypair.generate()
    const entries = [user, other, poor].map((key) => ({ wallet: addressOf(key), amount: '400' }))
    const tree = (await service.request('POST', '/v2/merkle-trees', { body: { mint, entries } })).json.data
    const body = { payer: addressOf(user), platform_id, mint, airdrop_count: 0, merkle_root: tree.root }
    land('airdrop', (await ask('airdrops.create', '/v2/airdrops', body)).transaction, [user])
    const claim = { claimer: addressOf(other), platform_id, amount: '0', platform_fee: 5_000 }
    const claimed = await ask('airdrops.claim', `/v2/airdrops/${tree.id}/claims`, claim)
    land('airdrop claim', claimed.transaction, [other])
    const at = `/v2/airdrops/${tree.id}`
    await service.request('PATCH', `${at}/sponsorship`, { body: { budget: String(SOL) } })
    const sponsored = await ask('sponsorships.build', `${at}/sponsored-claims`, { claimer: addressOf(poor) })
    const transaction = Buffer.from(signV1(Buffer.from(sponsored.transaction, 'base64'), [poor])).toString('base64')
    const path = `${at}/sponsored-claims/${sponsored.id}/submissions`
    landedOf((await service.request('POST', path, { body: { transaction } })).json.data.signature)
    chain.advance(40 * DAY)
    const rest = await ask('airdrops.withdraw', `/v2/airdrops/${tree.id}/vault-withdrawals`, { amount: '400' })
    landedOf(rest.signature)
  })

  it('transfers: to as many wallets as fit, sent by a wallet and by the platform wallet', async () => {
    const texts = { name: 'Sent', symbol: 'SNT', uri: 'https://example.com/s.json', initial_supply: '1000000' }
    const token = await ask('tokens.create', '/v2/tokens', { ...texts, payer: addressOf(user) })
    land('token', token.transaction, [user, ...keysOf(token.required_signers)])
    const { mint } = token
    const strangers = Array.from({ length: 9 }, () => ({ wallet: addressOf(Keypair.generate()), amount: '3' }))
    const body = { payer: addressOf(user), mint, recipients: strangers }
    land('transfers', (await ask('tokenTransfers.create', '/v2/token-transfers', body)).transaction, [user])
    const toPlatform = { ...body, recipients: [{ wallet: addressOf(wallet), amount: '100' }] }
    land('transfer', (await ask('tokenTransfers.create', '/v2/token-transfers', toPlatform)).transaction, [user])
    await service.request('PATCH', '/v2/signer/policy', {
      body: { tokens: [{ mint, per_transaction: '100', per_day: '100' }] },
    })
    const signed = await ask('tokenTransfers.create', '/v2/token-transfers', { ...body, mode: 'signed' })
    landedOf(signed.signature)
    const sol = { payer: addressOf(user), recipient: addressOf(Keypair.generate()), lamports: '2000000' }
    land('SOL', (await ask('solTransfers.create', '/v2/sol-transfers', sol)).transaction, [user])
    const held = spl.getAssociatedTokenAddressSync(new PublicKey(mint), user.publicKey).toBase58()
    const account = chain.account(held)!
    chain.setAccount(held, { ...account, lamports: account.lamports + 1_000_000n })
    const reclaim = await ask('rentReclaims.create', '/v2/rent-reclaims', { payer: addressOf(user) })
    land('rent', reclaim.transaction, [user])
    expect(chain.account(held)!.lamports).toBe(account.lamports)
  })

  it('claims by a proof of 21 to 64 hashes, which version 0 has no room for', async ({ annotate }) => {
    const texts = { name: 'Many', symbol: 'MNY', uri: 'https://example.com/m.json', initial_supply: '1000000' }
    const token = await ask('tokens.create', '/v2/tokens', { ...texts, payer: addressOf(user) })
    land('token', token.transaction, [user, ...keysOf(token.required_signers)])
    const [claimer, amount] = [addressOf(other), '7']
    for (const [airdrop_count, hashes] of [20, 21, 32, 64].entries()) {
      const proof = Array.from({ length: hashes }, (_, i) => Buffer.alloc(32, i + 1))
      const merkle_root = rootOver(other.publicKey.toBytes(), BigInt(amount), proof).toString('hex')
      const body = { payer: addressOf(user), platform_id, mint: token.mint, airdrop_count, merkle_root }
      const made = await ask('airdrops.create', '/v2/airdrops', { ...body, fund_amount: amount })
      land('airdrop', made.transaction, [user])
      const path = `/v2/airdrops/${made.tracked_resource.resource_id}/claims`
      const claim = { claimer, platform_id, amount, proof: proof.map((each) => each.toString('hex')) }
      const version0 = await service.request('POST', path, { body: claim })
      expect(version0.status).toBe(hashes > 20 ? 400 : 200)
      if (hashes > 20)
        expect(version0.json.error).toMatchObject({ param: 'proof', message: expect.stringContaining('tx_version 1') })
      const { transaction } = await ask('airdrops.claim', path, claim)
      const { unitsConsumed } = land(`claim by ${hashes} hashes`, transaction, [other])
      await annotate(`${hashes} hashes: ${unitsConsumed} units`, 'units')
      expect(unitsConsumed).toBeLessThan(AIRDROP_CLAIM_UNITS)
    }
  })

  const verified = async (address: string) =>
    (await service.request('POST', `/v2/pools/${address}/verifications`, { body: {} })).json.data.pool
  const launch = (creator: Keypair) => ({
    creator: addressOf(creator),
    name: 'My Token',
    image: IMAGE,
    buy_amount: 1.5,
  })

  it('launches: config, pool, metadata and first buy in one transaction, traded, fees claimed for ten', async () => {
    const created = await ask('pools.create', '/v2/pools', { ...launch(user), symbol: 'ONE' })
    expect(created.transactions).toHaveLength(1)
    land('launch', created.transactions[0], [user, ...keysOf(created.required_signers)])
    const { address } = created.pool
    const pool = await verified(address)
    expect([pool.status, pool.curve_progress > 0]).toEqual(['live', true])

    const swap = { payer: addressOf(other), side: 'buy', amount: String(10n * SOL) }
    land('buy', (await ask('pools.swap', `/v2/pools/${address}/swaps`, swap)).tx.transaction, [other])
    const splits = Array.from({ length: 10 }, () => ({ recipient: addressOf(Keypair.generate()), bps: 1_000 }))
    const at = `/v2/pools/${address}/fee-claims`
    const [version0] = [await service.request('POST', at, { body: { payer: addressOf(user), splits } })]
    expect([version0.status, version0.json.error.param]).toEqual([400, 'splits'])
    expect(version0.json.error.message).toContain('tx_version 1')
    const claimed = await ask('feeClaims.create', at, { payer: addressOf(user), splits })
    land('claim for ten', claimed.tx.transaction, [user, wallet])
    const paid = splits.map(({ recipient }) => lamportsOf(chain, new PublicKey(recipient)))
    expect(paid.reduce((sum, each) => sum + each, 0n)).toBe(BigInt(claimed.estimated_quote))

    land('second buy', (await ask('pools.swap', `/v2/pools/${address}/swaps`, swap)).tx.transaction, [other])
    const signed = await ask('feeClaims.create', at, { payer: addressOf(wallet), mode: 'signed' })
    landedOf(signed.tx.signature)

    const transfer = { payer: addressOf(user), new_creator: addressOf(other) }
    const handed = await ask('pools.transferCreator', `/v2/pools/${address}/creator-transfers`, transfer)
    land('creator transfer', handed.tx.transaction, [user])
  })

  it('a claim with the sale of what was claimed, which cannot be tried before the claim has landed', async () => {
    const created = await ask('pools.create', '/v2/pools', { ...launch(user), symbol: 'SEL' })
    land('launch', created.transactions[0], [user, ...keysOf(created.required_signers)])
    const entries = [{ wallet: addressOf(other), amount: '5000000' }]
    const mint = created.pool.base_mint
    const tree = (await service.request('POST', '/v2/merkle-trees', { body: { mint, entries } })).json.data
    const body = { payer: addressOf(user), platform_id, mint, airdrop_count: 0, merkle_root: tree.root }
    land('airdrop', (await ask('airdrops.create', '/v2/airdrops', body)).transaction, [user])
    const claim = { claimer: addressOf(other), platform_id, amount: '0', swap_to_sol: true }
    const claimed = await ask('airdrops.claim', `/v2/airdrops/${tree.id}/claims`, claim)
    land('claim', claimed.transaction, [other])
    land('sale', claimed.swap_transaction, [other])
  })

  it('a rehearsal, whose transactions are of that version too', async () => {
    const report = await ask('pools.rehearse', '/v2/pool-rehearsals', { ...launch(user), symbol: 'REH' })
    const ran = report.steps.filter(({ stage, bytes }: PoolRehearsal['steps'][number]) => stage === 'launch' && bytes)
    expect(ran).toMatchObject([{ label: 'launch', status: 'done' }])
    expect(ran[0].bytes).toBeGreaterThan(1_232)
  })

  it('a launch of the platform wallet, which signs one transaction', async () => {
    const created = await ask('pools.create', '/v2/pools', { ...launch(wallet), symbol: 'TWO', mode: 'signed' })
    expect(created.signatures).toHaveLength(1)
    landedOf(created.signatures[0])
    expect(await verified(created.pool.address)).toMatchObject({ status: 'live', config: created.pool.config })
  })

  it('a preset with a shared config, and its launch', async () => {
    const shared = await ask('pools.share', '/v2/pool-presets/shared/shared-config', { payer: addressOf(user) })
    land('shared config', shared.transaction, [user])
    const created = await ask('pools.create', '/v2/pools', { ...launch(user), symbol: 'THR', preset: 'shared' })
    expect([created.transactions.length, created.pool.config]).toEqual([1, shared.config])
    land('launch over a shared config', created.transactions[0], [user, ...keysOf(created.required_signers)])
  })

  it('a migration of a full curve, with the lock of its vested tokens', async () => {
    const created = await ask('pools.create', '/v2/pools', { ...launch(user), symbol: 'FUL', preset: 'vesting' })
    land('launch that fills its curve', created.transactions[0], [user, ...keysOf(created.required_signers)])
    const { address } = created.pool
    await verified(address)
    for (const step of ['create_locker', 'migrate']) {
      const built = await ask('pools.migrate', `/v2/pools/${address}/migrations`, { payer: addressOf(other) })
      expect(built.step).toBe(step)
      land(step, built.tx.transaction, [other])
    }
  })

  it('a damm_v2 pool: mint, pool, lock and buy in one transaction, traded and claimed from', async () => {
    const own = { ...launch(wallet), symbol: 'FOU', type: 'damm_v2' }
    const created = await ask('pools.create', '/v2/pools', own)
    expect(created.transactions).toHaveLength(1)
    land('damm_v2 launch', created.transactions[0], [wallet, ...keysOf(created.required_signers)])
    const { address } = created.pool
    const swap = { payer: addressOf(other), side: 'buy', amount: String(SOL) }
    land('damm_v2 buy', (await ask('pools.swap', `/v2/pools/${address}/swaps`, swap)).tx.transaction, [other])
    const body = { payer: addressOf(user), kind: 'damm_v2' }
    const claimed = await ask('feeClaims.create', `/v2/pools/${address}/fee-claims`, body)
    land('damm_v2 claim', claimed.tx.transaction, [user, wallet])
    const delegation = { payer: addressOf(user), owner: addressOf(wallet), delegate: addressOf(other) }
    const { tx } = await ask('feeClaims.delegate', `/v2/pools/${address}/fee-delegations`, delegation)
    expect(tx.requiredSigners).toEqual([user, wallet].map(addressOf))
    // A program before 0.2.5 does not have the instruction.
    if (hasInstruction(PROGRAMS.dammV2.id, 'UpdateDelegatePermission')) {
      land('delegation', tx.transaction, [user, wallet])
    } else expectVersion1(Buffer.from(tx.transaction, 'base64'))
    const handed = { payer: addressOf(wallet), new_owner: addressOf(user) }
    const sent = await ask('pools.transferPositions', `/v2/pools/${address}/position-transfers`, handed)
    land('transfer of a position', sent.tx.transaction, [wallet])
    const unlocked = { ...launch(wallet), symbol: 'FRE', type: 'damm_v2', lock_liquidity: false }
    const free = await ask('pools.create', '/v2/pools', unlocked)
    land('unlocked launch', free.transactions[0], [wallet, ...keysOf(free.required_signers)])
    const list = `/v2/pools/${free.pool.address}/positions`
    const { json } = await service.request('GET', `${list}?owner=${addressOf(wallet)}`)
    const at = `${list}/${json.data.positions[0].position}`
    const part = { payer: addressOf(wallet), share_bps: 5_000 }
    land('removal', (await ask('positions.remove', `${at}/removals`, part)).transaction, [wallet])
    const some = { payer: addressOf(wallet), amount_a: '1000000' }
    land('addition', (await ask('positions.add', `${at}/additions`, some)).transaction, [wallet])
    const opened = await ask('positions.open', list, some)
    land('opening', opened.transaction, [wallet])
    const fresh = `${list}/${opened.position}`
    const all = { payer: addressOf(wallet) }
    land('removal of all', (await ask('positions.remove', `${fresh}/removals`, all)).transaction, [wallet])
    land('closing', (await ask('positions.close', `${fresh}/closings`, all)).transaction, [wallet])
    land('permanent lock', (await ask('positions.lock', `${at}/locks`, part)).transaction, [wallet])
    land(
      'vesting',
      (await ask('positions.vest', `${at}/vestings`, { ...part, periods: 2, frequency: 60 })).transaction,
      [wallet],
    )
  })

  it('multisigs: what a vault does is proposed, decided, executed and cleaned up', async () => {
    const members = [user, other].map((key) => ({ address: addressOf(key) }))
    const body = { payer: addressOf(user), members, threshold: 1 }
    const { transaction, multisig, vault } = await ask('multisigs.create', '/v2/multisigs', body)
    land('multisig', transaction, [user])
    chain.airdrop(vault, SOL)
    const approver = { kind: 'squads', multisig, member: addressOf(user) }
    const transfer = { payer: vault, recipient: addressOf(other), lamports: '2000000', approver }
    const proposed = async () => {
      const { proposal } = await ask('solTransfers.create', '/v2/sol-transfers', transfer)
      expect(proposal.transactions).toHaveLength(1)
      land('proposal', proposal.transactions[0], [user])
      return `/v2/proposals/${proposal.id}`
    }
    const decide = async (name: string, path: string) =>
      land(name, (await ask(`proposals.${name}`, path, { member: addressOf(user) })).transaction, [user])
    await decide('reject', `${await proposed()}/rejections`)
    const given = new TransactionMessage({
      payerKey: new PublicKey(vault),
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [
        SystemProgram.transfer({
          fromPubkey: new PublicKey(vault),
          toPubkey: other.publicKey,
          lamports: 3_000_000,
        }),
      ],
    })
    const wire = Buffer.from(new VersionedTransaction(given.compileToV0Message()).serialize())
    const own = { transaction: wire.toString('base64'), approver }
    const { proposal } = await ask('proposals.create', '/v2/proposals', own)
    land("proposal of one's own transaction", proposal.transactions[0], [user])
    const before = lamportsOf(chain, other.publicKey)
    await decide('approve', `/v2/proposals/${proposal.id}/approvals`)
    await decide('execute', `/v2/proposals/${proposal.id}/executions`)
    expect(lamportsOf(chain, other.publicKey) - before).toBe(3_000_000n)
    for (const end of ['cancel', 'execute']) {
      const at = await proposed()
      await decide('approve', `${at}/approvals`)
      await decide(end, `${at}/${end === 'cancel' ? 'cancellations' : 'executions'}`)
      if (end === 'execute') await decide('reclaim', `${at}/reclaims`)
    }
  })

  it('raises: created, bought and withdrawn from, settled with a pool, claimed and refunded, and opened to a list', async () => {
    const on = await raisesOn(service)
    const { seller } = on
    const buyer = addressOf(user)
    const make = async (more: object) => {
      const made = await ask('raises.create', '/v2/raises', on.body(more))
      land('raise', made.transaction, [seller])
      return `/v2/raises/${made.id}`
    }
    const does = async (name: string, path: string, more: object, key: Keypair) =>
      land(name, (await ask(`raises.${name}`, path, more)).transaction, [key])
    const pool = { quote_bps: 5_000, reserve: '2500000000000' }
    const [sold, failed] = [await make({ withdrawable: true, pool }), await make({})]
    await does('deposit', `${sold}/deposits`, { buyer, amount: String(2n * SOL) }, user)
    await does('withdraw', `${sold}/withdrawals`, { buyer, amount: String(SOL / 2n) }, user)
    await does('deposit', `${failed}/deposits`, { buyer, amount: String(SOL / 2n) }, user)
    const listed = await make({ allowlist: true })
    const entries = [{ wallet: buyer, cap: String(SOL) }]
    expect((await service.request('POST', `${listed}/allowlist`, { body: { entries } })).status).toBe(201)
    await does('open', `${listed}/openings`, { payer: addressOf(seller), url: 'https://example.com/raise' }, seller)
    await does('deposit', `${listed}/deposits`, { buyer, amount: String(SOL / 2n) }, user)
    on.at(on.now() + HOUR + 60)
    await does('settle', `${sold}/settlements`, { payer: addressOf(seller) }, seller)
    await does('refund', `${failed}/refunds`, { buyer }, user)
    on.at(on.now() + HOUR + 60)
    await does('claim', `${sold}/claims`, { buyer }, user)
  })

  it('are all of those that the API has', async ({ annotate }) => {
    await annotate(JSON.stringify(sizes), 'size')
    expect([...executed].toSorted()).toEqual(building.toSorted())
  })
})
