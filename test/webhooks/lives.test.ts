/** Whole lives, as a subscriber receives them: a token's and a launch's, compared as a whole. */
import { describe, expect, it } from 'vitest'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import type { Store } from '../../src/store/store.ts'
import { png } from '../storage/images.ts'
import { lacksDbc } from '../support/dbc.ts'
import { type PlatformService, startPlatform } from '../support/platform-wallet.ts'
import { startReceiver } from '../support/receiver.ts'
import { repeatWorks } from '../support/repeated-works.ts'
import { inSoak } from '../support/runs.ts'
import { addressOf, keypairOf, SOL, signWith, walletOn } from '../support/wallets.ts'

async function setting(prepare: (store: Store) => void) {
  const service = await startPlatform(
    { lamports_per_transaction: String(10n * SOL), lamports_per_day: String(100n * SOL), max_fee_lamports: '10000000' },
    { settings: { 'webhooks.allow-private': true, 'pools.crank': true } },
  )
  prepare(service.services.store)
  const { chain, wallet: user } = await walletOn(service.services, 500n * SOL)
  const receiver = await startReceiver()
  await service.request('POST', '/v2/webhook-subscriptions', { body: { url: receiver.url, enabled_events: ['*'] } })
  const settle = async () => {
    for (let i = 0; i < 2; i++) {
      chain.advance(20)
      service.clock.advance(20_000)
      await followTransactions(service.services)
      await followPools(service.services)
    }
    await deliverRound(service.services)
  }
  const ok = async (method: string, path: string, body: object) => {
    const { status, json, text } = await service.request(method, path, { body })
    expect(status, text).toBeLessThan(300)
    return json.data
  }
  const submit = async (transaction: string, tracked_resource: object, ...keys: number[][]) => {
    const body = { transaction: signWith(transaction, [user, ...keys.map(keypairOf)]), tracked_resource }
    const { signature } = await ok('POST', '/v2/transactions', body)
    await settle()
    return signature as string
  }
  return { service, user, receiver, settle, ok, submit }
}

/** What came, in the order of the sequence, each once. */
function told({ receiver }: { receiver: Awaited<ReturnType<typeof startReceiver>> }) {
  const sorted = [...receiver.all].sort((a, b) => a.sequence - b.sequence)
  expect(sorted.map(({ sequence }) => sequence)).toEqual(sorted.map((_, i) => i + 1))
  return sorted.map(({ type, about }) => [type, about])
}
const life = (signature: string) =>
  ['submitted', 'confirmed', 'finalized'].map((step) => [`transaction.${step}`, signature])

/** The second of the two has all that the first one has. */
const SETTINGS = [
  ['', () => {}],
  [', also where every commit is undone once and made again,', repeatWorks],
] as const

describe.each(inSoak ? SETTINGS : SETTINGS.slice(1))(
  'a subscriber to everything receives the events%s',
  { tags: 'sampled' },
  (_, prepare) => {
    it('of a token from its creation to fully immutable', async () => {
      const { user, receiver, ok, submit } = await setting(prepare)
      const payer = addressOf(user)
      const made = await ok('POST', '/v2/tokens', {
        ...{ payer, name: 'My Token', symbol: 'MTK', initial_supply: '1000', uri: 'https://example.com/t.json' },
        ...{ token_program: 'token2022', revoke_freeze_authority: false },
      })
      const created = await submit(made.transaction, made.tracked_resource, made.required_signers.mint_secret_key)
      const expected: [string, string][] = []
      const add = (signature: string, ...types: string[]) => {
        const [submitted, confirmed, finalized] = life(signature) as [string, string][]
        expected.push(submitted!, confirmed!, finalized!)
        for (const type of types) expected.push([type, made.mint])
      }
      add(created, 'token.created')
      for (const [type, ...events] of [
        ['freeze', 'token.freeze_authority_revoked'],
        ['mint', 'token.mint_authority_revoked'],
        ['metadata', 'token.fully_immutable'],
      ] as const) {
        const built = await ok('DELETE', `/v2/tokens/${made.mint}/authorities/${type}`, { payer })
        add(await submit(built.transaction, built.tracked_resource), ...events)
      }
      expect(told({ receiver })).toEqual(expected)
    })

    it.skipIf(lacksDbc)('of a launch from its creation to its migration and claim', async () => {
      const { service, user, receiver, settle, ok, submit } = await setting(prepare)
      const made = await ok('POST', '/v2/pools', {
        ...{ creator: addressOf(user), name: 'My Token', symbol: 'MTK', image: Buffer.from(png()).toString('base64') },
      })
      const pool = made.pool.address
      const { base_mint_secret_key, config_secret_key } = made.required_signers
      const launched = await submit(
        made.transactions[0],
        made.tracked_resource,
        base_mint_secret_key,
        config_secret_key,
      )
      const swap = { payer: addressOf(user), side: 'buy', amount: String(200n * SOL) }
      const bought = await ok('POST', `/v2/pools/${pool}/swaps`, swap)
      const filled = await submit(bought.tx.transaction, bought.tracked_resource)
      const claim = await ok('POST', `/v2/pools/${pool}/fee-claims`, { payer: addressOf(user), mode: 'signed' })
      for (let i = 0; i < 3; i++) await settle()
      const cranked = await crankOf(service)
      expect(told({ receiver }).toSorted()).toEqual(
        [
          ['pool.created', pool],
          ...[launched, filled, claim.tx.signature, ...cranked].flatMap(life),
          ['pool.live', pool],
          ['fee_claim.executed', pool],
          ['pool.migration_triggered', pool],
          ['pool.migrated', pool],
        ].toSorted(),
      )
      const claimed = receiver.all.find(({ type }) => type === 'fee_claim.executed')!
      expect(JSON.parse(claimed.body).data.object).toMatchObject({ source: 'chain', signature: claim.tx.signature })
    })
  },
)

/** Signatures of the platform's own migration transactions. */
async function crankOf({ request }: PlatformService): Promise<string[]> {
  const { data } = (await request('GET', '/v2/audit-entries?action=signing.signed')).json
  const entries = data as { details: { operation: string; signature: string } }[]
  return entries.filter(({ details }) => details.operation.startsWith('pool.')).map(({ details }) => details.signature)
}
