/** A gold lock's life over HTTP with a stranger's signer, and everything that can be in its way. */
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { escrowAddress } from '../src/chain/programs/jupiter-lock/index.ts'
import { followGoldLocks } from '../src/operations/gold-locks/follow-gold-locks.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import type { SettingName } from '../src/settings/config.ts'
import { CLOCK_SYSVAR, MEMO_PROGRAM } from '../src/solana/program-ids.ts'
import { cataloguedTypes } from './support/event-catalog.ts'
import {
  addressOf,
  createMint,
  DAY,
  give,
  instructionsIn,
  lacksLock,
  lamportsOf,
  type MintOptions,
  run,
  unitsIn,
} from './support/gold.ts'
import { addSignatures } from './support/local-chain-transactions.ts'
import { buildGoldLock, type GoldLockPlan, lockPlaces } from './support/lock-builds.ts'
import { aroundAccounts, clockAt } from './support/node-accounts.ts'
import { LOCK_RENT, TOKEN_ACCOUNT_RENT, WALLET_RENT } from './support/rent.ts'
import { inSoak } from './support/runs.ts'
import { type Service, sharedService, startService, temporaryFolder } from './support/service.ts'
import { SOL, walletOn } from './support/wallets.ts'

/** Rent of the lock and of its token account. */
const RENT = LOCK_RENT + TOKEN_ACCOUNT_RENT
const FEE = 5_000n
const PLATFORM = Keypair.generate()

interface Built {
  transaction: string
  tracked_resource: object
}

const settingsOf = (key: Keypair) => ({
  'gold.mint': addressOf(key),
  'platform-wallet': addressOf(PLATFORM),
  'priority-fee': 'none',
})

async function goldOn(service: Service, key: Keypair, options?: MintOptions) {
  const { chain, wallet: issuer } = await walletOn(service.services)
  return { service, key, issuer, gold: createMint(chain, issuer, { key, ...options }) }
}

const sharedKey = Keypair.generate()
const sharedGold = sharedService({ settings: settingsOf(sharedKey) })
let shared: ReturnType<typeof goldOn> | undefined

/** A service of the test's own. */
async function ownGold({ mint: options, settings = {} }: Wishes) {
  const key = Keypair.generate()
  return goldOn(await startService({ settings: { ...settingsOf(key), ...settings } }), key, options)
}

/** A service whose gold token a wallet holds a thousand raw units of; without wishes other tests use it too. */
async function setting(wishes?: Wishes) {
  const { held = 1_000n } = wishes ?? {}
  if (wishes === undefined) shared ??= goldOn(await sharedGold(), sharedKey)
  const { service, key, issuer, gold } = await (wishes === undefined ? shared! : ownGold(wishes))
  const { request, services, clock } = service
  const { chain, wallet: user } = await walletOn(services)
  const account = give(chain, issuer, gold, user.publicKey, held)
  const address = addressOf(user)
  const places = await lockPlaces({ address: await escrowAddress(address), mint: addressOf(key), tokenProgram: 'spl' })

  /** Everything is confirmed and followed; a round of the worker comes with it. */
  const settle = async () => {
    chain.advance(20)
    clock.advance(20_000)
    await followTransactions(services)
    await followGoldLocks(services)
  }
  const sign = (text: string, ...signers: Keypair[]) => {
    const transaction = VersionedTransaction.deserialize(Buffer.from(text, 'base64'))
    addSignatures(transaction, signers.length > 0 ? signers : [user])
    return transaction
  }
  const submit = async ({ transaction, tracked_resource }: Built, externalUid = 'lock:1') => {
    const signed = Buffer.from(sign(transaction).serialize()).toString('base64')
    const { status, json, text } = await request('POST', '/v2/transactions', {
      body: { transaction: signed, tracked_resource, externalUid, metadata: { tier: 'gold' } },
    })
    expect(status, text).toBe(200)
    await settle()
    return json.data.signature as string
  }
  /** Past this service. */
  const land = (transaction: string, ...signers: Keypair[]) => {
    const landed = chain.send(sign(transaction, ...signers).serialize())
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    return landed.signature
  }
  const body = { user: address, platform_id: 'acme', amount: '400', lock_duration_days: 30 }
  const lock = (changes: object = {}) => request('POST', '/v2/gold-locks', { body: { ...body, ...changes } })
  const unlock = (changes: object = {}) =>
    request('DELETE', `/v2/gold-locks/${address}`, { body: { platform_id: 'acme', ...changes } })
  const get = () => request('GET', `/v2/gold-locks/${address}`)
  const list = async (query = '') => (await request('GET', `/v2/gold-locks?user=${address}${query}`)).json.data
  const events = async (): Promise<[string, Record<string, unknown>][]> => {
    const path = `/v2/events?order=asc&limit=100&resource_type=gold_lock&resource_id=${address}`
    const { data } = (await request('GET', path)).json
    return data.map(({ type, data }: { type: string; data: { object: Record<string, unknown> } }) => [
      type,
      data.object,
    ])
  }
  /** A lock that the wallet made with another tool. */
  const foreign = async (wishes: Partial<GoldLockPlan>, change: (data: Buffer) => void = () => undefined) => {
    const built = await buildGoldLock({
      ...{ payer: address, mint: addressOf(key), tokenProgram: 'spl', amount: 400n, memo: 'other' },
      ...{ startsAt: chain.unixTimestamp(), unlocksAt: chain.unixTimestamp() + DAY },
      recentBlockhash: chain.latestBlockhash().blockhash,
      ...wishes,
    })
    const instructions = instructionsIn(built.transaction)
    change(instructions[1]!.data)
    const landed = run(chain, instructions, [user])
    expect(landed.err, landed.logs.join('\n')).toBeNull()
  }
  return {
    ...{ ...service, chain, issuer, user, gold, account, address, places, mint: addressOf(key) },
    ...{ settle, submit, land, lock, unlock, get, list, events, foreign, body },
  }
}
interface Wishes {
  held?: bigint
  mint?: MintOptions
  settings?: Partial<Record<SettingName, unknown>>
}

function memosIn(transaction: string): string[] {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  const { staticAccountKeys, compiledInstructions } = message
  const memos = compiledInstructions.filter(
    (each) => staticAccountKeys[each.programIdIndex]!.toBase58() === MEMO_PROGRAM,
  )
  return memos.map(({ data }) => Buffer.from(data).toString())
}

describe.skipIf(lacksLock !== '')(`a gold lock ${lacksLock}`, () => {
  it('is locked, refused too early, reported as unlockable, and unlocked, to the lamport', async () => {
    const { chain, user, account, address, places, mint, ...the } = await setting({})
    chain.airdrop(addressOf(PLATFORM), SOL)
    const start = lamportsOf(chain, user.publicKey)
    const built = await the.lock({ platform_fee: 70_000 })
    const built_at = chain.unixTimestamp()
    expect(built.status, built.text).toBe(200)
    const { unlocks_at, transaction, requiredSigners, tracked_resource, guard, ...rest } = built.json.data
    const last_valid_block_height = expect.any(Number)
    expect(rest).toEqual({ mode: 'unsigned', escrow: places.escrow.toBase58(), mint, last_valid_block_height })
    expect(requiredSigners).toEqual([address])
    // The wallet, and the tokens that it locks.
    expect(guard).toMatchObject({ state: 'whole', wallets: [{ address }], token_accounts: [{ amount: '-400' }] })
    expect(tracked_resource).toEqual({
      resource_type: 'gold_lock',
      resource_id: address,
      related_events: ['gold.locked'],
    })
    expect(Math.abs(Date.parse(unlocks_at) / 1000 - built_at - 30 * DAY)).toBeLessThanOrEqual(2)
    expect((await the.get()).status).toBe(404)

    const locking = await the.submit({ transaction, tracked_resource })
    expect([unitsIn(chain, account), unitsIn(chain, places.escrowToken)]).toEqual([600n, 400n])
    expect(start - lamportsOf(chain, user.publicKey)).toBe(RENT + FEE + 70_000n)
    expect(lamportsOf(chain, PLATFORM.publicKey)).toBe(SOL + 70_000n)
    const record = {
      ...{ user: address, mint, amount: '400', unlocks_at, status: 'locked' },
      ...{ escrow: places.escrow.toBase58(), created_at: expect.any(String) },
    }
    expect(await the.list('&status=locked')).toEqual([record])
    const read = (await the.get()).json.data
    expect(read).toEqual({ ...record, seconds_left: expect.any(Number) })
    expect(30 * DAY - read.seconds_left).toBeLessThan(60)
    expect(await the.events()).toEqual([
      ['gold.locked', { ...record, ...about(address), signature: locking, slot: expect.any(Number), source: 'chain' }],
    ])

    const early = await the.unlock()
    expect([early.status, early.json.error.param]).toEqual([400, 'user'])
    expect(early.json.error.message).toMatch(/is locked for another 29 days 23 hours, until \d{4}-\d\d-\d\dT/)
    expect(early.json.error.details).toEqual({
      escrow: places.escrow.toBase58(),
      unlocks_at,
      seconds_left: expect.any(Number),
    })

    chain.advance(30 * DAY - 120)
    await the.settle()
    expect([(await the.get()).json.data.status, (await the.events()).length]).toEqual(['locked', 1])
    chain.advance(120)
    expect(await the.get().then(({ json }) => [json.data.status, json.data.seconds_left])).toEqual(['unlockable', 0])
    for (let i = 0; i < 3; i++) await the.settle()
    expect(await the.list('&status=unlockable')).toEqual([{ ...record, status: 'unlockable' }])

    const unlocking = await the.unlock({ platform_fee: 1 })
    expect(unlocking.json.data).toMatchObject({ amount: '400', mint, escrow: places.escrow.toBase58() })
    expect(unlocking.json.data.tracked_resource.related_events).toEqual(['gold.unlocked'])
    const unlocked = await the.submit(unlocking.json.data, 'unlock:1')
    expect([unitsIn(chain, account), unitsIn(chain, places.escrowToken)]).toEqual([1_000n, null])
    expect(start - lamportsOf(chain, user.publicKey)).toBe(2n * FEE + 70_001n)
    expect((await the.get()).json.data).toEqual({ ...record, status: 'unlocked', seconds_left: 0 })
    expect(await the.list()).toEqual([{ ...record, status: 'unlocked' }])
    const told = await the.events()
    expect(told.map(([type, { status, signature }]) => [type, status, signature])).toEqual([
      ['gold.locked', 'locked', locking],
      ['gold.unlock_eligible', 'unlockable', undefined],
      ['gold.unlocked', 'unlocked', unlocked],
    ])
    for (const [, object] of told) {
      expect(object).toMatchObject({ ...record, status: object.status, source: 'chain', slot: expect.any(Number) })
    }
    expect(await cataloguedTypes(the)).toEqual(expect.arrayContaining(told.map(([type]) => type)))
    const all = (await the.request('GET', '/v2/events?resource_type=gold_lock')).json.data
    expect(all.map(({ external_uid, metadata }: Record<string, unknown>) => [external_uid, metadata])).toEqual(
      ['unlock:1', 'lock:1', 'lock:1'].map((uid) => [uid, { tier: 'gold' }]),
    )
    expect((await the.unlock()).status).toBe(404)
  })

  it('carries a memo that names the platform, whatever its name contains', async () => {
    const the = await setting()
    const platform_id = `${'é\u{1f600}:'.repeat(16)}`.slice(0, 64)
    const built = await the.lock({ platform_id })
    const signature = await the.submit(built.json.data)
    const [found] = the.chain.signaturesFor(the.address, { limit: 1 })
    expect(found!.signature).toBe(signature)
    expect(memosIn(built.json.data.transaction)).toEqual([`svc:gold-lock:${platform_id}`])
    the.chain.advance(30 * DAY)
    const unlocking = await the.unlock()
    expect(memosIn(unlocking.json.data.transaction)).toEqual(['svc:gold-unlock:acme'])
  })

  it('is limited to one at a time: a second is refused with the live one and its end', async () => {
    const the = await setting()
    const first = await the.lock()
    await the.submit(first.json.data)
    const second = await the.lock({ amount: '1' })
    expect([second.status, second.json.error.param]).toEqual([400, 'user'])
    expect(second.json.error.message).toMatch(
      new RegExp(
        `already has a gold lock of 400 raw units, for another 29 days .* until ${first.json.data.unlocks_at}`,
      ),
    )
    const { escrow, unlocks_at } = first.json.data
    const details = { escrow, mint: the.mint, amount: '400', unlocks_at }
    expect(second.json.error.details).toEqual({ ...details, status: 'locked', seconds_left: expect.any(Number) })
    the.chain.advance(31 * DAY)
    const third = await the.lock({ amount: '1' })
    expect(third.json.error.message).toContain('it can be unlocked: unlock it first')
    expect(third.json.error.details).toEqual({ ...details, status: 'unlockable', seconds_left: 0 })
  })

  it('begins a second life at the same address, and the first stays in the list', async () => {
    const the = await setting()
    for (const [amount, days] of [
      ['400', 1],
      ['500', 2],
    ] as const) {
      await the.submit((await the.lock({ amount, lock_duration_days: days })).json.data)
      the.chain.advance(days * DAY)
      await the.settle()
      if (amount === '400') await the.submit((await the.unlock()).json.data)
    }
    const [latest, first] = await the.list()
    expect([latest.amount, latest.status, first.amount, first.status]).toEqual(['500', 'unlockable', '400', 'unlocked'])
    expect(latest.escrow).toBe(first.escrow)
    expect((await the.get()).json.data).toMatchObject({ amount: '500', created_at: latest.created_at })
    expect((await the.events()).map(([type, { amount }]) => [type, amount])).toEqual([
      ['gold.locked', '400'],
      ['gold.unlock_eligible', '400'],
      ['gold.unlocked', '400'],
      ['gold.locked', '500'],
      ['gold.unlock_eligible', '500'],
    ])
    expect(await the.list('&status=unlocked')).toEqual([first])
  })

  it('takes at most the gold that the wallet has, and the refusal names that amount', async () => {
    const the = await setting({ held: 399n })
    const few = await the.lock()
    expect([few.status, few.json.error.param]).toEqual([400, 'amount'])
    expect(few.json.error.message).toContain('has 399 raw units of the gold token')
    expect(few.json.error.details).toEqual({ mint: the.mint, have: '399', need: '400' })
    const none = await the.lock({ user: addressOf(PLATFORM) })
    expect(none.json.error.details).toMatchObject({ have: '0', need: '400' })
    expect((await the.lock({ amount: '399' })).status).toBe(200)
    const freezing = spl.createFreezeAccountInstruction(the.account, the.gold.mint, the.issuer.publicKey)
    expect(run(the.chain, [freezing], [the.issuer]).err).toBeNull()
    const frozen = await the.lock({ amount: '399' })
    expect([frozen.status, frozen.json.error.param]).toEqual([400, 'user'])
    expect(frozen.json.error.message).toContain('is frozen')
  })

  it('that is frozen cannot be unlocked, and the refusal names who can thaw the lock or the wallet', async () => {
    const the = await setting({})
    await the.submit((await the.lock({ lock_duration_days: 1 })).json.data)
    const { mint } = the.gold
    const { publicKey: authority } = the.issuer
    const send = (...instructions: TransactionInstruction[]) =>
      expect(run(the.chain, instructions, [the.issuer]).err).toBeNull()
    const freeze = (account: PublicKey) => spl.createFreezeAccountInstruction(account, mint, authority)
    const thaw = (account: PublicKey) => spl.createThawAccountInstruction(account, mint, authority)
    const [first, second] = [the.places.escrowToken, the.account] as const
    send(freeze(first), freeze(second))
    expect((await the.unlock()).json.error.message).toContain('is locked for another')
    the.chain.advance(DAY)
    for (const [account, whose] of [
      [first, 'lock'],
      [second, 'wallet'],
    ] as const) {
      const { status, json } = await the.unlock()
      expect([status, json.error.param]).toEqual([400, 'user'])
      expect(json.error.message).toContain(
        `the token account ${account.toBase58()} of the ${whose} is frozen, its freeze authority ${authority.toBase58()} must thaw it first`,
      )
      expect(json.error.details).toEqual({
        ...{ escrow: the.places.escrow.toBase58(), mint: the.mint },
        ...{ account: account.toBase58(), freeze_authority: authority.toBase58() },
      })
      send(thaw(account))
    }
    const { transaction } = (await the.unlock()).json.data
    send(freeze(second), spl.createSetAuthorityInstruction(mint, authority, spl.AuthorityType.FreezeAccount, null))
    const forever = await the.unlock()
    expect(forever.json.error.message).toMatch(
      /of the wallet is frozen, and nobody can thaw it, because the token no longer has/,
    )
    expect(forever.json.error.details.freeze_authority).toBeNull()
    // So says the program: what was built before it was frozen fails.
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    signed.sign([the.user])
    expect(the.chain.send(signed.serialize()).err).not.toBeNull()
  })

  it('cannot be unlocked into a token account that now belongs to another wallet', async () => {
    const the = await setting()
    await the.submit((await the.lock({ lock_duration_days: 1 })).json.data)
    the.chain.advance(DAY)
    const { AccountOwner } = spl.AuthorityType
    const [from, to] = [the.user.publicKey, the.issuer.publicKey]
    const given = spl.createSetAuthorityInstruction(the.account, from, AccountOwner, to)
    expect(run(the.chain, [given], [the.user]).err).toBeNull()
    const { status, json } = await the.unlock()
    expect([status, json.error.param, json.error.details.owner]).toEqual([400, 'user', to.toBase58()])
    expect(json.error.message).toContain(`belongs to ${to.toBase58()}`)
    const back = spl.createSetAuthorityInstruction(the.account, to, AccountOwner, from)
    expect(run(the.chain, [back], [the.issuer]).err).toBeNull()
    await the.submit((await the.unlock()).json.data)
    expect(unitsIn(the.chain, the.account)).toBe(1_000n)
  })

  it.skipIf(!inSoak)('is neither gone nor due if the node is behind', { tags: 'sampled' }, async () => {
    const the = await setting()
    await the.submit((await the.lock({ lock_duration_days: 1 })).json.data)
    const behind = { isOn: true }
    // It has not seen the lock yet, and its clock is a minute late wherever more than that is asked for.
    const restore = aroundAccounts(the.services.chain, async (read, addresses) => {
      const answer = await read(addresses)
      if (!behind.isOn || addresses.length === 1) return answer
      const late = BigInt(the.chain.unixTimestamp() - 60)
      const value = answer.value.map((account, i) => {
        if (addresses[i] === the.places.escrow.toBase58()) return null
        return addresses[i] === CLOCK_SYSVAR ? clockAt(account!, late) : account
      })
      return { ...answer, value }
    })
    const read = (await the.get()).json.data
    expect([read.status, read.amount]).toEqual(['locked', '400'])
    expect(read.seconds_left).toBeGreaterThan(DAY - 120)
    the.chain.advance(DAY)
    await the.settle()
    expect((await the.events()).map(([type]) => type)).toEqual(['gold.locked'])
    behind.isOn = false
    await the.settle()
    expect((await the.events()).map(([type]) => type)).toEqual(['gold.locked', 'gold.unlock_eligible'])
    restore()
  })

  it('is never signed by the server, whatever scopes the key has', async () => {
    const the = await setting()
    for (const scopes of [['*'], [], ['fees:claim', 'airdrop:admin', 'airdrop:write']]) {
      const key = await the.key({ scopes })
      const asked = [
        await the.request('POST', '/v2/gold-locks', { key, body: { ...the.body, mode: 'signed' } }),
        await the.request('DELETE', `/v2/gold-locks/${the.address}`, {
          key,
          body: { platform_id: 'acme', mode: 'signed' },
        }),
      ]
      for (const { status, json } of asked) {
        expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'mode'])
      }
    }
  })

  it('pays a platform fee only if there is a platform wallet that can receive it', async () => {
    const the = await setting({})
    const small = await the.lock({ platform_fee: 5_000 })
    expect([small.status, small.json.error.param]).toEqual([400, 'platform_fee'])
    expect(small.json.error.details).toMatchObject({ rent_exempt: String(WALLET_RENT), lamports: '5000' })
    expect((await the.lock({ platform_fee: Number(WALLET_RENT) })).status).toBe(200)
    const without = await setting({ settings: { 'platform-wallet': undefined } })
    const unset = await without.lock({ platform_fee: 5_000 })
    expect([unset.status, unset.json.error.message]).toEqual([500, expect.stringContaining('platform-wallet')])
    expect((await without.lock()).status).toBe(200)
  })

  it.skipIf(!inSoak)(
    'that another tool made in another shape is refused with an explanation',
    { tags: 'sampled' },
    async () => {
      const other = Keypair.generate()
      const odd: [string, Partial<GoldLockPlan>, (data: Buffer) => void, string][] = [
        [
          'another mint',
          { mint: addressOf(other) },
          () => undefined,
          `its mint is ${addressOf(other)}, not the gold mint`,
        ],
        ['steps', {}, (data) => data.fill(Buffer.of(1, 0, 0, 0, 0, 0, 0, 0), 40, 56), 'it pays out in steps'],
        ['cancelling', {}, (data) => data.writeUInt8(1, 57), 'it can be cancelled'],
        ['redirecting', {}, (data) => data.writeUInt8(3, 56), 'its recipient can be changed'],
        ['eternity', {}, (data) => data.fill(255, 16, 24), 'its time is beyond the year 9999'],
      ]
      for (const [title, wishes, change, words] of odd) {
        const the = await setting()
        if (wishes.mint !== undefined) {
          give(the.chain, the.issuer, createMint(the.chain, the.issuer, { key: other }), the.user.publicKey, 1_000n)
        }
        await the.foreign(wishes, change)
        const refused = await the.lock()
        expect([refused.status, refused.json.error.param], title).toEqual([400, 'user'])
        expect(refused.json.error.message).toContain(words)
        for (const { status, json } of [await the.get(), await the.unlock()]) {
          expect([status, json.error.param], title).toEqual([404, 'user'])
          expect(json.error.message).toContain(words)
          expect(json.error.details.escrow).toBe(the.places.escrow.toBase58())
        }
      }
    },
  )

  it('of the same shape can be read and unlocked if another tool made it, and has no record', async () => {
    const the = await setting()
    await the.foreign({})
    expect((await the.get()).json.data).toMatchObject({ status: 'locked', amount: '400', created_at: null })
    the.chain.advance(DAY)
    await the.submit((await the.unlock()).json.data)
    expect(unitsIn(the.chain, the.account)).toBe(1_000n)
    expect([await the.list(), (await the.get()).status]).toEqual([[], 404])
    expect((await the.events()).map(([type, { source }]) => [type, source])).toEqual([['gold.unlocked', 'hint']])
  })

  it('of a worthless mint does not count, whatever its sender hints', async () => {
    const the = await setting()
    const worthless = createMint(the.chain, the.issuer)
    give(the.chain, the.issuer, worthless, the.user.publicKey, 1_000n)
    const built = await buildGoldLock({
      ...{ payer: the.address, mint: worthless.mint.toBase58(), tokenProgram: 'spl', amount: 400n, memo: 'x' },
      ...{ startsAt: the.chain.unixTimestamp(), unlocksAt: the.chain.unixTimestamp() + DAY },
      recentBlockhash: the.chain.latestBlockhash().blockhash,
    })
    await the.submit({
      transaction: Buffer.from(built.transaction).toString('base64'),
      tracked_resource: { resource_type: 'gold_lock', resource_id: the.address, related_events: ['gold.locked'] },
    })
    expect(await the.list()).toEqual([])
    expect((await the.events()).map(([type, { source }]) => [type, source])).toEqual([['gold.locked', 'hint']])
  })

  it.skipIf(!inSoak)(
    'from before a change of the gold mint can be read and unlocked as before',
    { tags: 'sampled' },
    async () => {
      const dataDir = temporaryFolder()
      const the = await setting({ settings: { 'data-dir': dataDir } })
      await the.submit((await the.lock({ lock_duration_days: 1 })).json.data)
      for (const mint of [addressOf(Keypair.generate()), undefined]) {
        const { config } = the.services
        Object.assign(config, { values: { ...config.values, 'gold.mint': mint } })
        expect((await the.get()).json.data).toMatchObject({ status: 'locked', mint: the.mint })
        expect((await the.unlock()).json.error.message).toContain('is locked for another')
      }
      the.chain.advance(DAY)
      await the.submit((await the.unlock()).json.data)
      expect((await the.events()).map(([type]) => type)).toEqual([
        'gold.locked',
        'gold.unlock_eligible',
        'gold.unlocked',
      ])
    },
  )
})

describe.skipIf(lacksLock !== '')(`a gold lock that ends elsewhere ${lacksLock}`, () => {
  /** Locked here, with its time come. */
  async function ripe() {
    const the = await setting()
    await the.submit((await the.lock({ lock_duration_days: 1 })).json.data)
    the.chain.advance(DAY)
    return the
  }
  const step = ([type, { status, signature }]: [string, Record<string, unknown>]) => [type, status, signature]
  /** Told with the end, which shows that its time had come. */
  const eligible = [['gold.unlock_eligible', 'unlockable', undefined]]

  it('is recorded as unlocked, with the transaction that closed it', async () => {
    const the = await ripe()
    const signature = the.land((await the.unlock()).json.data.transaction)
    await the.settle()
    expect((await the.events()).slice(1).map(step)).toEqual([...eligible, ['gold.unlocked', 'unlocked', signature]])
    expect(await the.list()).toMatchObject([{ status: 'unlocked' }])
    for (let i = 0; i < 3; i++) await the.settle()
    expect(await the.events()).toHaveLength(3)
  })

  it.skipIf(!inSoak)(
    'after it was reported as unlockable is noticed later, and reported once',
    { tags: 'sampled' },
    async () => {
      const the = await ripe()
      await the.settle()
      const signature = the.land((await the.unlock()).json.data.transaction)
      await the.settle()
      expect(await the.list()).toMatchObject([{ status: 'unlockable' }])
      expect((await the.get()).json.data.status).toBe('unlocked')
      the.clock.advance(600_000)
      await the.settle()
      expect((await the.events()).slice(1).map(step)).toEqual([
        ['gold.unlock_eligible', 'unlockable', undefined],
        ['gold.unlocked', 'unlocked', signature],
      ])
      expect(await the.list()).toMatchObject([{ status: 'unlocked' }])
    },
  )

  it.skipIf(!inSoak)(
    'before its own transaction was followed has one event all the same',
    { tags: 'sampled' },
    async () => {
      const the = await ripe()
      const { transaction, tracked_resource } = (await the.unlock()).json.data
      const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
      signed.sign([the.user])
      const body = { transaction: Buffer.from(signed.serialize()).toString('base64'), tracked_resource }
      const { json } = await the.request('POST', '/v2/transactions', { body })
      the.chain.advance(20)
      await followGoldLocks(the.services)
      expect((await the.events()).slice(1).map(step)).toEqual([
        ...eligible,
        ['gold.unlocked', 'unlocked', json.data.signature],
      ])
      await the.settle()
      expect(await the.events()).toHaveLength(3)
    },
  )

  it.skipIf(!inSoak)(
    'and begins again elsewhere is reported as ended, and the new one is in no record',
    { tags: 'sampled' },
    async () => {
      const the = await ripe()
      const signature = the.land((await the.unlock()).json.data.transaction)
      the.chain.advance(60)
      await the.foreign({ amount: 7n })
      await the.settle()
      expect((await the.events()).slice(1).map(step)).toEqual([...eligible, ['gold.unlocked', 'unlocked', signature]])
      expect(await the.list()).toMatchObject([{ amount: '400', status: 'unlocked' }])
      expect((await the.get()).json.data).toMatchObject({ amount: '7', status: 'locked', created_at: null })
    },
  )

  it.skipIf(!inSoak)(
    'and begins and ends again elsewhere is reported with its own end',
    { tags: 'sampled' },
    async () => {
      const the = await ripe()
      const signature = the.land((await the.unlock()).json.data.transaction)
      the.chain.advance(60)
      await the.foreign({ amount: 7n })
      the.chain.advance(DAY)
      the.land((await the.unlock()).json.data.transaction)
      await the.settle()
      expect((await the.events()).slice(1).map(step)).toEqual([...eligible, ['gold.unlocked', 'unlocked', signature]])
    },
  )

  it.skipIf(!inSoak)('and is followed late does not end a lock that landed after it', { tags: 'sampled' }, async () => {
    const the = await ripe()
    const first = (await the.unlock()).json.data
    const signed = VersionedTransaction.deserialize(Buffer.from(first.transaction, 'base64'))
    signed.sign([the.user])
    const transaction = Buffer.from(signed.serialize()).toString('base64')
    const { signature } = (await the.request('POST', '/v2/transactions', { body: { transaction } })).json.data
    the.chain.advance(20)
    const look = (next_check_at: number) =>
      the.services.store.write((tx) =>
        tx.updateTable('transactions').set({ next_check_at }).where('signature', '=', signature).execute(),
      )
    await look(the.clock.now() + 3_600_000)
    await followGoldLocks(the.services)
    await the.submit((await the.lock({ amount: '9' })).json.data)
    await look(1)
    await the.settle()
    expect((await the.request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle).toBe('finalized')
    expect((await the.events()).slice(1).map(([type, { amount }]) => [type, amount])).toEqual([
      ['gold.unlock_eligible', '400'],
      ['gold.unlocked', '400'],
      ['gold.locked', '9'],
    ])
    expect((await the.list()).map(({ amount, status }: Record<string, string>) => [amount, status])).toEqual([
      ['9', 'locked'],
      ['400', 'unlocked'],
    ])
  })

  it.skipIf(!inSoak)(
    'and begins again here has both lives in the list, each with its own end',
    { tags: 'sampled' },
    async () => {
      const the = await ripe()
      const ended = the.land((await the.unlock()).json.data.transaction)
      the.chain.advance(60)
      await the.submit((await the.lock({ amount: '9', lock_duration_days: 1 })).json.data)
      await the.settle()
      const expected = [
        ['gold.locked', '400', expect.any(String)],
        ['gold.locked', '9', expect.any(String)],
        ['gold.unlock_eligible', '400', undefined],
        ['gold.unlocked', '400', ended],
      ]
      expect((await the.events()).map(([type, { amount, signature }]) => [type, amount, signature])).toEqual(expected)
      the.chain.advance(DAY)
      await the.settle()
      const unlocked = await the.submit((await the.unlock()).json.data)
      expect((await the.events()).map(([type, { amount, signature }]) => [type, amount, signature])).toEqual([
        ...expected,
        ['gold.unlock_eligible', '9', undefined],
        ['gold.unlocked', '9', unlocked],
      ])
      expect((await the.list()).map(({ amount, status }: Record<string, string>) => [amount, status])).toEqual([
        ['9', 'unlocked'],
        ['400', 'unlocked'],
      ])
    },
  )

  it('and is only paid out counts as unlocked, blocks its address until it is closed, and is reported once', async () => {
    const the = await ripe()
    const whole = instructionsIn(Buffer.from((await the.unlock()).json.data.transaction, 'base64'))
    const instruction = whole.find(({ data }) => data.toString('hex', 0, 4) === 'e5572ea2')!
    expect(run(the.chain, [instruction], [the.user]).err).toBeNull()
    await the.settle()
    expect((await the.get()).json.data.status).toBe('unlocked')
    expect((await the.events()).slice(1).map(([type]) => type)).toEqual(['gold.unlock_eligible', 'gold.unlocked'])
    const refused = await the.lock()
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('not closed')])
    for (const account of [the.places.escrowToken, the.account]) {
      const freezing = spl.createFreezeAccountInstruction(account, the.gold.mint, the.issuer.publicKey)
      expect(run(the.chain, [freezing], [the.issuer]).err).toBeNull()
    }
    // Closing moves no tokens, so that nothing needs to be thawed.
    const closing = await the.unlock()
    expect(closing.json.data).toMatchObject({ amount: '0', tracked_resource: { related_events: [] } })
    const before = lamportsOf(the.chain, the.user.publicKey)
    await the.submit(closing.json.data)
    expect(lamportsOf(the.chain, the.user.publicKey)).toBe(before + RENT - FEE)
    expect(await the.events()).toHaveLength(3)
    const thawing = spl.createThawAccountInstruction(the.account, the.gold.mint, the.issuer.publicKey)
    expect(run(the.chain, [thawing], [the.issuer]).err).toBeNull()
    expect((await the.lock()).status).toBe(200)
  })
})

describe('the gold token', () => {
  it('that is not configured is refused with the way to configure it', async () => {
    const { request } = await startService()
    const user = addressOf(PLATFORM)
    const asked = [
      await request('POST', '/v2/gold-locks', {
        body: { user, platform_id: 'acme', amount: '1', lock_duration_days: 1 },
      }),
      await request('GET', '/v2/gold-token'),
    ]
    for (const { status, json } of asked) {
      expect([status, json.error.code]).toEqual([500, 'internal_error'])
      expect(json.error.message).toMatch(/gold\.mint is not set.*svc config set gold\.mint <mint>.*SVC_GOLD_MINT/)
    }
    expect((await request('GET', `/v2/gold-locks/${user}`)).status).toBe(404)
    const unlocking = await request('DELETE', `/v2/gold-locks/${user}`, { body: { platform_id: 'acme' } })
    expect([unlocking.status, unlocking.json.error.param]).toEqual([404, 'user'])
  })

  it('is read with its decimals', async () => {
    const { request, mint } = await setting()
    const { json } = await request('GET', '/v2/gold-token')
    expect(json.data).toEqual({ mint, decimals: 9, token_program: 'spl' })
  })

  it.skipIf(!inSoak)(
    'that is not a mint, or cannot be locked, is reported as a fault of the configuration',
    { tags: 'sampled' },
    async () => {
      const none = await setting({ settings: { 'gold.mint': addressOf(PLATFORM) } })
      expect((await none.lock()).json.error).toMatchObject({
        code: 'internal_error',
        message: expect.stringContaining('there is no token mint at that address on embedded'),
      })
      const program = spl.TOKEN_2022_PROGRAM_ID
      const fee: MintOptions = {
        program,
        extensions: [
          {
            type: spl.ExtensionType.TransferFeeConfig,
            initialize: (mint, _, authority) =>
              spl.createInitializeTransferFeeConfigInstruction(mint, authority, authority, 100, 1_000n, program),
          },
        ],
      }
      const { lock } = await setting({ mint: fee })
      expect((await lock()).json.error).toMatchObject({
        code: 'internal_error',
        message: expect.stringContaining('whose token extension TransferFeeConfig cannot be locked'),
      })
    },
  )

  it('whose program is missing is reported with the way to get it, after every fault of the request', async () => {
    const { lock, unlock } = await setting({ settings: { 'programs-dir': '/nonexistent' } })
    expect((await lock({ amount: '5000' })).json.error.param).toBe('amount')
    expect((await unlock()).status).toBe(404)
    const { status, json } = await lock()
    expect([status, json.error.message]).toEqual([500, expect.stringContaining('svc localnet pull')])
  })
})

const about = (user: string) => ({ resource_type: 'gold_lock', resource_id: user })
