/** Issues UCAN delegations that allow an agent only to upload to the space at Storacha. */
import type { Capability, Delegation, Signer } from '@ucanto/interface'
import { type ApiError, badRequest, internal } from '../platform/errors.ts'
import { type Config, environmentName, howToSet, type SettingName } from '../settings/config.ts'

/**
 * Abilities that Storacha's upload clients invoke, with `store/add` for older ones. None of them lists, reads or
 * removes.
 */
export const UPLOAD_ABILITIES = [
  'space/blob/add',
  'space/index/add',
  'filecoin/offer',
  'upload/add',
  'store/add',
] as const
type Ability = (typeof UPLOAD_ABILITIES)[number]

const LONGEST_SECONDS = 24 * 60 * 60

interface UploadDelegation {
  /** CAR archive of the delegation (UCAN 0.9.1), proofs included. */
  car: Uint8Array
  /** Expiry in Unix milliseconds, rounded down to a whole second. */
  expiresAt: number
}

/**
 * Delegates uploads to `agentDid` for 24 hours from `now` (Unix milliseconds), or until the proof expires if that is
 * earlier. Throws bad_request (`agent_did`), and internal_error naming the missing or invalid setting.
 */
export async function delegateUploads(config: Config, agentDid: string, now: number): Promise<UploadDelegation> {
  const audience = await parseAgent(agentDid)
  const issuer = await loadIssuer(config)
  const { space, proof } = await requestGrant(config, issuer)
  const seconds = Math.floor(now / 1000)
  const expiration = proof === undefined ? seconds + LONGEST_SECONDS : validUntil(proof, seconds)
  const { delegate } = await import('@ucanto/core/delegation')
  const delegation = await delegate({
    issuer,
    audience,
    capabilities: capabilitiesOf(space, proof) as [Capability, ...Capability[]],
    expiration,
    proofs: proof === undefined ? [] : [proof],
  })
  const { ok: car, error } = await delegation.archive()
  if (car === undefined) throw internal('The delegation cannot be written', { cause: error })
  return { car, expiresAt: expiration * 1000 }
}

/** Parses the agent's did:key, an ed25519 or RSA key. Throws bad_request. */
async function parseAgent(did: string) {
  const { Verifier } = await import('@ucanto/principal')
  try {
    const agent = Verifier.parse(did as `did:key:${string}`)
    // An RSA key is validated only at its first use, so it is read here.
    await (agent as { publicKey?: unknown }).publicKey
    if (agent.did() === did) return agent
  } catch {
    // The error below covers parsing errors too.
  }
  throw badRequest('agent_did is not a readable key; send the ed25519 or RSA did:key of the agent', {
    param: 'agent_did',
  })
}

/** Names the invalid setting and the reason, without its value. */
const invalidSetting = (name: SettingName, why: string): ApiError =>
  internal(`${name} ${why}; set ${environmentName(name)}`)

const missingProof = (config: Config, name: SettingName, why: string): ApiError =>
  internal(`${name} is not set${why}; ${howToSet(config, name)}`, { unset: name })

async function loadIssuer(config: Config): Promise<Signer> {
  const text = config.values['storage-key']
  if (text === undefined) throw missingProof(config, 'storage-key', ': this key delegates uploads at Storacha')
  const { parse } = await import('@ucanto/principal/ed25519')
  try {
    const issuer = parse(text)
    // The text contains both halves of the key; a test signature detects halves that do not belong together.
    const sample = new Uint8Array(32)
    if (await issuer.verify(sample, await issuer.sign(sample))) return issuer
  } catch {
    // The error below covers parsing errors too.
  }
  throw invalidSetting('storage-key', 'is not an ed25519 key as `storacha key create` prints it')
}

interface Grant {
  space: string
  /** Proof of access; undefined if the key is the space's own. */
  proof: Delegation | undefined
}

async function requestGrant(config: Config, issuer: Signer): Promise<Grant> {
  const { values } = config
  const named = values['storage-space']
  const text = values['storage-proof']
  if (text === undefined) {
    if (named === issuer.did()) return { space: named, proof: undefined }
    throw missingProof(config, 'storage-proof', `: it allows ${issuer.did()} to upload to the space`)
  }
  const proof = await proofIn(text)
  if (proof.audience.did() !== issuer.did()) {
    throw invalidSetting(
      'storage-proof',
      `is for ${proof.audience.did()}, not for ${issuer.did()}, the agent of storage-key`,
    )
  }
  const spaces = [...new Set<string>(proof.capabilities.map(({ with: resource }) => resource))]
  if (named !== undefined) {
    if (spaces.includes(named)) return { space: named, proof }
    throw invalidSetting('storage-proof', `does not cover ${named}, the space of storage-space`)
  }
  const [space] = spaces
  if (spaces.length === 1 && space?.startsWith('did:key:')) return { space, proof }
  throw missingProof(config, 'storage-space', ', and storage-proof does not name one space')
}

/** Decodes a CAR archive in base64, or in the identity CID that `--base64` prints. */
async function proofIn(text: string): Promise<Delegation> {
  const [{ extract }, { CID }, { base64 }] = await Promise.all([
    import('@ucanto/core/delegation'),
    import('multiformats/cid'),
    import('multiformats/bases/base64'),
  ])
  try {
    const archive = text.startsWith('m') ? CID.parse(text, base64).multihash.digest : Buffer.from(text, 'base64')
    const { ok: proof } = await extract(archive)
    // Iterating decodes every block, which detects missing and invalid ones.
    if (proof !== undefined && proof.capabilities.length > 0) {
      for (const link of proof.iterate()) link.capabilities.length
      return proof
    }
  } catch {
    // The error below covers decoding errors too.
  }
  throw invalidSetting('storage-proof', 'is not a UCAN delegation as `storacha delegation create … --base64` prints it')
}

/** Returns the expiry in Unix seconds: 24 hours ahead, or the earliest expiry in the proof chain if that is sooner. */
function validUntil(proof: Delegation, now: number): number {
  const chain = [proof, ...proof.iterate()]
  if (chain.some(({ notBefore }) => notBefore !== undefined && notBefore > now)) {
    throw invalidSetting('storage-proof', 'is not valid yet')
  }
  const ends = Math.min(now + LONGEST_SECONDS, ...chain.map(({ expiration }) => expiration))
  if (ends <= now) throw invalidSetting('storage-proof', 'has expired: create another one')
  return ends
}

/** When the setting `storage-proof` ends, in Unix milliseconds; null without one, or if it never ends. */
export async function proofEnd({ values }: Pick<Config, 'values'>): Promise<number | null> {
  const text = values['storage-proof']
  if (text === undefined) return null
  const proof = await proofIn(text)
  const ends = Math.min(...[proof, ...proof.iterate()].map(({ expiration }) => expiration))
  return Number.isFinite(ends) ? ends * 1000 : null
}

function capabilitiesOf(space: string, proof: Delegation | undefined): Capability[] {
  const granted = UPLOAD_ABILITIES.flatMap((can) => {
    if (proof === undefined) return [{ can, with: space as `did:${string}` }]
    const source = proof.capabilities.find((capability) => capability.with === space && covers(capability.can, can))
    if (source === undefined) return []
    // Limits of the proof are copied, because the delegation would be invalid without them.
    return [{ can, with: source.with, ...(source.nb !== undefined && { nb: source.nb }) }]
  })
  const has = (ability: Ability) => granted.some(({ can }) => can === ability)
  if (!has('upload/add') || !(has('space/blob/add') || has('store/add'))) {
    throw invalidSetting('storage-proof', `does not allow uploads: it needs ${UPLOAD_ABILITIES.slice(0, 4).join(', ')}`)
  }
  return granted
}

/** Whether an ability is granted according to UCAN 0.9: by `*`, by a prefix that ends in `/*`, or by itself. */
const covers = (granted: string, ability: Ability): boolean =>
  granted === '*' || granted === ability || (granted.endsWith('/*') && ability.startsWith(granted.slice(0, -1)))
