/** The creation of raises over HTTP, on the real program: what is built and stored, and what is warned. */
import * as spl from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  fixedPriceArgsAddress,
  fixedPriceInstruction,
  type RaisePlace,
} from '../../src/chain/programs/presale/index.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { approversOf, decide } from '../support/approvers.ts'
import { run } from '../support/gold.ts'
import { withFee } from '../support/locks.ts'
import {
  addressOf,
  FIRST_COME,
  FIXED,
  giveUp,
  HOUR,
  isoOf,
  lacksPresale,
  PRO_RATA,
  raisesOn,
} from '../support/new-raises.ts'
import { GENEROUS, startPlatform } from '../support/platform-wallet.ts'
import { sdk } from '../support/raises.ts'
import { itInSoak } from '../support/runs.ts'
import { startService } from '../support/service.ts'
import { keyOf } from '../support/squads.ts'
import { lacksTreasury, sharedTreasury, type Treasury } from '../support/treasury.ts'

const SETTINGS = { 'priority-fee': 'none' }
const open = async (...options: Parameters<typeof raisesOn> extends [unknown, ...infer O] ? O : never) =>
  raisesOn(await startService({ settings: SETTINGS }), ...options)
const FEE = 5_000n
const POOL = { quote_bps: 5_000, reserve: '1000000000000' }

const rounds = (count: number, more = {}) => ({
  ...{ ...FIXED, allowlist: true, max: String(count * 1_000_000_000), ...more },
  rounds: Array.from({ length: count }, () => ({ supply: '1000000000000', deposit_fee_bps: 100 })),
})

describe.skipIf(lacksPresale !== '')(`a new raise ${lacksPresale}`, () => {
  it.each([FIXED, PRO_RATA, FIRST_COME])(
    'of $sale_mode has on chain the terms, the tokens and the rent that were answered',
    async (terms) => {
      const it = await open()
      const [before, held] = [it.lamports(it.seller), it.units(it.seller)]
      const made = await it.create(terms)
      expect(before - it.lamports(it.seller)).toBe(BigInt(made.rent) + 2n * FEE)
      expect(held - it.units(it.seller)).toBe(BigInt(made.deposit))
      const isFixed = terms.sale_mode === 'fixed_price'
      const closing = isFixed ? [{ act: 'close_price', by: 'creator' }] : []
      expect(made).toMatchObject({
        ...{ rent_kept: '10088880', rent: isFixed ? '11592560' : '10088880', requiredSigners: [addressOf(it.seller)] },
        ...{ price: isFixed ? '0.001' : null, deposit: made.supply, received: made.supply, mode: 'unsigned' },
        ...{ release_bps: 10_000, release_at: made.ends_at, early_end: terms.sale_mode !== 'pro_rata' },
        ...{ withdrawable: terms.sale_mode === 'pro_rata', creator: addressOf(it.seller), unsold: 'return' },
        preview: { best: { raised: '5000000000' }, expected: { raised: '1000000000' }, failed: { raised: '0' } },
        tracked_resource: { resource_type: 'raise', resource_id: made.id, related_events: [] },
      })
      const read = await it.read(made.id)
      for (const field of SETTLED) expect([field, read[field]]).toEqual([field, made[field]])
      expect(read).toMatchObject({
        state: 'ongoing',
        deposited: '0',
        due: [{ act: 'deposit', by: 'buyers' }, ...closing],
      })
      expect(await it.rows()).toMatchObject([{ id: made.id, state: 'pending', settle: 0, creator_vault: null }])
    },
  )

  it.each([
    ['all after a lock', { lock_seconds: 60 }, { release_bps: 0, release_at: null }],
    ['all over a year', { vesting_seconds: 31_536_000 }, { release_bps: 0 }],
    ['a quarter at once', { release_bps: 2_500, vesting_seconds: HOUR }, { release_bps: 2_500 }],
    ['a quarter later', { release_bps: 2_500, lock_seconds: HOUR, release_at: isoOf }, { release_bps: 2_500 }],
    ['with a plan of a pool', { pool: POOL }, { release_bps: 0, release_at: null }],
    ['with a pool that is open before', { pool: { ...POOL, when: 'before_end' } }, { release_bps: 10_000 }],
    ['for ten years less a second', { lock_seconds: 157_680_000, vesting_seconds: 157_679_999 }, { release_bps: 0 }],
    ['with an odd price', { price: '0.00123456789' }, { price: '0.00123456789' }],
    ['of a supply that fixes the price', { price: undefined, supply: '7000000000001' }, { supply: '7000000000001' }],
    ['of one buyer', { buyer_min: '5000000000', min: '1' }, {}],
    ['as near to its minimum as possible', { min: '4999999000', buyer_min: '1001' }, {}],
    ['of little more than a minute', { ends_at: 75 }, {}],
    ['that starts in a month', { starts_at: 2_592_000, ends_at: 5_184_000 }, {}],
    ['that started', { starts_at: -9_000 }, {}],
    ['that burns, and never ends early', { unsold: 'burn', early_end: false }, { unsold: 'burn', early_end: false }],
    ['with the highest fee', { deposit_fee_bps: 5_000 }, { rounds: [{ deposit_fee_bps: 5_000 }] }],
    [
      'of listed wallets',
      { allowlist: true },
      { allowlist: true, rounds: [{ buyer_min: '1', buyer_max: '5000000000' }] },
    ],
  ])('%s is taken by the program as it was answered', async (_, more: Record<string, unknown>, answered) => {
    const it = await open()
    const times = Object.entries(more).map(([name, value]) => {
      const isTime = name.endsWith('s_at') && typeof value === 'number'
      if (typeof value === 'function') return [name, isoOf(it.now() + HOUR + 60)]
      return [name, isTime ? isoOf(it.now() + value) : value]
    })
    const made = await it.create({ ...FIXED, ...Object.fromEntries(times) })
    expect(made).toMatchObject(answered)
    const read = await it.read(made.id)
    for (const field of SETTLED) expect([field, read[field]]).toEqual([field, made[field]])
  })

  it('of five rounds fits version 0 with the payer as its base, and a second one needs version 1', async () => {
    const it = await raisesOn(await startService())
    const fees = ({ preview, rent_kept }: Awaited<ReturnType<typeof it.create>>) =>
      BigInt(preview.failed.lamports) - BigInt(rent_kept)
    const four = await it.create(rounds(4))
    // Payer and base of the creation, and the creator of the settlement.
    expect(fees(four)).toBe(3n * FEE)
    expect((await it.read(four.id)).rounds).toEqual(four.rounds)
    const five = await it.create(rounds(5))
    expect(five.requiredSigners).toEqual([addressOf(it.seller)])
    expect(fees(five)).toBe(2n * FEE)
    const read = await it.read(five.id)
    for (const field of SETTLED) expect([field, read[field]]).toEqual([field, five[field]])
    expect(five.warnings.join()).toContain('At a fixed price the rounds share their tokens')
    await it.expectRefused(
      rounds(5),
      'tx_version',
      'tx_version: the creation of 5 rounds has 1289 bytes, and version 0 takes 1232: send tx_version 1, or fewer rounds',
    )
    const second = await it.create(rounds(5, { tx_version: 1 }))
    expect((await it.read(second.id)).rounds).toEqual(second.rounds)
    expect(second.id).not.toBe(five.id)
    const free = { ...rounds(5), ...PRO_RATA, max: '5000000000', supply: undefined, price: undefined, min: '1' }
    expect((await it.create(free)).warnings.join()).toContain('Each round sells all of its tokens for any deposit')
  })

  itInSoak('of five rounds has the terms of the last build, and none while an earlier one can land', async () => {
    const it = await raisesOn(await startService())
    const planned = rounds(5, { pool: POOL, ends_at: isoOf(it.now() + HOUR) })
    const { id } = await it.build(planned)
    expect(await it.build(planned)).toMatchObject({ id })
    const other = { ...planned, pool: { ...POOL, fee_bps: 200 } }
    const refusal = `tx_version: another build of the raise ${id} can still land: repeat this request in three minutes`
    await it.expectRefused(other, 'tx_version', refusal)
    expect(await it.rows()).toMatchObject([{ id, pool_json: expect.stringContaining('"fee_bps":100') }])
    it.service.clock.advance(180_000)
    await it.create(other)
    expect(await it.rows()).toMatchObject([{ id, pool_json: expect.stringContaining('"fee_bps":200') }])
  })

  itInSoak('of five rounds does not take an address whose price somebody else has written', async () => {
    const it = await raisesOn(await startService())
    const { id } = await it.build(rounds(5))
    const stranger = it.recipient
    const place = { address: id, fixedPriceArgs: fixedPriceArgsAddress(id) } as RaisePlace
    const squat = fixedPriceInstruction(place, { payer: addressOf(stranger), price: 1n << 64n, withdrawable: true })
    expect(run(it.chain, [sdk(squat)], [stranger]).err).toBeNull()
    await it.expectRefused(rounds(5), 'tx_version', 'send tx_version 1, or fewer rounds')
  })

  it('whose creator is another wallet needs its signature, so that a mistyped one never gets anything', async () => {
    const it = await open()
    const creator = Keypair.generate()
    const made = await it.build({ creator: addressOf(creator) })
    expect(made.requiredSigners).toEqual([addressOf(it.seller), addressOf(creator)])
    it.land(made, it.seller, creator)
    const due = [{ act: 'deposit' }, { act: 'close_price', by: 'creator' }]
    expect(await it.read(made.id)).toMatchObject({ creator: addressOf(creator), creator_vault: null, due })
    const own = { creator: it.mint }
    await it.expectRefused(own, 'creator', `creator: ${it.mint} is a mint or a token account, not a wallet`)
    await it.expectRefused({ creator: made.id }, 'creator', 'is an address of a program, which cannot sign')
  })

  it('of a mint with a transfer fee says what leaves, what arrives, and what buyers lose', async () => {
    const it = await open(withFee(100, 1_000_000_000_000n))
    await it.expectRefused({}, 'mint', 'holds the transfer fee authority')
    giveUp(it, it.tokenAccount, spl.AuthorityType.TransferFeeConfig)
    const before = it.lamports(it.seller)
    const made = await it.create({ ...PRO_RATA, supply: '1000000000000' })
    expect(made).toMatchObject({ deposit: '1010101010102', received: '1000000000000', supply: '1000000000000' })
    expect(before - it.lamports(it.seller)).toBe(BigInt(made.rent) + 2n * FEE)
    expect(made.warnings.join()).toContain('The mint withholds 1 % of every transfer')
  })

  it('is built by a dry run as usual, and stored by none', async () => {
    const it = await open()
    expect(await it.build({ dry_run: true })).toMatchObject({ mode: 'unsigned', rent_kept: '10088880' })
    expect(await it.rows()).toEqual([])
  })

  it('is the same for a repeated request with an Idempotency-Key', async () => {
    const it = await open()
    const request = { body: it.body(), headers: { 'idempotency-key': 'r1' } }
    const ask = () => it.service.request('POST', '/v2/raises', request)
    const [first, second] = [await ask(), await ask()]
    expect(second.json.data).toEqual(first.json.data)
    expect(await it.rows()).toMatchObject([{ id: first.json.data.id }])
  })

  it.each([
    [{ ...PRO_RATA, min: '11' }, 'with 0.000000011 SOL, the minimum, all 5,000 are sold for 0.0000000000022 each'],
    [{ ...FIRST_COME, min: '11' }, 'Only a higher min keeps the price up'],
    [{ ...FIXED, withdrawable: true }, 'One buyer could fill the raise, withdraw a second before the end'],
    [{ ...FIXED, buyer_min: '1000000' }, 'A rest below 0.001 SOL can only be filled by buyers who have deposited'],
    [{ ...PRO_RATA, deposit_fee_bps: 100 }, 'The deposit fee is not returned by a withdrawal'],
    [FIXED, 'Whoever claims first can open the pool of the token, at any price'],
    [{ ...FIXED, pool: POOL, lock_seconds: 60 }, 'Only 60 seconds are left for the pool'],
    [
      { ...FIXED, pool: { ...POOL, when: 'before_end' } },
      'pool.opens_after_seconds: the usual DAMM v2 build of the embedded chain opens a pool at most 30 seconds before',
    ],
  ])('%j is built with a warning', async (terms, warning) => {
    const it = await open()
    expect((await it.build(terms)).warnings.join('\n')).toContain(warning)
  })

  it('warns of tokens that are released a second after the end, with any lock of the rest', async () => {
    const it = await open()
    const end = it.now() + 7_200
    const terms = { ...FIXED, pool: POOL, ends_at: isoOf(end), release_bps: 100, release_at: isoOf(end + 1) }
    expect((await it.build(terms)).warnings.join('\n')).toContain('Only 1 seconds are left for the pool')
  })

  it('at a price that holds has no warning', async () => {
    const it = await open()
    expect(await it.build({ ...FIXED, pool: POOL })).not.toHaveProperty('warnings')
    expect(await it.build({ ...PRO_RATA, pool: POOL })).not.toHaveProperty('warnings')
  })
})

/** What the answer says of the terms, but the start: a past one becomes the time of the landing. */
const SETTLED = [
  ...['mint', 'quote_mint', 'creator', 'sale_mode', 'price', 'min', 'max', 'supply', 'ends_at'],
  ...['release_bps', 'release_at', 'vesting_starts_at', 'vesting_ends_at', 'unsold', 'early_end', 'withdrawable'],
  ...['allowlist', 'rounds'],
]

describe.skipIf(lacksTreasury !== '' || lacksPresale !== '')(`a raise of a vault${lacksTreasury}`, () => {
  let at: Treasury
  sharedTreasury((opened) => {
    at = opened
  })

  it('needs no signature of a vault that exists, and names who holds the key', async () => {
    const it = await raisesOn(at.service)
    const made = await it.create({ creator_vault: { multisig: at.multisig } })
    // The fourth member cannot vote.
    const rules = { threshold: 2, members: 3, time_lock: 0, config_authority: null }
    const creator_vault = { multisig: at.multisig, vault_index: 0, ...rules }
    expect(made.requiredSigners).toEqual([addressOf(it.seller)])
    expect(await it.read(made.id)).toMatchObject({ creator: at.vault, creator_vault })
    const vault = { creator_vault: { multisig: at.vault } }
    await it.expectRefused(vault, 'creator_vault.multisig', 'There is no Squads multisig at')
    const ruled = await at.createMultisig({ configAuthority: addressOf(at.stranger) })
    const { warnings, id } = await it.create({ creator_vault: { multisig: ruled.multisig } })
    expect((await it.read(id)).creator_vault.config_authority).toBe(addressOf(at.stranger))
    expect(warnings.join()).toContain(`${addressOf(at.stranger)} can change members and rules of the multisig`)
    const nobody = { creator_vault: { multisig: addressOf(it.seller) } }
    await it.expectRefused(nobody, 'creator_vault.multisig', 'There is no Squads multisig at')
  })

  it('that pays for it is made by its members, who approve', async () => {
    const it = await raisesOn(at.service, {}, [keyOf(at.vault)])
    const body = it.body({ payer: at.vault, approver: at.approver(), pool: POOL })
    const { id, proposal, ...made } = await at.post('/v2/raises', body)
    expect(await it.rows()).toContainEqual(
      expect.objectContaining({ id, creator: at.vault, creator_vault: `${at.multisig}:0`, state: 'pending' }),
    )
    at.put(proposal, at.a)
    await at.follow()
    await at.carryOut(proposal.id)
    expect(await at.proposalOf(proposal.id)).toMatchObject({ status: 'executed' })
    const read = await it.read(id)
    for (const field of SETTLED) expect([field, read[field]]).toEqual([field, made[field]])
    expect(read).toMatchObject({ creator_vault: { multisig: at.multisig }, pool: POOL, state: 'ongoing' })
    // A raise of another tool has the vault that is known by its proposals.
    await at.service.services.store.write((tx) => tx.deleteFrom('raises').execute())
    expect(await it.read(id)).toMatchObject({ creator_vault: { multisig: at.multisig }, created_at: null, pool: null })
  })
})

describe.skipIf(lacksPresale !== '')(`a raise of the platform wallet ${lacksPresale}`, () => {
  const platform = async (limits: object = {}) => {
    const service = await startPlatform({ ...GENEROUS, ...limits })
    const it = await raisesOn(service, {}, [service.wallet.publicKey])
    return { ...it, service }
  }

  it('is created within its policy, which limits the tokens, and settled by a worker if it asks for that', async () => {
    const it = await platform()
    const wallet = addressOf(it.service.wallet)
    const signed = { payer: wallet, mode: 'signed', settle: true, pool: POOL }
    const refused = await it.ask('POST', '/v2/raises', it.body(signed))
    expect(refused.json.error.message).toContain('Refused by the rule tokens_per_transaction: 4999999999999 raw units')
    expect(await it.rows()).toEqual([])
    const limit = { mint: it.mint, per_transaction: '5000000000000', per_day: '5000000000000' }
    await it.service.request('PATCH', '/v2/signer/policy', { body: { tokens: [limit] } })
    const made = await it.build(signed)
    expect(made).toMatchObject({ mode: 'signed', creator: wallet })
    expect(await it.rows()).toMatchObject([{ id: made.id, settle: 1, creator: wallet, pool_json: expect.any(String) }])
    expect(await it.read(made.id)).toMatchObject({ settle: true, pool: { ...POOL, when: 'after' } })
    it.chain.advance(3)
    it.service.clock.advance(60_000)
    await followTransactions(it.service.services)
    expect(await it.rows()).toMatchObject([{ state: 'ongoing', deposited: '0', withdrawn: 0 }])
    const { data } = (await it.ask('GET', `/v2/raises?mint=${it.mint}`)).json
    expect(data).toMatchObject([{ id: made.id, state: 'ongoing', settle: true }])
    // It could wait for approvals, so the one address of its payer is not for it.
    const five = await it.ask('POST', '/v2/raises', it.body(rounds(5, { payer: wallet, mode: 'signed' })))
    expect(five.json.error.message).toContain('send tx_version 1, or fewer rounds')
  })

  itInSoak('that waits for people has its row once it is signed, and is checked again before', async () => {
    const limit = (mint: string) => ({ mint, per_transaction: '5000000000000', per_day: '50000000000000' })
    const it = await platform()
    await it.service.request('PATCH', '/v2/signer/policy', { body: { tokens: [limit(it.mint)] } })
    const [anna] = await approversOf(it.service, 1, { operations: ['raise.create'] })
    const propose = async () => {
      const { status, json, text } = await it.ask('POST', '/v2/raises', it.body({ mode: 'signed' }))
      expect(status, text).toBe(202)
      expect(json.data.proposal.what).toContain(`, paid to ${addressOf(it.service.wallet)})`)
      return json.data.proposal
    }
    const [first, late] = [await propose(), await propose()]
    expect(await it.rows()).toEqual([])
    const done = await decide(it.service, first, anna!)
    expect([done.status, done.json.data.proposal.status]).toEqual([200, 'executed'])
    const [row] = await it.rows()
    expect(row).toMatchObject({ state: 'pending', creator: addressOf(it.service.wallet) })
    expect(await it.read(row!.id)).toMatchObject({ state: 'ongoing' })
    it.at(it.now() + HOUR)
    const { json } = await decide(it.service, late, anna!)
    expect(JSON.stringify(json)).toContain('ends_at: must be from 60 seconds to 30 days after the start')
    expect(await it.rows()).toHaveLength(1)
  })

  itInSoak('has no other creator, and no worker settles a raise of others', async () => {
    const it = await platform()
    const other = addressOf(Keypair.generate())
    await it.expectRefused(
      { mode: 'signed', creator: other },
      'creator',
      'with mode "signed" it is the platform wallet',
    )
    await it.expectRefused(
      { settle: true },
      'settle',
      'a worker settles only raises whose creator is the platform wallet',
    )
  })
})
