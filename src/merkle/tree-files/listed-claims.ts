/**
 * Reads the claims of a tree file whose amounts are digit strings: wallet, both amounts and a proof, if there is one.
 */
import { MAX_U64 } from '../../solana/u64.ts'
import { type EntryList, type ListEntry, listFromEntries } from '../entry-list.ts'
import { MerkleInputError, refuseInput } from '../errors.ts'
import { NODE_BYTES } from '../tree.ts'
import { MAX_SIBLINGS } from './tree-file.ts'

/** Field names and hash notation of the claims of one format. */
interface ClaimForm {
  /** Field of the array of claims; empty if the file itself is the array. */
  readonly claims: string
  readonly wallet: string
  readonly amount: string
  readonly locked: string
  /** Whether a missing locked amount counts as 0. */
  readonly isLockedOptional: boolean
  /** A hash of 32 bytes; undefined for anything else. */
  hash(value: unknown): Uint8Array | undefined
  /** What `hash` accepts, for a message. */
  readonly hashes: string
}

interface ListedClaims {
  list: EntryList
  proofs: (Uint8Array[] | undefined)[]
}

/** Reads the claims in their order. Throws MerkleInputError that names the claim and its field. */
export function readClaims(claims: unknown, form: ClaimForm): ListedClaims {
  const at = (index: number) => (form.claims === '' ? String(index) : `${form.claims}.${index}`)
  if (!Array.isArray(claims)) refuseInput(form.claims, 'must be an array')
  if (claims.length === 0) refuseInput(form.claims, 'is empty; a tree has at least one leaf')
  const proofs: ListedClaims['proofs'] = []
  const entries = claims.map((claim: unknown, i): ListEntry => {
    if (typeof claim !== 'object' || claim === null) refuseInput(at(i), 'must be an object')
    const fields = claim as Record<string, unknown>
    const wallet = fields[form.wallet]
    if (typeof wallet !== 'string') refuseInput(`${at(i)}.${form.wallet}`, 'must be a string, the base58 address')
    const amount = rawAmount(fields[form.amount], `${at(i)}.${form.amount}`)
    const given = fields[form.locked]
    const isAbsent = given === undefined && form.isLockedOptional
    const locked = isAbsent ? 0n : rawAmount(given, `${at(i)}.${form.locked}`)
    if (amount + locked > MAX_U64) refuseInput(at(i), `its amounts add up to ${amount + locked}, more than u64 holds`)
    proofs.push(fields.proof === undefined ? undefined : readProof(fields.proof, `${at(i)}.proof`, form))
    return { wallet, amount, locked }
  })
  try {
    return { list: listFromEntries(entries), proofs }
  } catch (error) {
    if (!(error instanceof MerkleInputError)) throw error
    const named = (text: string) => text.replace(/\bentries\.(\d+)/g, (_, index: string) => at(Number(index)))
    const issues = error.issues.map(({ position, message }) => ({
      position: named(position).replace(/wallet$/, form.wallet),
      message: named(message),
    }))
    throw new MerkleInputError(issues, error.issueCount)
  }
}

function rawAmount(value: unknown, at: string): bigint {
  const isRaw = typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) <= MAX_U64
  if (!isRaw) refuseInput(at, `must be a string of raw units, digits only, at most ${MAX_U64}`)
  return BigInt(value)
}

function readProof(value: unknown, at: string, form: ClaimForm): Uint8Array[] {
  if (!Array.isArray(value) || value.length > MAX_SIBLINGS)
    refuseInput(at, `must be an array of at most ${MAX_SIBLINGS} hashes`)
  return value.map((sibling: unknown, d) => form.hash(sibling) ?? refuseInput(`${at}.${d}`, `must be ${form.hashes}`))
}

/** The 32 bytes of an array of numbers; undefined for anything else. */
export function hashFromNumbers(value: unknown): Uint8Array | undefined {
  const isHash =
    Array.isArray(value) &&
    value.length === NODE_BYTES &&
    value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  return isHash ? Uint8Array.from(value as number[]) : undefined
}
