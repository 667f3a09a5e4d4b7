/** Locks of any mint over HTTP, on the real Jupiter Lock: from their creation to the last lamport of their rent. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { approversOf } from './support/approvers.ts'
import { give, lacksLock, lamportsOf, type MintOptions, run, tokenAccountOf } from './support/gold.ts'
import { addressOf, isoOf, locksOn, withFee } from './support/locks.ts'
import { GENEROUS, startPlatform } from './support/platform-wallet.ts'
import { LOCK_RENT, TOKEN_ACCOUNT_RENT } from './support/rent.ts'
import { startService } from './support/service.ts'

const MONTH = 2_592_000
const FEE = 5_000n
const open = async (options?: MintOptions, held?: bigint) =>
  locksOn(await startService({ settings: { 'priority-fee': 'none' } }), options, held)

describe.skipIf(lacksLock !== '')(`a lock ${lacksLock}`, () => {
  it('unlocks at its cliff and in equal steps, and its parts are the amount to the unit', async () => {
    const it = await open()
    const start = it.now() + 100
    const before = lamportsOf(it.chain, it.creator.publicKey)
    const terms = {
      starts_at: isoOf(start),
      cliff_at: isoOf(start + MONTH),
      frequency: MONTH,
      periods: 7,
      cliff_amount: '100',
    }
    const made = await it.create({ ...terms, title: 'Team' })
    expect(made).toMatchObject({
      ...{ amount: '1000', cliff_amount: '104', amount_per_period: '128', periods: '7', frequency: String(MONTH) },
      ...{ starts_at: isoOf(start), cliff_at: isoOf(start + MONTH), ends_at: isoOf(start + 8 * MONTH) },
      ...{ cancellable_by: 'none', recipient_changeable_by: 'none', deposit: '1000', mode: 'unsigned' },
      requiredSigners: [addressOf(it.creator)],
      tracked_resource: { resource_type: 'lock', resource_id: made.address, related_events: [] },
    })
    expect(before - lamportsOf(it.chain, it.creator.publicKey)).toBe(BigInt(made.rent) + 2n * FEE)
    expect(it.units(it.creator)).toBe(999_000n)
    const locked = await it.get(made.address)
    expect(locked).toMatchObject({
      ...{ unlocked: '0', claimed: '0', claimable: '0', locked: '1000', held: '1000', decimals: 9, title: 'Team' },
      ...{ description: null, origin: 'other', cancelled_at: null },
      next_unlock: { at: isoOf(start + MONTH), amount: '104' },
    })
    const claims = `/v2/locks/${made.address}/claims`
    const payer = addressOf(it.recipient)
    const [param, message] = await it.refused('POST', claims, { payer })
    expect([param, message]).toEqual([
      'address',
      `Nothing can be claimed from ${made.address} now: the next 104 raw units unlock at ${isoOf(start + MONTH)}`,
    ])

    it.at(start + 3 * MONTH)
    expect(await it.get(made.address)).toMatchObject({ unlocked: '360', claimable: '360', locked: '640' })
    const part = await it.built('POST', claims, { payer, amount: '60' })
    expect(part).toMatchObject({ amount: '60', received: '60', remaining: '940', closes: false })
    it.land(part, it.recipient)
    expect((await it.refused('POST', claims, { payer, amount: '301' }))[0]).toBe('amount')
    it.land(await it.built('POST', claims, { payer }), it.recipient)
    expect(it.units(it.recipient)).toBe(360n)

    it.at(start + 8 * MONTH)
    const last = await it.built('POST', claims, { payer })
    expect(last).toMatchObject({ amount: '640', remaining: '0', closes: false })
    it.land(last, it.recipient)
    expect(it.units(it.recipient)).toBe(1_000n)
    expect((await it.refused('POST', claims, { payer }))[1]).toContain('is claimed: its creator')
    const closings = `/v2/locks/${made.address}/closings`
    expect((await it.refused('POST', closings, { payer }))[0]).toBe('payer')
    const closing = await it.built('POST', closings, { payer: addressOf(it.creator) })
    expect(closing.rent).toBe(made.rent)
    const held = lamportsOf(it.chain, it.creator.publicKey)
    it.land(closing, it.creator)
    expect(lamportsOf(it.chain, it.creator.publicKey) - held).toBe(BigInt(made.rent) - FEE)
    expect((await it.ask('GET', `/v2/locks/${made.address}`)).status).toBe(404)
  })

  it('of its own creator is closed by the claim of its last units', async () => {
    const it = await open()
    const payer = addressOf(it.creator)
    const made = await it.create({ recipient: payer, cliff_at: isoOf(it.now() + 1_000) })
    expect(made).toMatchObject({ cliff_amount: '1000', amount_per_period: '0', periods: '0', ends_at: made.cliff_at })
    expect(made.rent).toBe(String(LOCK_RENT + TOKEN_ACCOUNT_RENT))
    it.at(it.now() + 1_000)
    const claim = await it.built('POST', `/v2/locks/${made.address}/claims`, { payer })
    expect(claim).toMatchObject({ amount: '1000', remaining: '0', closes: true })
    it.land(claim, it.creator)
    expect(it.units(it.creator)).toBe(1_000_000n)
    expect((await it.ask('GET', `/v2/locks/${made.address}`)).status).toBe(404)
  })

  it('is listed by mint, recipient and creator, a page at a time', async () => {
    const it = await open()
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.push((await it.create({ amount: String(i + 1) })).address)
    const other = await it.create({ recipient: addressOf(Keypair.generate()) })
    const pages: string[] = []
    let cursor = ''
    do {
      const path = `/v2/locks?recipient=${addressOf(it.recipient)}&limit=2${cursor}`
      const { status, json, text } = await it.ask('GET', path)
      expect(status, text).toBe(200)
      pages.push(...json.data.map(({ address }: { address: string }) => address))
      cursor = json.meta.next_cursor === null ? '' : `&cursor=${json.meta.next_cursor}`
    } while (cursor !== '')
    expect(pages).toEqual(made.toSorted())
    const listed = async (query: string) => (await it.ask('GET', `/v2/locks?${query}`)).json.data.length
    expect(await listed(`mint=${it.mint}`)).toBe(6)
    expect(await listed(`mint=${it.mint}&recipient=${other.recipient}`)).toBe(1)
    expect(await listed(`creator=${addressOf(it.recipient)}`)).toBe(0)
    const all = `mint=${it.mint}&recipient=${addressOf(it.recipient)}&creator=${addressOf(it.creator)}`
    expect(await listed(all)).toBe(5)
    // The account of these texts is as large as a lock.
    await it.create({ recipient: other.recipient, title: 't'.repeat(40), description: 'd'.repeat(200) })
    expect(await listed(`recipient=${other.recipient}`)).toBe(2)
    const first = await it.ask('GET', `/v2/locks?mint=${it.mint}&limit=2`)
    const wrong = `/v2/locks?creator=${addressOf(it.creator)}&cursor=${first.json.meta.next_cursor}`
    expect((await it.refused('GET', wrong))[0]).toBe('cursor')
    expect((await it.refused('GET', `/v2/locks?mint=${it.mint}&cursor=AAAA`))[0]).toBe('cursor')
    expect((await it.ask('GET', '/v2/locks')).json.data).toEqual([])
  })

  it('is cancelled by whoever may: the recipient gets what has unlocked, and the creator the rest', async () => {
    const it = await open()
    const [creator, recipient] = [addressOf(it.creator), addressOf(it.recipient)]
    const start = it.now()
    const terms = { starts_at: isoOf(start), frequency: 1_000, periods: 10 }
    const fixed = await it.create(terms)
    const cancel = (made: { address: string }) => `/v2/locks/${made.address}`
    expect(await it.refused('DELETE', cancel(fixed), { payer: creator })).toEqual([
      'payer',
      `${creator} cannot cancel the lock ${fixed.address}: nobody can, which was decided when it was made`,
    ])
    const byRecipient = await it.create({ ...terms, cancellable_by: 'recipient' })
    const byCreator = await it.create({ ...terms, cancellable_by: 'creator', description: 'Ends at any time' })
    expect(await it.refused('DELETE', cancel(byRecipient), { payer: creator })).toEqual([
      'payer',
      `${creator} cannot cancel the lock ${byRecipient.address}: only its recipient ${recipient} can`,
    ])
    expect((await it.refused('DELETE', cancel(byCreator), { payer: recipient }))[0]).toBe('payer')
    it.at(start + 3_500)
    const ended = await it.built('DELETE', cancel(byCreator), { payer: creator })
    expect(ended).toMatchObject({ to_recipient: '300', to_creator: '700', closes: true, creator, recipient })
    it.land(ended, it.creator)
    expect([it.units(it.recipient), it.units(it.creator)]).toEqual([300n, 998_000n - 1_000n + 700n])
    expect((await it.ask('GET', cancel(byCreator))).status).toBe(404)

    const left = await it.built('DELETE', cancel(byRecipient), { payer: recipient })
    expect(left).toMatchObject({ to_recipient: '300', to_creator: '700', closes: false })
    it.land(left, it.recipient)
    expect([it.units(it.recipient), it.units(it.creator)]).toEqual([600n, 997_700n + 700n])
    const seen = await it.get(byRecipient.address)
    expect(seen).toMatchObject({ claimable: '0', locked: '0', next_unlock: null, unlocked: '300', held: '0' })
    expect(Date.parse(seen.cancelled_at)).toBeGreaterThanOrEqual((start + 3_500) * 1000)
    const claims = `/v2/locks/${byRecipient.address}/claims`
    expect((await it.refused('POST', claims, { payer: recipient }))[1]).toContain('was cancelled on')
    expect((await it.refused('DELETE', cancel(byRecipient), { payer: recipient }))[1]).toContain('was cancelled on')
    it.land(await it.built('POST', `/v2/locks/${byRecipient.address}/closings`, { payer: creator }), it.creator)
    expect((await it.ask('GET', cancel(byRecipient))).status).toBe(404)
  })

  it('goes to another recipient by whoever may change that, with all that is not claimed', async () => {
    const it = await open()
    const [creator, recipient] = [addressOf(it.creator), addressOf(it.recipient)]
    const [heir, made] = [Keypair.generate(), await it.create({ recipient_changeable_by: 'both' })]
    it.chain.airdrop(addressOf(heir), 1_000_000_000n)
    const path = `/v2/locks/${made.address}/recipient`
    const to = { new_recipient: addressOf(heir) }
    const fixed = await it.create()
    expect((await it.refused('PUT', `/v2/locks/${fixed.address}/recipient`, { payer: creator, ...to }))[0]).toBe(
      'payer',
    )
    expect((await it.refused('PUT', path, { payer: addressOf(heir), ...to }))[0]).toBe('payer')
    expect((await it.refused('PUT', path, { payer: creator, new_recipient: recipient }))[0]).toBe('new_recipient')
    expect((await it.refused('PUT', path, { payer: creator, new_recipient: it.mint }))[0]).toBe('new_recipient')
    const change = await it.built('PUT', path, { payer: recipient, ...to })
    expect(change).toMatchObject({ recipient, ...to, claimable: '1000' })
    it.land(change, it.recipient)
    expect((await it.get(made.address)).recipient).toBe(addressOf(heir))
    const claims = `/v2/locks/${made.address}/claims`
    expect((await it.refused('POST', claims, { payer: recipient }))[0]).toBe('payer')
    it.land(await it.built('POST', claims, { payer: addressOf(heir) }), heir)
    expect(it.units(heir)).toBe(1_000n)
    expect((await it.refused('PUT', path, { payer: creator, new_recipient: recipient }))[0]).toBe('address')
  })

  it('gets its title and description once, from its creator', async () => {
    const it = await open()
    const [creator, made] = [addressOf(it.creator), await it.create()]
    const path = `/v2/locks/${made.address}/title`
    expect((await it.refused('PUT', path, { payer: addressOf(it.recipient), title: 'Mine' }))[0]).toBe('payer')
    expect((await it.refused('PUT', path, { payer: creator, title: '€'.repeat(22) }))[0]).toBe('title')
    const before = lamportsOf(it.chain, it.creator.publicKey)
    const titling = await it.built('PUT', path, { payer: creator, title: 'Investors', description: 'Round A' })
    it.land(titling, it.creator)
    expect(before - lamportsOf(it.chain, it.creator.publicKey)).toBe(BigInt(titling.rent) + FEE)
    expect(await it.get(made.address)).toMatchObject({ title: 'Investors', description: 'Round A' })
    expect((await it.refused('PUT', path, { payer: creator, title: 'Other' }))[0]).toBe('address')
  })

  it('with a base of one’s own can be made once', async () => {
    const it = await open()
    const base = Keypair.generate()
    const body = { payer: addressOf(it.creator), mint: it.mint, recipient: addressOf(it.recipient), amount: '7' }
    const made = await it.built('POST', '/v2/locks', { ...body, base: addressOf(base) })
    expect(new Set(made.requiredSigners)).toEqual(new Set([addressOf(it.creator), addressOf(base)]))
    expect(made.generated_keys).toBeUndefined()
    it.land(made, it.creator, base)
    expect(await it.refused('POST', '/v2/locks', { ...body, base: addressOf(base) })).toEqual([
      'base',
      `base: its lock exists already at ${made.address}; send the address of a new key`,
    ])
    expect((await it.refused('POST', '/v2/locks', { ...body, base: body.payer }))[0]).toBe('base')
    expect((await it.refused('POST', '/v2/locks', { ...body, base: addressOf(base), mode: 'signed' }))[0]).toBe('base')
  })

  it('is refused with the field that is wrong', async () => {
    const it = await open()
    const body = { payer: addressOf(it.creator), mint: it.mint, recipient: addressOf(it.recipient), amount: '1000' }
    const faults: [object, string, RegExp][] = [
      [{ amount: '0' }, 'amount', /more than 0/],
      [{ amount: '1000001' }, 'amount', /has 1000000 raw units/],
      [{ mint: addressOf(Keypair.generate()) }, 'mint', /no token mint/],
      [{ recipient: it.mint }, 'recipient', /a mint or a token account/],
      [{ periods: 3 }, 'frequency', /required with periods/],
      [{ cliff_at: '2030-02-30T00:00:00Z' }, 'cliff_at', /ISO/],
      [{ starts_at: '2030-01-02T00:00:00Z', cliff_at: '2030-01-01T00:00:00Z' }, 'cliff_at', /before the start/],
      [{ starts_at: '1969-01-02T00:00:00Z' }, 'starts_at', /before 1970/],
      [{ periods: 1_000, frequency: 1_000_000_000 }, 'periods', /beyond the year 9999/],
    ]
    for (const [more, field, message] of faults) {
      const [param, text] = await it.refused('POST', '/v2/locks', { ...body, ...more })
      expect([param, text]).toEqual([field, expect.stringMatching(message)])
    }
    const nowhere = addressOf(Keypair.generate())
    expect((await it.ask('POST', `/v2/locks/${nowhere}/claims`, { payer: body.payer })).status).toBe(404)
    expect((await it.refused('GET', `/v2/locks/${nowhere}`))[0]).toBe('address')
  })

  it('that unlocks everything in one moment says so in its warnings', async () => {
    const it = await open()
    expect((await it.create()).warnings).toEqual([expect.stringMatching(/^Nothing is locked: .* can claim everything/)])
    const cliff_at = isoOf(it.now() + 1_000)
    const warnings = [`Everything unlocks in one moment, ${cliff_at}: no periods follow`]
    expect((await it.create({ cliff_at })).warnings).toEqual(warnings)
    expect((await it.create({ cliff_at, periods: 0, frequency: 1 })).warnings).toEqual(warnings)
    expect((await it.create({ cliff_at, periods: 2, frequency: 1 })).warnings).toBeUndefined()
  })

  it('leaves nothing after a dry run, and is built as version 1 too', async () => {
    const it = await open()
    const body = { payer: addressOf(it.creator), mint: it.mint, recipient: addressOf(it.recipient), amount: '1000' }
    const dry = await it.built('POST', '/v2/locks', { ...body, dry_run: true })
    expect(dry.mode).toBe('unsigned')
    expect((await it.ask('GET', `/v2/locks?mint=${it.mint}`)).json.data).toEqual([])
    const later = await it.built('POST', '/v2/locks', {
      ...body,
      tx_version: 1,
      title: 'x'.repeat(64),
      description: 'y'.repeat(200),
    })
    expect(Buffer.from(later.transaction, 'base64')[0]).toBe(0x81)
  })
})

describe.skipIf(lacksLock !== '')(`a lock of a Token-2022 mint ${lacksLock}`, () => {
  it('holds its whole amount in spite of a transfer fee, and says what a claim brings', async () => {
    for (const [basisPoints, most] of [
      [300, 10_000n],
      [9_999, 5n],
      [10_000, 40n],
      [1, 1_000n],
      [5_000, 10n ** 12n],
    ] as const) {
      const it = await open(withFee(basisPoints, most))
      const made = await it.create({ amount: '12345' })
      expect(1_000_000n - it.units(it.creator)).toBe(BigInt(made.deposit))
      expect(BigInt((await it.get(made.address)).held)).toBeGreaterThanOrEqual(12_345n)
      expect(made.warnings).toContainEqual(expect.stringContaining(`a fee of ${basisPoints / 100} %`))
      const claim = await it.built('POST', `/v2/locks/${made.address}/claims`, { payer: addressOf(it.recipient) })
      it.land(claim, it.recipient)
      expect(it.units(it.recipient)).toBe(BigInt(claim.received))
      it.land(
        await it.built('POST', `/v2/locks/${made.address}/closings`, { payer: addressOf(it.creator) }),
        it.creator,
      )
    }
  })

  it('is refused for a mint that its program cannot hold, with the extension', async () => {
    const program = spl.TOKEN_2022_PROGRAM_ID
    const refusals: [MintOptions, RegExp][] = [
      [
        {
          program,
          extensions: [
            {
              type: spl.ExtensionType.DefaultAccountState,
              initialize: (mint) =>
                spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, program),
            },
          ],
        },
        /frozen until its freeze authority thaws/,
      ],
      [
        {
          program,
          extensions: [
            {
              type: spl.ExtensionType.TransferHook,
              initialize: (mint, _, authority) =>
                spl.createInitializeTransferHookInstruction(mint, authority, authority, program),
            },
          ],
        },
        /every transfer calls the program/,
      ],
      [
        {
          program,
          extensions: [
            {
              type: spl.ExtensionType.InterestBearingConfig,
              initialize: (mint, _, authority) =>
                spl.createInitializeInterestBearingMintInstruction(mint, authority, 5, program),
            },
          ],
        },
        /refuses mints with the extension InterestBearingConfig/,
      ],
    ]
    for (const [options, message] of refusals) {
      const service = await startService()
      const it = await locksOn(service, options, 0n)
      const body = { payer: addressOf(it.creator), mint: it.mint, recipient: addressOf(it.recipient), amount: '1' }
      expect(await it.refused('POST', '/v2/locks', body)).toEqual(['mint', expect.stringMatching(message)])
    }
  })

  it('says that a permanent delegate can take its tokens, and shows that it did', async () => {
    const it = await open({
      program: spl.TOKEN_2022_PROGRAM_ID,
      extensions: [
        {
          type: spl.ExtensionType.PermanentDelegate,
          initialize: (mint, program, authority) =>
            spl.createInitializePermanentDelegateInstruction(mint, authority, program),
        },
      ],
    })
    const made = await it.create()
    expect(made.warnings).toContainEqual(expect.stringContaining('is the permanent delegate of the mint'))
    const from = tokenAccountOf(it.gold, new PublicKey(made.address))
    const burn = spl.createBurnInstruction(from, it.gold.mint, it.issuer.publicKey, 400n, [], it.gold.program)
    expect(run(it.chain, [burn], [it.issuer]).err).toBeNull()
    expect(await it.get(made.address)).toMatchObject({ held: '600', claimable: '1000' })
  })
})

describe.skipIf(lacksLock !== '')(`a lock of the platform wallet ${lacksLock}`, () => {
  it('is made, claimed and cancelled with its signature, if its policy permits', async () => {
    const service = await startPlatform(GENEROUS)
    const it = await locksOn(service)
    const wallet = addressOf(service.wallet)
    give(it.chain, it.issuer, it.gold, service.wallet.publicKey, 5_000n)
    const body = {
      payer: addressOf(it.creator),
      mint: it.mint,
      recipient: addressOf(it.recipient),
      amount: '1000',
      mode: 'signed',
    }
    const refused = await it.ask('POST', '/v2/locks', body)
    expect([refused.status, refused.json.error.details.rule], refused.text).toEqual([400, expect.any(String)])
    await service.request('PATCH', '/v2/signer/policy', {
      body: { tokens: [{ mint: it.mint, per_transaction: '5000', per_day: '50000' }], destinations: null },
    })
    const made = await it.ask('POST', '/v2/locks', {
      ...body,
      cancellable_by: 'creator',
      recipient_changeable_by: 'both',
    })
    expect(made.status, made.text).toBe(200)
    expect(made.json.data).toMatchObject({
      mode: 'signed',
      creator: wallet,
      recipient: addressOf(it.recipient),
      amount: '1000',
    })
    it.chain.advance(2)
    const path = `/v2/locks/${made.json.data.address}`
    expect(await it.get(made.json.data.address)).toMatchObject({ creator: wallet, held: '1000' })
    expect((await it.ask('GET', '/v2/locks')).json.data).toMatchObject([{ address: made.json.data.address }])
    const payer = addressOf(it.creator)
    const change = await it.ask('PUT', `${path}/recipient`, { mode: 'signed', payer, new_recipient: payer })
    expect([change.status, change.json.error.details.rule]).toEqual([400, 'authority'])
    const end = await it.ask('DELETE', path, { mode: 'signed', payer })
    expect(end.json.data, end.text).toMatchObject({ to_recipient: '1000', to_creator: '0', closes: true })
    it.chain.advance(2)
    expect([it.units(it.recipient), (await it.ask('GET', path)).status]).toEqual([1_000n, 404])

    const received = await it.create({ recipient: wallet })
    const claim = { mode: 'signed', payer, amount: '400' }
    const claimed = await it.ask('POST', `/v2/locks/${received.address}/claims`, claim)
    expect(claimed.json.data, claimed.text).toMatchObject({ mode: 'signed', amount: '400', remaining: '600' })
    it.chain.advance(2)
    expect(await it.get(received.address)).toMatchObject({ recipient: wallet, claimed: '400' })
    expect(it.units(service.wallet)).toBe(4_400n)

    const cancellable = await it.create({
      recipient: wallet,
      cancellable_by: 'recipient',
      frequency: 9_999,
      periods: 5,
    })
    const given = await it.ask('DELETE', `/v2/locks/${cancellable.address}`, { mode: 'signed', payer })
    expect([given.status, given.json.error?.details.rule], given.text).toEqual([400, 'authority'])
    const scoped = { body: { ...body }, key: await service.key({ scopes: ['fees:claim'] }) }
    expect((await service.request('POST', '/v2/locks', scoped)).status).toBe(403)
  })

  it('that waits for approvals says whom it is for, until when, and who can end it', async () => {
    const service = await startPlatform(GENEROUS)
    const it = await locksOn(service)
    give(it.chain, it.issuer, it.gold, service.wallet.publicKey, 5_000n)
    await service.request('PATCH', '/v2/signer/policy', {
      body: { tokens: [{ mint: it.mint, per_transaction: '5000', per_day: '50000' }] },
    })
    await approversOf(service, 1, { operations: ['lock.create'] })
    const end = isoOf(it.now() + 1_000)
    const { status, json } = await it.ask('POST', '/v2/locks', {
      ...{ payer: addressOf(it.creator), mint: it.mint, recipient: addressOf(it.recipient), amount: '1000' },
      ...{ cliff_at: end, cancellable_by: 'creator', mode: 'signed' },
    })
    expect(status).toBe(202)
    expect(json.data.proposal.what).toContain(`, for ${addressOf(it.recipient)} until ${end}, ended by creator)`)
  })
})
