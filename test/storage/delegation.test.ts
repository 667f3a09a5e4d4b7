/** Delegated uploads, judged by the validator that Storacha's own service uses. */
import { delegate, extract } from '@ucanto/core/delegation'
import type { Delegation, Failure, Result, Signer, Unit } from '@ucanto/interface'
import { ed25519, RSA, Verifier } from '@ucanto/principal'
import { access, capability, DID, fail } from '@ucanto/validator'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SettingName } from '../../src/settings/config.ts'
import { UPLOAD_ABILITIES } from '../../src/storage/delegation.ts'
import { inSoak } from '../support/runs.ts'
import { sharedService, startService, type TestClock, testClock } from '../support/service.ts'

const DAY_MS = 86_400_000
type Settings = Partial<Record<SettingName, unknown>>
type Did = `did:key:${string}`
type Can = `${string}/${string}`

/** Without the settings of delegations. */
const unset = sharedService()

let space: Awaited<ReturnType<typeof ed25519.generate>>
let agent: typeof space
let client: typeof space
let stranger: typeof space
let service: typeof space

beforeAll(async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => ed25519.generate()))
  ;[space, agent, client, stranger, service] = made as [
    typeof space,
    typeof space,
    typeof space,
    typeof space,
    typeof space,
  ]
})

interface ProofOptions {
  issuer?: Signer
  audience?: Signer
  can?: readonly string[]
  resource?: string
  expiration?: number
  notBefore?: number
  proofs?: Delegation[]
  nb?: Record<string, unknown>
}

function grant({
  issuer = space,
  audience = agent,
  can = UPLOAD_ABILITIES,
  resource = space.did(),
  nb,
  ...rest
}: ProofOptions = {}): Promise<Delegation> {
  const capabilities = can.map((ability) => ({ can: ability as Can, with: resource as Did, ...(nb && { nb }) }))
  return delegate({ issuer, audience, capabilities: capabilities as [never], expiration: Infinity, ...rest })
}

const archived = async (proof: Delegation) => Buffer.from((await proof.archive()).ok!).toString('base64')

/** As `storacha delegation create … --base64` prints it: CIDv1, CAR, identity hash, multibase base64. */
async function identityCid(proof: Delegation): Promise<string> {
  const { CID } = await import('multiformats/cid')
  const { identity } = await import('multiformats/hashes/identity')
  const { base64 } = await import('multiformats/bases/base64')
  return CID.createV1(0x0202, identity.digest((await proof.archive()).ok!)).toString(base64)
}

const settingsOf = async (proof: Delegation): Promise<Settings> => ({
  'storage-key': ed25519.format(agent),
  'storage-proof': await identityCid(proof),
})

async function ask(
  settings: Settings,
  { agentDid = client.did() as string, clock = testClock(Date.now()) as TestClock } = {},
) {
  const { request } = Object.keys(settings).length === 0 ? await unset() : await startService({ settings, clock })
  return request('POST', '/v2/storage/delegations', { body: { agent_did: agentDid } })
}

async function delegationFrom(settings: Settings, options: { clock?: TestClock; agentDid?: string } = {}) {
  const { status, json, text } = await ask(settings, options)
  expect([status, text.slice(0, 200)]).toEqual([200, expect.stringMatching(/^\{"data":\{"delegation":"/)])
  const { ok: delegation, error } = await extract(Buffer.from(json.data.delegation, 'base64'))
  expect(error).toBeUndefined()
  return { delegation: delegation!, expiresAt: Date.parse(json.data.expires_at) }
}

/** Whether the service would carry out `can` on `on`, asked by `issuer` with that delegation as its only proof. */
async function accepts(
  proof: Delegation,
  { issuer = client as Signer, can = 'upload/add' as string, on = space.did() as string } = {},
) {
  const asked = capability({
    can: can as Can,
    with: DID,
    derives: (claim, from): Result<Unit, Failure> => {
      return claim.with === from.with ? { ok: {} } : { error: fail(`${claim.with} is not ${from.with}`).error }
    },
  })
  const invocation = await asked.invoke({ issuer, audience: service, with: on as Did, proofs: [proof] }).delegate()
  const { ok: authorized } = await access(invocation as never, {
    authority: service,
    capability: asked,
    principal: Verifier,
    validateAuthorization: () => ({ ok: {} }),
  })
  return authorized !== undefined
}

describe('a delegation of uploads', () => {
  it('is valid for its agent, each ability that uploading needs, and the space', async () => {
    const { delegation, expiresAt } = await delegationFrom(await settingsOf(await grant({ can: ['*'] })))
    for (const can of UPLOAD_ABILITIES) expect([can, await accepts(delegation, { can })]).toEqual([can, true])
    expect(delegation.audience.did()).toBe(client.did())
    expect(delegation.expiration * 1000).toBe(expiresAt)
  })

  it('is refused for another agent, another ability and another space', async () => {
    const { delegation } = await delegationFrom(await settingsOf(await grant({ can: ['*'] })))
    expect(await accepts(delegation, { issuer: stranger })).toBe(false)
    expect(await accepts(delegation, { issuer: agent })).toBe(false)
    expect(await accepts(delegation, { on: stranger.did() })).toBe(false)
    const others = ['upload/remove', 'upload/list', 'upload/get', 'store/remove', 'store/list', 'space/blob/remove']
    for (const can of [...others, 'space/blob/list', 'space/info', 'access/delegate', 'plan/set', 'upload/*', '*/*']) {
      expect([can, await accepts(delegation, { can })]).toEqual([can, false])
    }
    expect(delegation.capabilities.map(({ can }) => can)).toEqual([...UPLOAD_ABILITIES])
  })

  it('lasts no longer than 24 hours', async () => {
    const settings = await settingsOf(await grant())
    const clock = testClock(Date.now() - DAY_MS + 60_000)
    const young = await delegationFrom(settings, { clock })
    expect(young.expiresAt).toBe(Math.floor(clock.now() / 1000) * 1000 + DAY_MS)
    expect(await accepts(young.delegation)).toBe(true)
    clock.advance(-120_000)
    expect(await accepts((await delegationFrom(settings, { clock })).delegation)).toBe(false)
  })

  it.skipIf(!inSoak)('does not outlast its proofs, at any depth', { tags: 'sampled' }, async () => {
    const soon = Math.floor(Date.now() / 1000) + 600
    const owner = await grant({ audience: stranger, can: ['*'], expiration: soon })
    const chain = await grant({ issuer: stranger, proofs: [owner] })
    const { delegation, expiresAt } = await delegationFrom(await settingsOf(chain))
    expect(expiresAt).toBe(soon * 1000)
    expect(await accepts(delegation)).toBe(true)
  })

  it('grants no more than the proof grants, within its limits', async () => {
    const old = await delegationFrom(await settingsOf(await grant({ can: ['store/add', 'upload/add'] })))
    expect(old.delegation.capabilities.map(({ can }) => can)).toEqual(['upload/add', 'store/add'])
    const wide = await delegationFrom(await settingsOf(await grant({ can: ['space/*', 'upload/*'] })))
    expect(wide.delegation.capabilities.map(({ can }) => can)).toEqual([
      'space/blob/add',
      'space/index/add',
      'upload/add',
    ])
    const limited = await delegationFrom(await settingsOf(await grant({ nb: { size: 1000 } })))
    expect(limited.delegation.capabilities.map(({ nb }) => nb)).toEqual(UPLOAD_ABILITIES.map(() => ({ size: 1000 })))
  })

  it.skipIf(!inSoak)('may be for an RSA agent', { tags: 'sampled' }, async () => {
    const browser = await RSA.generate()
    const { delegation } = await delegationFrom(await settingsOf(await grant()), { agentDid: browser.did() })
    expect(await accepts(delegation, { issuer: browser })).toBe(true)
    expect(await accepts(delegation)).toBe(false)
  })

  it('accepts the proof as a CAR in base64 too, and several spaces', async () => {
    const proof = await delegate({
      issuer: space,
      audience: agent,
      capabilities: [
        { can: '*', with: space.did() },
        { can: '*', with: stranger.did() },
      ],
      expiration: Infinity,
    })
    const settings = { 'storage-key': ed25519.format(agent), 'storage-proof': await archived(proof) }
    const { json } = await ask(settings)
    expect(json.error.message).toMatch(/^storage-space is not set, and storage-proof does not name one space/)
    const { delegation } = await delegationFrom({ ...settings, 'storage-space': space.did() })
    expect(await accepts(delegation)).toBe(true)
    expect(await accepts(delegation, { on: stranger.did() })).toBe(false)
  })

  it('needs no proof if the key is the space itself', async () => {
    const { delegation } = await delegationFrom({ 'storage-key': ed25519.format(space), 'storage-space': space.did() })
    expect(await accepts(delegation)).toBe(true)
  })
})

describe('an obstacle to a delegation of uploads', () => {
  it.each([
    'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do',
    'did:key:zabc',
    `did:key:z${'2'.repeat(900)}`,
    'did:key:z',
  ])('is a DID without a key: %s', async (agentDid) => {
    for (const settings of [{}, await settingsOf(await grant())]) {
      const { status, json } = await ask(settings, { agentDid })
      expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'agent_did'])
    }
  })

  it('is another kind of key, or another method', async () => {
    const p256 = 'did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169'
    for (const agentDid of [p256, 'did:web:example.com', 'did:mailto:example.com:a', '']) {
      const { status, json } = await ask({}, { agentDid })
      expect([status, json.error.param]).toEqual([400, 'agent_did'])
    }
    const { request } = await unset()
    const { status, json } = await request('POST', '/v2/storage/delegations', { body: {} })
    expect([status, json.error.param]).toEqual([400, 'agent_did'])
  })

  it('is a missing or inconsistent setting, named without its value', async () => {
    const key = ed25519.format(agent)
    const good = await identityCid(await grant())
    const expired = Math.floor(Date.now() / 1000) - 10
    const torn = Buffer.from((await archived(await grant())).slice(0, 200)).toString('base64')
    // The halves of two keys: it would sign what nobody accepts.
    const halves = Buffer.from(key.slice(1), 'base64')
    halves.set(Buffer.from(ed25519.format(stranger).slice(1), 'base64').subarray(36), 36)
    const cases: [Settings, RegExp][] = [
      [{}, /^storage-key is not set: .*; set SVC_STORAGE_KEY$/],
      [{ 'storage-proof': good }, /^storage-key is not set/],
      [{ 'storage-key': `M${'A'.repeat(91)}=` }, /^storage-key is not an ed25519 key as/],
      [{ 'storage-key': `M${halves.toString('base64')}`, 'storage-proof': good }, /^storage-key is not an ed25519 key/],
      [{ 'storage-key': key }, /^storage-proof is not set: .*; set SVC_STORAGE_PROOF$/],
      [{ 'storage-key': key, 'storage-space': space.did() }, /^storage-proof is not set/],
      ...['m', 'mAYIEAA', 'no proof', torn, good.slice(0, -40)].map((proof): [Settings, RegExp] => [
        { 'storage-key': key, 'storage-proof': proof },
        /^storage-proof is not a UCAN delegation/,
      ]),
      [await settingsOf(await grant({ audience: stranger })), /^storage-proof is for did:key:\w+, not for did:key:\w+/],
      [await settingsOf(await grant({ expiration: expired })), /^storage-proof has expired: create another/],
      [await settingsOf(await grant({ notBefore: expired + 9999 })), /^storage-proof is not valid yet/],
      [await settingsOf(await grant({ can: ['upload/list', 'space/info'] })), /^storage-proof does not allow uploads/],
      [await settingsOf(await grant({ can: ['upload/add'] })), /^storage-proof does not allow uploads/],
      [
        { ...(await settingsOf(await grant())), 'storage-space': stranger.did() },
        /^storage-proof does not cover did:key/,
      ],
      [
        await settingsOf(await grant({ resource: 'ucan:*' })),
        /^storage-space is not set, and storage-proof does not name/,
      ],
    ]
    for (const [settings, message] of cases) {
      const { status, json, text } = await ask(settings)
      expect([status, json.error.code, json.error.message]).toEqual([
        500,
        'internal_error',
        expect.stringMatching(message),
      ])
      for (const secret of [key, good]) expect(text).not.toContain(secret.slice(10, 60))
    }
  })

  it('is named by the log alone in production if a setting is missing', async () => {
    const logged: object[] = []
    const quiet = () => {}
    const log = { debug: quiet, info: quiet, warn: (fields: object) => void logged.push(fields), error: quiet }
    const { request } = await startService({ production: true, log })
    const { json } = await request('POST', '/v2/storage/delegations', { body: { agent_did: client.did() } })
    expect(json.error.message).toBe('Something went wrong')
    expect(logged).toContainEqual(expect.objectContaining({ setting: 'storage-key' }))
  })
})
