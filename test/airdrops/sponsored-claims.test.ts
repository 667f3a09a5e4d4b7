/** Sponsored claims on the real program: a wallet without SOL claims, and the platform wallet pays fee and rent, once. */
import { AddressLookupTableProgram, Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { claimStatusAddress, tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { settleSponsoredClaims } from '../../src/operations/sponsorships/settle-sponsored-claims.ts'
import { addressOf, airdropsOn, createBody, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { GENEROUS, type Limits, startPlatform } from '../support/platform-wallet.ts'

const STATUS_RENT = 1_336_320n
const TOKEN_RENT = 2_039_280n
/** Two signatures, and no priority fee. */
const FEE = 10_000n
const COST = FEE + STATUS_RENT + TOKEN_RENT
const ENOUGH = String(COST * 1_000n)
const ABSENT = Buffer.concat([Buffer.alloc(32, 5), Buffer.alloc(2)]).toString('base64url')

const sponsorshipOf = (id: string) => `/v2/airdrops/${id}/sponsorship`
const buildsOf = (id: string) => `/v2/airdrops/${id}/sponsored-claims`

interface Built {
  id: string
  transaction: string
  lamports: string
  fee_payer: string
  requiredSigners: string[]
}

/** An airdrop on chain whose listed wallets have no SOL, with a sponsorship of `budget` lamports. */
async function opened({ wallets = 3, budget = ENOUGH, limits = GENEROUS as Limits } = {}) {
  const service = await startPlatform(limits)
  const all = await airdropsOn(service)
  const claimers = Array.from({ length: wallets }, () => Keypair.generate())
  const maker = all.wallet()
  const mint = all.mintFor(maker, 10_000_000n)
  const tree = await all.storeTree(mint, entriesFor(claimers))
  await all.submit(await all.ok('POST', '/v2/airdrops', createBody(maker, mint, tree.root)), maker)
  const id = tree.id as string
  if (budget !== '') await all.ok('PATCH', sponsorshipOf(id), { budget })
  const lamportsOf = (key: Keypair | string) =>
    all.chain.account(typeof key === 'string' ? key : addressOf(key))?.lamports ?? 0n
  const build = (claimer: Keypair): Promise<Built> => all.ok('POST', buildsOf(id), { claimer: addressOf(claimer) })
  const signedBy = ({ transaction }: Pick<Built, 'transaction'>, claimer: Keypair) => {
    const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    decoded.sign([claimer])
    return Buffer.from(decoded.serialize()).toString('base64')
  }
  const submission = (built: Built) => `${buildsOf(id)}/${built.id}/submissions`
  const submitted = (built: Built, claimer: Keypair) =>
    all.request('POST', submission(built), { body: { transaction: signedBy(built, claimer) } })
  return {
    ...all,
    claimers,
    first: claimers[0]!,
    id,
    mint,
    platform: service.wallet,
    lamportsOf,
    build,
    signedBy,
    submission,
    submitted,
    async claimBy(claimer: Keypair) {
      const answer = await submitted(await build(claimer), claimer)
      expect([answer.status, answer.json.error]).toEqual([200, undefined])
      return answer.json.data as { signature: string; lamports: string }
    },
    sponsorship: () => all.ok('GET', sponsorshipOf(id)),
  }
}

describe('a sponsorship', () => {
  it('needs its scope, a stored tree and a budget', async () => {
    const { request, key, refused } = await startPlatform().then(airdropsOn)
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

  it('is begun, changed, stopped, and written into the audit log', async () => {
    const all = await airdropsOn(await startPlatform())
    const mint = all.mintFor(all.wallet(), 0n)
    const { id } = await all.storeTree(mint, entriesFor([Keypair.generate()]))
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
    expect(entries.map(({ details }: { details: object }) => details)).toEqual([
      { airdrop: id, budget: '7', used: '0', enabled: true },
      { airdrop: id, budget: '5', used: '0', enabled: false },
      { airdrop: id, budget: '5', used: '0', enabled: true },
    ])
  })
})

describe.skipIf(lacksDistributor)('a sponsored claim (needs the Jito merkle distributor)', () => {
  it('pays a wallet without a lamport, which ends as it was, and costs fee and rent to the lamport', async () => {
    const { first, build, submitted, lamportsOf, platform, tokensOf, mint, settle, eventsOf, id, sponsorship } =
      await opened()
    const before = lamportsOf(platform)
    const built = await build(first)
    expect(built).toMatchObject({
      mode: 'unsigned',
      requiredSigners: [addressOf(first)],
      fee_payer: addressOf(platform),
      lamports: String(COST),
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
      lamports: String(COST),
    })
    expect([lamportsOf(first), tokensOf(mint, first)]).toEqual([0n, 1_000n])
    expect(before - lamportsOf(platform)).toBe(COST)
    expect(await sponsorship()).toMatchObject({ used: String(COST), pending: 1, landed: 0 })
    await settle()
    expect(await eventsOf(id)).toEqual([
      'airdrop.tree_built',
      'airdrop.initialized',
      'airdrop.claim_started',
      'airdrop.claimed',
    ])
  })
})
