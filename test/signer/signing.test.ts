/** Signed requests over HTTP: judged, counted, remembered, signed once, told in the audit log. */
import { createHash } from 'node:crypto'
import { Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readLatestBlockhash } from '../../src/chain/reads/rpc-reads.ts'
import { requireSigner } from '../../src/operations/signing/require-signer.ts'
import { reserveSigning } from '../../src/operations/signing/reserve-signing.ts'
import type { SigningContext } from '../../src/operations/signing/types.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import { startPostgres } from '../store/postgres-server.ts'
import {
  FEE,
  GENEROUS,
  type PlatformService,
  sharedPlatform,
  startPlatform,
  submitMemo,
} from '../support/platform-wallet.ts'
import type { Answer } from '../support/request.ts'
import { startService, testClock } from '../support/service.ts'
import { startVault, type VaultServer } from '../support/vault-server.ts'

const postgres = await startPostgres()
const DAY_MS = 86_400_000
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** What the log says after its first entry, the key of the local operator. */
async function actions({ request }: Pick<PlatformService, 'request'>): Promise<string[]> {
  const { data } = (await request('GET', '/v2/audit-entries?order=asc&limit=100')).json
  const [first, ...rest] = data.map(({ action }: { action: string }) => action)
  expect(first).toBe('api_key.created')
  return rest
}
const spent = async ({ request }: Pick<PlatformService, 'request'>) =>
  (await request('GET', '/v2/signer')).json.data.spent.lamports
const ruleOf = ({ status, json }: Answer) => [status, json.error?.details?.rule]

describe('a signer', () => {
  it('that is not configured is reported, and refuses to sign with a solution', async () => {
    const { request } = await startService()
    expect((await request('GET', '/v2/signer')).json.data).toEqual({
      provider: 'none',
      address: null,
      cluster: 'any',
      policy: null,
      spent: null,
    })
    const refused = await request('POST', '/v2/signer/tests')
    expect(refused.status).toBe(500)
    expect(refused.json.error.message).toContain('set `signer` to keypair')
  })

  it('shows its address, its policy and what it spent, and needs the scope *', async () => {
    const service = await startPlatform()
    const { data } = (await service.request('GET', '/v2/signer')).json
    expect(data).toMatchObject({ provider: 'keypair', address: service.wallet.publicKey.toBase58(), cluster: 'any' })
    expect(data.policy).toMatchObject({ paused: false, ...GENEROUS, destinations: null, tokens: [] })
    expect(data.policy.programs).toContain('11111111111111111111111111111111')
    expect(data.spent).toMatchObject({ lamports: '0', tokens: [] })
    const key = await service.key({ scopes: ['fees:claim', 'airdrop:admin', 'airdrop:write'] })
    for (const [method, path] of [
      ['GET', '/v2/signer'],
      ['PATCH', '/v2/signer/policy'],
      ['POST', '/v2/signer/pauses'],
      ['POST', '/v2/signer/resumptions'],
      ['POST', '/v2/signer/resets'],
      ['POST', '/v2/signer/tests'],
      ['GET', '/v2/audit-entries'],
      ['GET', '/v2/audit-verification'],
    ] as const) {
      expect((await service.request(method, path, { key })).status, path).toBe(403)
    }
  })

  it('is marked for a cluster by genesis hash: it signs nothing on another one', async () => {
    const service = await startPlatform(GENEROUS, { settings: { 'signer.cluster': 'mainnet-beta' } })
    const refused = await submitMemo(service)
    expect(refused.status).toBe(500)
    expect(refused.json.error.message).toMatch(/restricted to mainnet-beta .* nothing was signed/)
    expect(await actions(service)).toEqual(['policy.changed'])
    const fitting = await startPlatform(GENEROUS, { settings: { 'signer.cluster': 'embedded' } })
    expect((await submitMemo(fitting)).status).toBe(200)
  })
})

describe('the policy of the signer', () => {
  it('lets nothing leave before it is set, and says how much would leave', async () => {
    const service = await startPlatform(null)
    const refused = await submitMemo(service)
    expect(ruleOf(refused)).toEqual([400, 'lamports_per_transaction'])
    expect(refused.json.error.message).toMatch(/5000|0\.000005/)
    expect(refused.json.error.message).toContain('svc signer policy')
    expect(await actions(service)).toEqual(['signing.refused'])
    expect(await spent(service)).toBe('0')
    // A text that is no transaction can move nothing.
    expect((await service.request('POST', '/v2/signer/tests')).json.data).toMatchObject({ signature: null })
  })

  it('is changed field by field, and the log has old and new values', async () => {
    const service = await startPlatform()
    const mint = Keypair.generate().publicKey.toBase58()
    const tokens = [{ mint, per_transaction: '5', per_day: '18446744073709551615' }]
    const changed = await service.request('PATCH', '/v2/signer/policy', { body: { tokens, destinations: [mint] } })
    expect(changed.json.data.policy).toMatchObject({ ...GENEROUS, tokens, destinations: [mint] })
    const [entry] = (await service.request('GET', '/v2/audit-entries?limit=1')).json.data
    expect(entry).toMatchObject({
      action: 'policy.changed',
      details: { before: { tokens: [], destinations: null }, after: { tokens, destinations: [mint] } },
    })
  })

  const unchanged = sharedPlatform(null)
  it.each([
    [{}, undefined, 'Nothing to change'],
    [{ lamports_per_day: '-1' }, 'lamports_per_day', 'digits'],
    [{ lamports_per_day: 5 }, 'lamports_per_day', 'string'],
    [{ lamports_per_day: '18446744073709551616' }, 'lamports_per_day', '64 bits'],
    [{ programs: ['x'] }, 'programs.0', 'base58'],
    [{ tokens: [{ mint: 'x', per_transaction: '1', per_day: '1' }] }, 'tokens.0.mint', 'base58'],
    [
      {
        destinations: [Keypair.fromSeed(new Uint8Array(32)), Keypair.fromSeed(new Uint8Array(32))].map((k) =>
          k.publicKey.toBase58(),
        ),
      },
      'destinations.1',
      'twice',
    ],
    [{ lamport_per_day: '5' }, 'lamport_per_day', 'is not a field of this request'],
  ])('refuses %j and names the field', async (body, param, message) => {
    const { request } = await unchanged()
    const { status, json } = await request('PATCH', '/v2/signer/policy', { body })
    expect([status, json.error.param]).toEqual([400, param])
    expect(json.error.message).toContain(message)
  })

  it('stops everything while it is paused, with the reason, and continues after', async () => {
    const service = await startPlatform()
    await service.request('POST', '/v2/signer/pauses', { body: { reason: 'audit of the keys' } })
    const refused = await submitMemo(service)
    expect(ruleOf(refused)).toEqual([400, 'paused'])
    expect(refused.json.error.message).toContain('audit of the keys')
    expect((await service.request('POST', '/v2/signer/resumptions')).json.data.policy.paused).toBe(false)
    expect((await submitMemo(service)).status).toBe(200)
    expect(await actions(service)).toEqual([
      'policy.changed',
      'signer.paused',
      'signing.refused',
      'signer.resumed',
      'signing.intended',
      'signing.signed',
    ])
  })
})

describe('a signed request', () => {
  it('is stored, sent, followed, counted and logged', async () => {
    const service = await startPlatform()
    const { status, json } = await submitMemo(service, 'first')
    expect(status).toBe(200)
    const { signature } = json.data
    const chain = await service.services.chain.local()
    expect(chain.transaction(signature)?.err ?? null).toBeNull()
    await expect
      .poll(async () => {
        service.clock.advance(1000)
        return (await service.request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle
      })
      .toMatch(/confirmed|finalized/)
    const events = (await service.request('GET', '/v2/events?order=asc')).json.data
    expect(events[0]).toMatchObject({ type: 'transaction.submitted', data: { object: { signature } } })
    expect(await spent(service)).toBe(String(FEE))
    const entries = (await service.request('GET', '/v2/audit-entries?order=asc')).json.data
    expect(entries.slice(2)).toMatchObject([
      { action: 'signing.intended', details: { operation: 'signer.test', lamports: String(FEE), tokens: [] } },
      { action: 'signing.signed', details: { operation: 'signer.test', signature } },
    ])
    expect(entries[2].details.signing).toBe(entries[3].details.signing)
  })

  it('is replayed with its Idempotency-Key, and signed once', async () => {
    const service = await startPlatform()
    const first = await submitMemo(service, 'once', 'key-1')
    const second = await submitMemo(service, 'once', 'key-1')
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.text).toBe(first.text)
    expect(await spent(service)).toBe(String(FEE))
    expect((await actions(service)).filter((action: string) => action === 'signing.signed')).toHaveLength(1)
  })

  it('is counted for 24 hours to the millisecond, or until the count is reset', async () => {
    const service = await startPlatform({ ...GENEROUS, lamports_per_day: String(2n * FEE) })
    expect((await submitMemo(service, 'memo 1')).status).toBe(200)
    service.clock.advance(1000)
    expect((await submitMemo(service, 'memo 2')).status).toBe(200)
    const refused = await submitMemo(service, 'memo 3')
    expect(ruleOf(refused)).toEqual([400, 'lamports_per_day'])
    expect(refused.json.error.message).toContain('svc signer reset')
    service.clock.advance(DAY_MS - 1001)
    expect(ruleOf(await submitMemo(service, 'memo 4'))).toEqual([400, 'lamports_per_day'])
    service.clock.advance(1)
    expect((await submitMemo(service, 'memo 5')).status).toBe(200)
    expect(ruleOf(await submitMemo(service, 'memo 6'))).toEqual([400, 'lamports_per_day'])
    expect((await service.request('POST', '/v2/signer/resets')).json.data.spent.lamports).toBe('0')
    expect((await submitMemo(service, 'memo 7')).status).toBe(200)
    // What comes after the reset counts, also where the clock is set back, or another daemon's is behind.
    expect(await spent(service)).toBe(String(FEE))
    service.clock.advance(-300_000)
    expect((await submitMemo(service, 'after the clock went back')).status).toBe(200)
    expect(ruleOf(await submitMemo(service, 'one too many'))).toEqual([400, 'lamports_per_day'])
    const [reset] = (await service.request('GET', '/v2/audit-entries?action=spend.reset')).json.data
    expect(reset.details.lamports).toBe(String(2n * FEE))
  })
})

describe('the same message', () => {
  it('is signed for one request only, because one landing cannot pay twice', async () => {
    const service = await startPlatform()
    const answers = await Promise.all(numbers(6).map((n) => submitMemo(service, 'same', `key-${n}`)))
    const signed = answers.filter(({ status }) => status === 200)
    const signatures = new Set(signed.map(({ json }) => json.data.signature))
    expect(signatures.size).toBe(signed.length)
    const rest = answers.filter(({ status }) => status !== 200)
    expect(rest.map(({ status }) => status).filter((status) => status !== 409 && status !== 400)).toEqual([])
    expect(await spent(service)).toBe(String(BigInt(signed.length) * FEE))
    expect(signed.length).toBeGreaterThan(0)
  })
})

const CAPPED = { ...GENEROUS, lamports_per_day: String(20n * FEE) }

/** 50 at once, every other one at each service. */
async function expectExactly20(services: readonly PlatformService[]) {
  const answers = await Promise.all(numbers(50).map((n) => submitMemo(services[n % services.length]!, `memo ${n}`)))
  const signed = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(signed).toHaveLength(20)
  expect(refused.map(ruleOf)).toEqual(refused.map(() => [400, 'lamports_per_day']))
  expect(new Set(signed.map(({ json }) => json.data.signature)).size).toBe(20)
  expect(await spent(services[0]!)).toBe(String(20n * FEE))
  for (const {
    services: { chain },
    wallet,
  } of services) {
    const local = await chain.local()
    const landed = signed.filter(({ json }) => local.transaction(json.data.signature) !== null)
    const balance = local.account(wallet.publicKey.toBase58())!.lamports
    expect(balance).toBe(100_000_000_000n - BigInt(landed.length) * FEE)
  }
}

describe('a daily cap under 50 requests at once', () => {
  it('holds exactly on SQLite', async () => {
    await expectExactly20([await startPlatform(CAPPED)])
  })

  const server = postgres
  if ('missing' in server) it.skip(`PostgreSQL cannot be run here (${server.missing})`, () => {})
  else {
    it('holds exactly over two daemons on one PostgreSQL database', async () => {
      const settings = {
        'database-url': await server.createMigratedDatabase(),
        'encryption-key': 'ab'.repeat(32),
        'postgres.pool-timeout-ms': 60_000,
        'postgres.lock-timeout-ms': 60_000,
      }
      const wallet = Keypair.generate()
      const clock = testClock()
      const one = await startPlatform(CAPPED, { settings, wallet, clock })
      const other = await startPlatform(null, { settings, wallet, clock })
      await expectExactly20([one, other])
    })
  }
})

it('A transaction that lacks the signature of another signer is not reserved, so nothing asks the provider', async () => {
  const { services, wallet } = await startPlatform()
  const stranger = Keypair.generate().publicKey
  const memo = new TransactionInstruction({
    programId: new PublicKey(MEMO_PROGRAM),
    keys: [{ pubkey: stranger, isSigner: true, isWritable: false }],
    data: Buffer.from('with two signers'),
  })
  const recentBlockhash = (await readLatestBlockhash(services.chain)).blockhash
  const parts = { payerKey: wallet.publicKey, recentBlockhash, instructions: [memo] }
  const transaction = new VersionedTransaction(new TransactionMessage(parts).compileToV0Message()).serialize()
  const draft = { transaction, cosigners: [stranger.toBase58()] }
  const reservation = { id: 'sgn_1', operation: 'signer.test', first: null }
  const signer = await requireSigner(services)
  const reserved = reserveSigning(services as unknown as SigningContext, signer, draft, reservation)
  await expect(reserved).rejects.toThrow(`lacks the signatures of ${stranger.toBase58()}`)
  expect(await services.store.db.selectFrom('signings').selectAll().execute()).toEqual([])
})

describe('a provider that fails', () => {
  async function withVault() {
    const vault = await startVault()
    onTestFinished(() => vault.close())
    const wallet = Keypair.fromSecretKey(Uint8Array.from(vault.key.secretKey))
    return { vault, service: await startPlatform(GENEROUS, { wallet, settings: vault.settings }) }
  }
  /** How often each message with that text was signed. */
  const signaturesOf = ({ requests, signatures }: VaultServer, memo: string) => {
    const messages = requests.flatMap(({ body }) => {
      const input = body === '' ? '' : Buffer.from(JSON.parse(body).input, 'base64')
      return input.includes(memo) ? [createHash('sha256').update(input).digest('hex')] : []
    })
    return [...new Set(messages)].map((hash) => signatures.get(hash) ?? 0)
  }

  it('before it signed uses nothing: the same key starts again', async () => {
    const { service, vault } = await withVault()
    vault.misbehave('forbidden')
    const failed = await submitMemo(service, 'again', 'key-1')
    expect(failed.status).toBe(500)
    expect(failed.text).not.toContain(vault.token)
    expect(await spent(service)).toBe('0')
    vault.misbehave(undefined)
    service.clock.advance(1000)
    expect((await submitMemo(service, 'again', 'key-1')).status).toBe(200)
    expect(await spent(service)).toBe(String(FEE))
    expect(await actions(service)).toEqual([
      'policy.changed',
      'signing.intended',
      'signing.failed',
      'signing.intended',
      'signing.signed',
    ])
  })

  it.each(['fails after signing', 'wrong signature', 'torn answer', 'breaks off'] as const)(
    'that %s keeps the reserved amount of the day, and the retry asks for the same bytes',
    async (how) => {
      const { service, vault } = await withVault()
      vault.misbehave(how, 1)
      expect((await submitMemo(service, 'twice?', 'key-1')).status).toBe(500)
      expect(await spent(service)).toBe(String(FEE))
      const done = await submitMemo(service, 'twice?', 'key-1')
      expect([done.status, await spent(service)]).toEqual([200, String(FEE)])
      expect(signaturesOf(vault, 'twice?')).toEqual([2])
      // Another body under the same key is refused as ever.
      expect((await submitMemo(service, 'other', 'key-1')).status).toBe(409)
    },
  )

  it('for certain in a retry proves nothing about the first run: the next retry still asks for the same bytes', async () => {
    const { service, vault } = await withVault()
    vault.misbehave('fails after signing', 1)
    expect((await submitMemo(service, 'held', 'key-1')).status).toBe(500)
    vault.misbehave('forbidden', 1)
    expect((await submitMemo(service, 'held', 'key-1')).status).toBe(500)
    expect(await spent(service)).toBe(String(FEE))
    expect((await submitMemo(service, 'held', 'key-1')).status).toBe(200)
    expect(signaturesOf(vault, 'held')).toEqual([2])
  })

  it('not at all, but is slow: a signature after a pause is not sent, and completes once resumed', async () => {
    const { service, vault } = await withVault()
    const signer = (await service.services.signer())!
    const sign = signer.sign.bind(signer)
    vi.spyOn(signer, 'sign').mockImplementationOnce(async (bytes) => {
      expect((await service.request('POST', '/v2/signer/pauses')).status).toBe(200)
      return sign(bytes)
    })
    expect(ruleOf(await submitMemo(service, 'slow', 'key-1'))).toEqual([400, 'paused'])
    expect(signaturesOf(vault, 'slow')).toEqual([1])
    expect((await service.request('GET', '/v2/events')).json.data).toEqual([])
    expect(await spent(service)).toBe(String(FEE))
    await service.request('POST', '/v2/signer/resumptions')
    expect((await submitMemo(service, 'slow', 'key-1')).status).toBe(200)
    expect(signaturesOf(vault, 'slow')).toEqual([2])
  })

  it('for certain, after its claim was taken over in the same process, leaves the other claim intact', async () => {
    const { service, vault } = await withVault()
    vault.misbehave('unavailable', 1)
    const first = submitMemo(service, 'taken over', 'key-1')
    await expect.poll(() => vault.requests.length).toBeGreaterThan(0)
    vault.misbehave('forbidden', 1)
    await service.services.store.write((tx) => tx.updateTable('idempotency_keys').set({ lease_until: 0 }).execute())
    const second = submitMemo(service, 'taken over', 'key-1')
    const answers = await Promise.all([first, second])
    const last = await submitMemo(service, 'taken over', 'key-1')
    expect([last.status, await spent(service)]).toEqual([200, String(FEE)])
    expect(answers.map(({ status }) => status).filter((status) => ![200, 409, 500].includes(status))).toEqual([])
    expect(signaturesOf(vault, 'taken over')).toHaveLength(1)
  })

  it('and is paused meanwhile has its retry refused, which completes once resumed', async () => {
    const { service, vault } = await withVault()
    vault.misbehave('fails after signing', 1)
    expect((await submitMemo(service, 'held', 'key-1')).status).toBe(500)
    await service.request('POST', '/v2/signer/pauses')
    expect(ruleOf(await submitMemo(service, 'held', 'key-1'))).toEqual([400, 'paused'])
    await service.request('POST', '/v2/signer/resumptions')
    expect((await submitMemo(service, 'held', 'key-1')).status).toBe(200)
    expect(signaturesOf(vault, 'held')).toEqual([2])
  })
})

describe('the audit log', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

  async function logged() {
    const service = await startPlatform()
    await submitMemo(service, 'one')
    await service.request('POST', '/v2/signer/pauses', { body: { reason: 'test' } })
    await submitMemo(service, 'two')
    await service.request('POST', '/v2/signer/resumptions')
    return service
  }
  const verdict = async ({ request }: PlatformService, head = '') =>
    (await request('GET', `/v2/audit-verification${head === '' ? '' : `?head=${head}`}`)).json.data

  it('can be recomputed by anybody from its entries', async () => {
    const service = await logged()
    const entries = (await service.request('GET', '/v2/audit-entries?order=asc&limit=100')).json.data
    expect(entries).toHaveLength(7)
    let previous = '0'.repeat(64)
    for (const [i, entry] of entries.entries()) {
      const { sequence, at, action, signer, api_key_id, request_id, details_json, previous_hash, hash } = entry
      expect([sequence, previous_hash]).toEqual([i + 1, previous])
      const fields = [sequence, previous_hash, Date.parse(at), action, signer, api_key_id, request_id, details_json]
      expect(hash).toBe(sha256(JSON.stringify(fields)))
      expect(JSON.parse(details_json)).toEqual(entry.details)
      previous = hash
    }
    expect(await verdict(service)).toEqual({ intact: true, entries: 7, head: previous, broken: null })
    expect(await verdict(service, entries[2].hash)).toMatchObject({ intact: true })
    expect(await verdict(service, sha256('other'))).toMatchObject({ intact: false, broken: { sequence: 8 } })
  })

  it('shows one changed byte anywhere', async () => {
    const service = await logged()
    const { store } = service.services
    const columns = [
      'at',
      'action',
      'signer',
      'api_key_id',
      'request_id',
      'details_json',
      'previous_hash',
      'hash',
      'seal',
    ] as const
    for (const sequence of [2, 4, 7]) {
      for (const column of columns) {
        const row = await store.db
          .selectFrom('audit_entries')
          .selectAll()
          .where('sequence', '=', sequence)
          .executeTakeFirstOrThrow()
        const value = row[column]
        const changed =
          typeof value === 'number'
            ? value + 1
            : `${value!.slice(0, 3)}${value![3] === '0' ? '1' : '0'}${value!.slice(4)}`
        const write = (to: string | number) =>
          store.write((tx) =>
            tx
              .updateTable('audit_entries')
              .set({ [column]: to })
              .where('sequence', '=', sequence)
              .execute(),
          )
        await write(changed)
        expect(await verdict(service), `${sequence} ${column}`).toMatchObject({ intact: false, broken: { sequence } })
        await write(value!)
        expect(await verdict(service)).toMatchObject({ intact: true })
      }
    }
  })

  it('shows that all entries are gone, and one that was added before the first', async () => {
    const service = await logged()
    const { store } = service.services
    const [row] = await store.db.selectFrom('audit_entries').selectAll().where('sequence', '=', 1).execute()
    await store.write((tx) =>
      tx
        .insertInto('audit_entries')
        .values({ ...row!, sequence: 0 })
        .execute(),
    )
    expect(await verdict(service)).toMatchObject({ intact: false, broken: { sequence: 0 } })
    await store.write((tx) => tx.deleteFrom('audit_entries').execute())
    expect(await verdict(service)).toMatchObject({ intact: false, entries: 0, broken: { sequence: 1 } })
    const fresh = await startPlatform(null)
    const { head } = await verdict(fresh)
    expect(await verdict(fresh, head)).toMatchObject({ intact: true, entries: 1 })
  })

  it('includes a text that was signed as a test of the provider', async () => {
    const service = await startPlatform(null)
    await service.request('POST', '/v2/signer/tests')
    expect(await actions(service)).toEqual(['signer.tested'])
  })

  it('shows a missing entry, the last one too', async () => {
    const service = await logged()
    const { store } = service.services
    for (const sequence of [1, 5, 7]) {
      const row = await store.db
        .selectFrom('audit_entries')
        .selectAll()
        .where('sequence', '=', sequence)
        .executeTakeFirstOrThrow()
      await store.write((tx) => tx.deleteFrom('audit_entries').where('sequence', '=', sequence).execute())
      expect(await verdict(service)).toMatchObject({ intact: false, entries: sequence - 1, broken: { sequence } })
      await store.write((tx) => tx.insertInto('audit_entries').values(row).execute())
      expect(await verdict(service)).toMatchObject({ intact: true })
    }
  })
})
