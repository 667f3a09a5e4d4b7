/** What a caller writes over the types that openapi-typescript makes of the OpenAPI document; compiled and run by a test. */
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

type Schemas = components['schemas']

const { SVC_API = '', SVC_API_KEY = '', PAYER = '', PROGRAM = '', ABSENT = '' } = process.env
const client = createClient<paths>({ baseUrl: SVC_API, headers: { Authorization: `Bearer ${SVC_API_KEY}` } })

/** An account that is not there is null, to the compiler too. */
const nobody: Schemas['AccountBatch']['accounts'][number] = null

async function batch() {
  const { data, error } = await client.POST('/v2/accounts/batch-fetch', {
    body: { addresses: [PROGRAM, ABSENT, PROGRAM] },
  })
  if (error) throw new Error(error.error.message)
  const { accounts } = data.data
  return { absentAt: accounts.indexOf(nobody), owners: accounts.map((account) => account?.owner ?? null) }
}

async function tree(airdrop_count: number): Promise<Schemas['MerkleTree']> {
  const entries = [
    { wallet: PAYER, amount: '7' },
    { wallet: ABSENT, amount: 1.5 },
  ]
  const { data, error } = await client.POST('/v2/merkle-trees', {
    body: { mint: PAYER, airdrop_count, decimals: 1, entries, metadata: { campaign: 'launch' } },
  })
  if (error) throw new Error(error.error.message)
  return data.data
}

async function walk(): Promise<number[]> {
  const counts: number[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? { limit: 2 } : { limit: 2, cursor }
    const { data, error } = await client.GET('/v2/merkle-trees', { params: { query } })
    if (error) throw new Error(error.error.message)
    counts.push(...data.data.map(({ airdrop_count }) => airdrop_count))
    cursor = data.meta.next_cursor
  }
  return counts
}

async function proof(id: string): Promise<Schemas['MerkleProof']> {
  const { data, error } = await client.GET('/v2/merkle-trees/{id}/proofs/{wallet}', {
    params: { path: { id, wallet: ABSENT } },
  })
  if (error) throw new Error(error.error.message)
  return data.data
}

async function token() {
  const uri = 'https://example.com/token.json'
  const token_program = 'token2022' as const
  const body = { payer: PAYER, name: 'Typed', symbol: 'TYP', initial_supply: '1000', uri, token_program }
  const params = { header: { 'idempotency-key': 'one token' } }
  const first = await client.POST('/v2/tokens', { body, params })
  const again = await client.POST('/v2/tokens', { body, params })
  if (first.error) throw new Error(first.error.error.message)
  if (again.error) throw new Error(again.error.error.message)
  const { mode, transaction, required_signers, mint } = first.data.data
  return {
    mode,
    mint,
    transactionBytes: Buffer.from(transaction, 'base64').length,
    keyBytes: required_signers.mint_secret_key.length,
    replayed: again.response.headers.get('Idempotent-Replayed'),
    isSame: again.data.data.mint === mint,
  }
}

async function subscription() {
  const made = await client.POST('/v2/webhook-subscriptions', {
    body: { url: 'https://8.8.8.8/hook', enabled_events: ['pool.live'] },
  })
  if (made.error) throw new Error(made.error.error.message)
  const { id } = made.data.data
  const path = { params: { path: { id } } }
  const off = await client.PATCH('/v2/webhook-subscriptions/{id}', { ...path, body: { active: false } })
  const gone = await client.DELETE('/v2/webhook-subscriptions/{id}', { ...path, body: {} })
  return { active: off.data?.data.active, deleted: gone.data?.data.deleted }
}

/** Every failure is one shape, whatever its status. */
async function failures(): Promise<[number, Schemas['Error']['error']['code'] | undefined, string | undefined][]> {
  const missing = await client.GET('/v2/pools/{address}', { params: { path: { address: ABSENT } } })
  const wrong = await client.POST('/v2/accounts/batch-fetch', { body: { addresses: [] } })
  const stranger = createClient<paths>({ baseUrl: SVC_API })
  const unknown = await stranger.GET('/v2/pools', { headers: { Authorization: null } })
  return [missing, wrong, unknown].map(({ response, error }) => [
    response.status,
    error?.error.code,
    error?.error.param,
  ])
}

const trees = [await tree(0), await tree(1), await tree(2)]
process.stdout.write(
  JSON.stringify({
    batch: await batch(),
    trees: trees.map(({ id, leaf_count, total }) => ({ id, leaf_count, total })),
    walk: await walk(),
    proof: await proof(trees[0]!.id),
    token: await token(),
    subscription: await subscription(),
    failures: await failures(),
  }),
)
