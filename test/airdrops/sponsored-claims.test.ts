/** Sponsored claims on the real program: a wallet without SOL claims, and the platform wallet pays fee and rent, once. */
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { claimStatusAddress, tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import type { Services } from '../../src/context.ts'
import { freeUnsignedClaims, settleSponsoredClaims } from '../../src/operations/sponsorships/settle-sponsored-claims.ts'
import { guardsOfMessage } from '../../src/solana/guards.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { addressOf, airdropsOn, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { endingOnceSigned, signingBy } from '../support/dying-signer.ts'
import { sharedPlatform } from '../support/platform-wallet.ts'
import { WALLET_RENT } from '../support/rent.ts'
import { inSoak, runs } from '../support/runs.ts'
import {
  ABSENT,
  type BuiltSponsoredClaim,
  buildsOf,
  ENOUGH,
  openSponsoredAirdrop,
  SPONSORED_COST,
  SPONSORED_FEE,
  sponsorshipOf,
} from '../support/sponsored-airdrop.ts'

const shared = sharedPlatform()

describe('a sponsorship', () => {
  it('needs its scope, a stored tree and a budget', async () => {
    const { request, key, refused } = await shared().then(airdropsOn)
    for (const [method, path, body] of [
      ['PATCH', sponsorshipOf(ABSENT), { budget: '1' }],
      ['POST', buildsOf(ABSENT), { claimer: addressOf(Keypair.generate()) }],
      ['POST', `${buildsOf(ABSENT)}/spc_1/submissions`, { transaction: 'AAAA' }],
    ] as const) {
      const { status } = await request(method, path, { body, key: await key({ scopes: ['airdrop:write'] }) })
      expect([method, path, status]).toEqual([method, path, 403])
    }
    expect(await refused('PATCH', sponsorshipOf(ABSENT), { budget: '1' })).toMatchObject({ status: 404 })
    const none = await refused('POST', buildsOf(ABSENT), { claimer: addressOf(Keypair.generate()) })
    expect([none.status, none.details.reason]).toEqual([404, 'not_sponsored'])
    expect((await request('GET', sponsorshipOf(ABSENT))).status).toBe(404)
  })

  it('is started, changed, stopped, and recorded in the audit log', async () => {
    const all = await airdropsOn(await shared())
    const mint = all.mintFor(all.wallet(), 0n)
    const { id, root } = await all.storeTree(mint, entriesFor([Keypair.generate()]))
    const path = sponsorshipOf(id)
    expect(await all.refused('PATCH', path, {})).toMatchObject({ status: 400, param: 'budget' })
    const begun = await all.ok('PATCH', path, { budget: '5' })
    const counts = { pending: 0, landed: 0, failed: 0, expired: 0 }
    expect(begun).toMatchObject({ airdrop_id: id, enabled: true, budget: '5', used: '0', left: '5', ...counts })
    await all.ok('PATCH', path, { enabled: false })
    const stopped = await all.refused('POST', buildsOf(id), { claimer: addressOf(Keypair.generate()) })
    expect([stopped.status, stopped.details.reason]).toEqual([404, 'not_sponsored'])
    expect(await all.ok('PATCH', path, { budget: '7', enabled: true })).toMatchObject({ enabled: true, budget: '7' })
    await all.ok('PATCH', path, { budget: '7' })
    const entries = await all.ok('GET', '/v2/audit-entries?action=sponsorship.changed')
    const own = entries.filter(({ details }: { details: { airdrop: string } }) => details.airdrop === id)
    expect(own.map(({ details }: { details: object }) => details)).toEqual([
      { airdrop: id, root, budget: '7', used: '0', enabled: true },
      { airdrop: id, root, budget: '5', used: '0', enabled: false },
      { airdrop: id, root, budget: '5', used: '0', enabled: true },
    ])
  })
})

describe.skipIf(lacksDistributor)('a sponsored claim (needs the Jito merkle distributor)', () => {
  it.each(['off', 'when_it_fits', 'required'])(
    'guards the platform wallet, the claimer, and the account that it gets, by the policy: %s',
    async (guards) => {
      const { first, build, submitted, platform, request, tokensOf, mint } = await openSponsoredAirdrop()
      expect((await request('PATCH', '/v2/signer/policy', { body: { guards } })).status).toBe(200)
      const built = await build(first)
      const { message } = decodeWireTransaction(Buffer.from(built.transaction, 'base64'))
      const { guards: held } = guardsOfMessage(message)
      const expected = [addressOf(platform), addressOf(first), await tokenAccountAddress(mint, addressOf(first))]
      expect(held.map(({ address }) => address)).toEqual(guards === 'off' ? [] : expected)
      const answer = await submitted(built, first)
      expect([answer.status, answer.json.error]).toEqual([200, undefined])
      expect(tokensOf(mint, first)).toBe(1_000n)
    },
  )

  it('that cannot be guarded is refused before its claimer signs, if the policy requires guards', async () => {
    const { first, refused, build, platform, request, chain, id } = await openSponsoredAirdrop()
    const held = chain.account(addressOf(platform))!
    // Enough for the claim, and too little to lend the guards their rent.
    chain.setAccount(addressOf(platform), { ...held, lamports: SPONSORED_COST + 1_000_000n })
    await build(first)
    await request('PATCH', '/v2/signer/policy', { body: { guards: 'required' } })
    const { status, param, details } = await refused('POST', buildsOf(id), { claimer: addressOf(first) })
    expect([status, param, details.reason]).toEqual([400, 'guard', 'no_lamports'])
  })

  it('serves a wallet without lamports, leaves it so, and costs exactly fee and rent', async () => {
    const { first, build, submitted, lamportsOf, platform, tokensOf, mint, settle, eventsOf, id, sponsorship } =
      await openSponsoredAirdrop({ service: await shared() })
    const before = lamportsOf(platform)
    const built = await build(first)
    expect(built).toMatchObject({
      mode: 'unsigned',
      requiredSigners: [addressOf(first)],
      fee_payer: addressOf(platform),
      lamports: String(SPONSORED_COST),
      tracked_resource: { resource_type: 'airdrop', resource_id: id, related_events: ['airdrop.claimed'] },
    })
    // A build reserves nothing, as anybody may ask for it.
    expect(await sponsorship()).toMatchObject({ used: '0', pending: 0 })
    const answer = await submitted(built, first)
    expect(answer.json.data).toEqual({
      mode: 'signed',
      signature: expect.any(String),
      id: built.id,
      claimer: addressOf(first),
      lamports: String(SPONSORED_COST),
    })
    expect([lamportsOf(first), tokensOf(mint, first)]).toEqual([0n, 1_000n])
    expect(before - lamportsOf(platform)).toBe(SPONSORED_COST)
    expect(await sponsorship()).toMatchObject({ used: String(SPONSORED_COST), pending: 1, landed: 0 })
    await settle()
    expect(await eventsOf(id)).toEqual([
      'airdrop.tree_built',
      'airdrop.initialized',
      'airdrop.claim_started',
      'airdrop.claimed',
    ])
  })

  it('leaves a wallet with exactly its earlier lamports, and pays only what is missing', async () => {
    const { claimers, claimBy, lamportsOf, chain, mint, vaultOf, platform } = await openSponsoredAirdrop({
      service: await shared(),
    })
    const [legacy, rich, dusted] = claimers as [Keypair, Keypair, Keypair]
    const lamports = (held: bigint) => ({
      lamports: held,
      owner: SYSTEM_PROGRAM,
      data: new Uint8Array(),
      executable: false,
    })
    // Below rent exemption, as wallets of before 2022 may be.
    chain.setAccount(addressOf(legacy), lamports(500_000n))
    chain.airdrop(addressOf(rich), 2_000_000_000n)
    const { distributor } = await vaultOf(mint)
    chain.airdrop(await claimStatusAddress(distributor, addressOf(dusted)), WALLET_RENT)
    chain.airdrop(await tokenAccountAddress(mint, addressOf(dusted)), 1_000_000n)
    const spentOn = async (claimer: Keypair) => {
      const before = lamportsOf(platform)
      const { lamports: told } = await claimBy(claimer)
      expect(before - lamportsOf(platform)).toBe(BigInt(told))
      return before - lamportsOf(platform)
    }
    expect([await spentOn(legacy), lamportsOf(legacy)]).toEqual([SPONSORED_COST, 500_000n])
    expect([await spentOn(rich), lamportsOf(rich)]).toEqual([SPONSORED_COST, 2_000_000_000n])
    expect(await spentOn(dusted)).toBe(SPONSORED_COST - WALLET_RENT - 1_000_000n)
    expect(lamportsOf(dusted)).toBe(0n)
  })

  it('is not signed if the accounts have changed since it was built', async () => {
    const { first, build, submitted, chain, mint, vaultOf, lamportsOf, platform, sponsorship } =
      await openSponsoredAirdrop({ service: await shared() })
    const built = await build(first)
    const { distributor } = await vaultOf(mint)
    chain.airdrop(await claimStatusAddress(distributor, addressOf(first)), WALLET_RENT)
    const before = lamportsOf(platform)
    const { status, json } = await submitted(built, first)
    expect([status, json.error.details.reason]).toEqual([400, 'would_fail'])
    expect([lamportsOf(platform), (await sponsorship()).used]).toEqual([before, '0'])
    expect((await submitted(await build(first), first)).status).toBe(200)
  })

  it.skipIf(!inSoak)(
    'takes the due part of vesting amounts, and is the only paid claim of its wallet',
    { tags: 'sampled' },
    async () => {
      const all = await openSponsoredAirdrop({ service: await shared(), locked: 7_000n })
      const { claimers, claimBy, tokensOf, mint, pass, start, chain, lamportsOf, ok, submit, id, refused } = all
      const [early, late, own] = claimers as [Keypair, Keypair, Keypair]
      await claimBy(early)
      expect(tokensOf(mint, early)).toBe(1_000n)
      pass(start + 2 * 86_400 - chain.unixTimestamp())
      await claimBy(late)
      expect([tokensOf(mint, late), lamportsOf(late)]).toEqual([2_000n + 2_000n, 0n])
      const again = await refused('POST', buildsOf(id), { claimer: addressOf(late) })
      expect([again.status, again.details.reason]).toEqual([400, 'sponsored_already'])
      // Whoever made its first claim by itself has one paid for later, which costs the fee alone.
      chain.airdrop(addressOf(own), 10_000_000n)
      const body = { claimer: addressOf(own), platform_id: 'acme', amount: '0' }
      await submit(await ok('POST', `/v2/airdrops/${id}/claims`, body), own)
      pass(86_400)
      const held = lamportsOf(own)
      expect(BigInt((await claimBy(own)).lamports)).toBe(SPONSORED_FEE)
      expect([tokensOf(mint, own), lamportsOf(own)]).toEqual([3_000n + 3_000n, held])
    },
  )

  it('is paid for once: the same request gets the same answer, and no second one is built', async () => {
    const { first, build, submitted, lamportsOf, platform, settle, services, refused, id, sponsorship } =
      await openSponsoredAirdrop({ service: await shared() })
    const [one, other] = [await build(first), await build(first)]
    const signature = (await submitted(one, first)).json.data.signature
    const after = lamportsOf(platform)
    const again = () => submitted(one, first)
    const others = async () => {
      const { status, json } = await submitted(other, first)
      return [status, json.error?.details.reason, json.error?.details.signature]
    }
    const built = async () => {
      const { status, details } = await refused('POST', buildsOf(id), { claimer: addressOf(first) })
      return [status, details.reason, details.signature]
    }
    for (const passed of [false, true]) {
      if (passed) {
        await settle()
        await settle()
        await settleSponsoredClaims(services)
      }
      expect((await again()).json.data.signature).toBe(signature)
      // Two builds of the same second are the same message.
      if (other.id !== one.id) expect(await others()).toEqual([400, 'sponsored_already', signature])
      expect(await built()).toEqual([400, 'sponsored_already', signature])
      expect(await sponsorship()).toMatchObject({
        used: String(SPONSORED_COST),
        pending: passed ? 0 : 1,
        landed: passed ? 1 : 0,
      })
    }
    expect(lamportsOf(platform)).toBe(after)
  })

  it('of a wallet that is not listed, or has claimed on its own, is not built', async () => {
    const { first, refused, id, chain, ok, submit } = await openSponsoredAirdrop({ service: await shared() })
    const stranger = await refused('POST', buildsOf(id), { claimer: addressOf(Keypair.generate()) })
    expect([stranger.status, stranger.param, stranger.details.reason]).toEqual([404, 'claimer', 'not_listed'])
    chain.airdrop(addressOf(first), 1_000_000_000n)
    const body = { claimer: addressOf(first), platform_id: 'acme', amount: '0' }
    await submit(await ok('POST', `/v2/airdrops/${id}/claims`, body), first)
    const claimed = await refused('POST', buildsOf(id), { claimer: addressOf(first) })
    expect([claimed.status, claimed.details.reason]).toEqual([400, 'already_claimed'])
  })

  it('is signed only as it was built, with the signature of its own claimer, for its own airdrop', {
    tags: 'sampled',
  }, async () => {
    const { first, claimers, build, signedBy, submission, request, lamportsOf, platform, sponsorship, id } =
      await openSponsoredAirdrop({ service: await shared() })
    const before = lamportsOf(platform)
    const built = await build(first)
    const bytes = Buffer.from(built.transaction, 'base64')
    const send = async (transaction: string, path = submission(built)) => {
      const { status, json } = await request('POST', path, { body: { transaction } })
      return [status, json.error?.details?.reason]
    }
    const refusal = [400, 'changed_transaction']
    expect(await send(built.transaction)).toEqual(refusal)
    const stolen = VersionedTransaction.deserialize(bytes)
    expect(() => stolen.sign([claimers[1]!])).toThrow()
    // Bytes all over the message, changed and signed anew by the claimer where it still is a transaction.
    let tampered = 0
    for (let at = 129; at < bytes.length; at += runs(11, 3)) {
      const changed = Buffer.from(bytes)
      changed[at] = changed[at]! ^ 1
      const transaction = (() => {
        try {
          return signedBy({ transaction: changed.toString('base64') }, first)
        } catch {
          return changed.toString('base64')
        }
      })()
      const [status, reason] = await send(transaction)
      expect([at, status]).toEqual([at, 400])
      if (reason === 'changed_transaction') tampered++
    }
    expect(tampered).toBeGreaterThan(runs(25, 100))
    const signed = signedBy(built, first)
    const elsewhere = `/v2/airdrops/${ABSENT}/sponsored-claims/${built.id}/submissions`
    expect(await send(signed, elsewhere)).toEqual(refusal)
    const [, height, mac] = /^spc_(\d+)_(.*)$/.exec(built.id)!
    const later = `${buildsOf(id)}/spc_${Number(height) + 1}_${mac}/submissions`
    expect(await send(signed, later)).toEqual(refusal)
    expect([lamportsOf(platform), (await sponsorship()).used]).toEqual([before, '0'])
    expect(await send(signed)).toEqual([200, undefined])
  })

  it('is refused if the budget is below its cost, at the build and at the signature', async () => {
    const { claimers, build, claimBy, submitted, refused, id, ok, sponsorship } = await openSponsoredAirdrop({
      service: await shared(),
      budget: String(2n * SPONSORED_COST - 1n),
    })
    const [one, two] = claimers as [Keypair, Keypair]
    const early = await build(two)
    await claimBy(one)
    const built = await refused('POST', buildsOf(id), { claimer: addressOf(two) })
    const left = {
      reason: 'budget_exhausted',
      lamports_left: String(SPONSORED_COST - 1n),
      lamports: String(SPONSORED_COST),
    }
    expect([built.status, built.details]).toEqual([400, left])
    const late = await submitted(early, two)
    expect([late.status, late.json.error.details]).toEqual([400, left])
    await ok('PATCH', sponsorshipOf(id), { budget: String(2n * SPONSORED_COST) })
    expect((await submitted(early, two)).status).toBe(200)
    expect(await sponsorship()).toMatchObject({ used: String(2n * SPONSORED_COST), left: '0' })
  })

  it('never exceeds the budget when many are signed at once, and never pays a wallet twice', {
    tags: 'sampled',
  }, async () => {
    const [wallets, paid] = [runs(10, 20), runs(4, 7)]
    const { claimers, build, submitted, lamportsOf, platform, sponsorship, tokensOf, mint, services } =
      await openSponsoredAirdrop({
        wallets,
        budget: String(BigInt(paid) * SPONSORED_COST + SPONSORED_COST / 2n),
      })
    const before = lamportsOf(platform)
    const builds = await Promise.all(claimers.map((key) => build(key)))
    // Each twice at once, as a page does whose answer was lost.
    const answers = await Promise.all(
      [...claimers, ...claimers].map(async (key, n) => (await submitted(builds[n % wallets]!, key)).json),
    )
    const signatures = new Set(answers.flatMap(({ data }) => (data === undefined ? [] : [data.signature])))
    const reasons = new Set(answers.flatMap(({ error }) => (error === undefined ? [] : [error.details?.reason])))
    expect(signatures.size).toBe(paid)
    for (const reason of reasons) expect(['budget_exhausted', 'sponsored_already']).toContain(reason)
    expect(before - lamportsOf(platform)).toBe(BigInt(paid) * SPONSORED_COST)
    expect(claimers.filter((key) => tokensOf(mint, key) !== null)).toHaveLength(paid)
    expect(await sponsorship()).toMatchObject({ used: String(BigInt(paid) * SPONSORED_COST), pending: paid })
    const spends = await services.store.db.selectFrom('signer_spends').selectAll().execute()
    expect(spends.filter(({ mint }) => mint === '').map(({ amount }) => amount)).toEqual(
      Array(paid).fill(String(SPONSORED_COST)),
    )
  })

  it('of one wallet that was built many times is signed once', { tags: 'sampled' }, async () => {
    const { first, build, submitted, lamportsOf, platform, chain } = await openSponsoredAirdrop({
      service: await shared(),
    })
    const before = lamportsOf(platform)
    const builds = []
    for (let i = 0; i < runs(3, 6); i++) {
      builds.push(await build(first))
      chain.advance(1)
    }
    expect(new Set(builds.map(({ id }) => id)).size).toBeGreaterThan(1)
    const answers = await Promise.all(builds.map((built) => submitted(built, first)))
    const signatures = new Set(answers.flatMap(({ json }) => json.data?.signature ?? []))
    expect(signatures.size).toBe(1)
    expect(before - lamportsOf(platform)).toBe(SPONSORED_COST)
  })

  it('stays within the policy of the platform wallet, and a refusal uses nothing of the budget', async () => {
    const day = String(2n * SPONSORED_COST - 1n)
    const { claimers, build, claimBy, submitted, request, ok, sponsorship, vaultOf, mint } = await openSponsoredAirdrop(
      {
        limits: { lamports_per_transaction: String(SPONSORED_COST), lamports_per_day: day },
      },
    )
    const [one, two] = claimers as [Keypair, Keypair]
    await claimBy(one)
    const over = await submitted(await build(two), two)
    expect(over.json.error.details).toMatchObject({ rule: 'lamports_per_day', reason: 'sponsor_unavailable' })
    await request('PATCH', '/v2/signer/policy', { body: { lamports_per_day: ENOUGH, destinations: [] } })
    const unlisted = await submitted(await build(two), two)
    expect(unlisted.json.error.details).toMatchObject({ rule: 'destination', reason: 'sponsor_unavailable' })
    expect(await sponsorship()).toMatchObject({ used: String(SPONSORED_COST), pending: 1 })
    await ok('POST', '/v2/signer/pauses', { reason: 'lunch' })
    const paused = await request('POST', buildsOf((await sponsorship()).airdrop_id), {
      body: { claimer: addressOf(two) },
    })
    expect(paused.json.error.details).toEqual({ reason: 'sponsor_unavailable' })
    await ok('POST', '/v2/signer/resumptions', {})
    const { distributor } = await vaultOf(mint)
    await request('PATCH', '/v2/signer/policy', { body: { destinations: [distributor] } })
    await claimBy(two)
    expect(await sponsorship()).toMatchObject({ used: String(2n * SPONSORED_COST), pending: 2 })
  })

  it('needs SOL in the platform wallet, and says so', async () => {
    const { first, chain, platform, refused, id } = await openSponsoredAirdrop()
    const held = chain.account(addressOf(platform))!
    chain.setAccount(addressOf(platform), { ...held, lamports: 2_000_000n })
    const poor = await refused('POST', buildsOf(id), { claimer: addressOf(first) })
    expect([poor.status, poor.details.reason]).toEqual([400, 'sponsor_unavailable'])
    expect(poor.message).toMatch(/too little SOL/)
  })

  it('is not signed if it is too late to land', async () => {
    const { first, build, submitted, chain, sponsorship } = await openSponsoredAirdrop({ service: await shared() })
    const built = await build(first)
    for (let i = 0; i < 130; i++) chain.advance(1)
    const { status, json } = await submitted(built, first)
    expect([status, json.error.details.reason, (await sponsorship()).used]).toEqual([400, 'expired', '0'])
    expect((await submitted(await build(first), first)).status).toBe(200)
  })

  it('is part of the audit verification, so that a changed count of a budget is found', async () => {
    const { first, claimBy, services, ok } = await openSponsoredAirdrop()
    await claimBy(first)
    const { store } = services
    expect(await ok('GET', '/v2/audit-verification')).toMatchObject({ intact: true })
    await store.write((tx) => tx.updateTable('sponsorships').set({ used: '0' }).execute())
    const { intact, broken } = await ok('GET', '/v2/audit-verification')
    expect([intact, broken.why]).toEqual([false, expect.stringContaining('differs from the cost of its claims')])
  })
})

describe.skipIf(lacksDistributor)('what a sponsored claim costs (needs the Jito merkle distributor)', () => {
  /** Sends to another app, which runs on these services. */
  async function sendTo(
    services: Services,
    all: Awaited<ReturnType<typeof openSponsoredAirdrop>>,
    built: BuiltSponsoredClaim,
    claimer: Keypair,
  ) {
    const app = await createApp(services)
    const answer = await app.fetch(
      new Request(`http://localhost${all.submission(built)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${all.operator}`, 'content-type': 'application/json' },
        body: JSON.stringify({ transaction: all.signedBy(built, claimer) }),
      }),
    )
    await app.close()
    return { status: answer.status, json: (await answer.json()) as { error?: object } }
  }

  it.skipIf(!inSoak)(
    'is its fee if it fails on chain; after three failures the wallet pays on its own',
    { tags: 'sampled' },
    async () => {
      const all = await openSponsoredAirdrop({ service: await shared() })
      const { first, services, settle, sponsorship, lamportsOf, platform, chain, id, refused, build } = all
      const before = lamportsOf(platform)
      for (let n = 1; n <= 3; n++) {
        const vault = (await all.vaultOf(all.mint)).vault
        const held = chain.account(vault)!
        // The vault is emptied after the last look and before it lands.
        const emptying = await signingBy(services, async (signer, message) => {
          const data = Uint8Array.from(held.data)
          data.fill(0, 64, 72)
          chain.setAccount(vault, { ...held, data })
          return signer.sign(message)
        })
        const { status, json } = await sendTo(emptying, all, await build(first), first)
        expect([status, json.error]).toEqual([200, undefined])
        chain.setAccount(vault, held)
        expect(await sponsorship()).toMatchObject({
          used: String(SPONSORED_COST + SPONSORED_FEE * BigInt(n - 1)),
          pending: 1,
        })
        for (let i = 0; i < 3; i++) await settle()
        await settleSponsoredClaims(services)
        expect(await sponsorship()).toMatchObject({ used: String(SPONSORED_FEE * BigInt(n)), pending: 0, failed: n })
      }
      expect(before - lamportsOf(platform)).toBe(3n * SPONSORED_FEE)
      expect(await all.ok('GET', '/v2/audit-verification')).toMatchObject({ intact: true })
      const { status, details } = await refused('POST', buildsOf(id), { claimer: addressOf(first) })
      expect([status, details.reason]).toEqual([400, 'attempts_exhausted'])
    },
  )

  it('is nothing if the provider certainly did not sign', async () => {
    const all = await openSponsoredAirdrop({ service: await shared() })
    const { first, services, build, sponsorship, submitted } = all
    const { SignerUnavailable } = await import('../../src/chain/signer/index.ts')
    const refusing = await signingBy(services, async () => {
      throw new SignerUnavailable('the provider is closed', 'no')
    })
    const built = await build(first)
    expect((await sendTo(refusing, all, built, first)).status).toBe(500)
    expect(await sponsorship()).toMatchObject({ used: '0', pending: 0, expired: 0 })
    expect((await submitted(built, first)).status).toBe(200)
  })

  it('is counted if a process died over it; the same request ends it with the same signature', async () => {
    const all = await openSponsoredAirdrop({ service: await shared() })
    const { first, services, build, submitted, sponsorship, lamportsOf, platform } = all
    const before = lamportsOf(platform)
    const { dying, living, made, isKilled } = await endingOnceSigned(services)
    const built = await build(first)
    await sendTo(dying, all, built, first)
    expect([isKilled(), lamportsOf(platform)]).toEqual([true, before])
    expect(await sponsorship()).toMatchObject({ used: String(SPONSORED_COST), pending: 1 })
    // Another build of the same wallet waits for this one.
    all.chain.advance(1)
    const other = await all.request('POST', buildsOf(all.id), { body: { claimer: addressOf(first) } })
    expect([other.status, other.json.error.details]).toEqual([400, { reason: 'sponsored_already' }])
    expect((await sendTo(living, all, built, first)).status).toBe(200)
    expect([made.length, new Set(made).size]).toEqual([2, 1])
    expect((await submitted(built, first)).status).toBe(200)
    expect(before - lamportsOf(platform)).toBe(SPONSORED_COST)
    expect(await sponsorship()).toMatchObject({ used: String(SPONSORED_COST), pending: 1 })
  })

  it('is returned if a process died over it and nobody repeats it, once it can no longer land', async () => {
    const all = await openSponsoredAirdrop({ service: await shared() })
    const { first, services, build, submitted, sponsorship, chain, pass } = all
    const { dying } = await endingOnceSigned(services)
    const built = await build(first)
    await sendTo(dying, all, built, first)
    await freeUnsignedClaims(services)
    expect(await sponsorship()).toMatchObject({ used: String(SPONSORED_COST), pending: 1 })
    pass(600)
    for (let i = 0; i < 400; i++) chain.advance(1)
    await freeUnsignedClaims(services)
    expect(await sponsorship()).toMatchObject({ used: '0', pending: 0, expired: 1 })
    const late = await submitted(built, first)
    expect([late.status, late.json.error.details.reason]).toEqual([400, 'expired'])
    expect((await submitted(await build(first), first)).status).toBe(200)
  })
})
