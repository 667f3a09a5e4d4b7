/**
 * Reads the body of POST /v2/merkle-trees: entries become a packed list with exact amounts, all other members plain
 * fields.
 */
import { eachMember, JsonScanner, OPEN_BRACE, OPEN_BRACKET } from '../platform/json-scanner.ts'
import type { Refuse } from './amount-cells.ts'
import { MAX_DECIMALS } from './amounts.ts'
import { keyToBase58 } from './base58.ts'
import { MAX_STORED_LEAVES, RECORD_BYTES } from './entry-list.ts'
import { EntryScanner, fieldName } from './entry-scanner.ts'
import { MAX_ISSUES, MerkleInputError, type MerkleIssue, refuseInput, refuseJson } from './errors.ts'
import type { DuplicateMode, SettledRows } from './row-builder.ts'

/** All fields of the body except `entries`. */
const TREE_REQUEST_FIELDS = [
  'mint',
  'airdrop_count',
  'decimals',
  'persist',
  'duplicates',
  'replace',
  'mode',
  'externalUid',
  'metadata',
] as const

/**
 * Limits for the bytes and values besides the entries, because they are parsed here and validated on the event loop.
 */
const REST_BYTES = 256 * 1024
const REST_VALUES = 10_000

interface TreeRequest extends SettledRows {
  /** The other fields as sent; only `decimals` and `duplicates` are validated, because the entries depend on them. */
  fields: Record<string, unknown>
}

/**
 * Reads the raw request body (UTF-8 JSON). Throws MerkleInputError: malformed JSON with an empty position, other errors
 * with their dotted path. Repeated fields are rejected, where JSON.parse would use the last one.
 */
export function readTreeRequest(body: Uint8Array): TreeRequest {
  const issues: MerkleIssue[] = []
  let issueCount = 0
  const refuse: Refuse = (position, message) => {
    issueCount++
    if (issues.length < MAX_ISSUES) issues.push({ position, message: message() })
  }

  const scanner = new JsonScanner(body, refuseJson)
  const fields: Record<string, unknown> = {}
  let entries: EntryScanner | undefined
  let entriesSent = false
  let rest = 0
  if (scanner.peek() !== OPEN_BRACE) {
    scanner.skipValue()
    scanner.expectEnd()
    refuseInput('', 'the body must be a JSON object')
  }
  /** Throws immediately instead of collecting the issue, so that the remainder of an oversized body is not read. */
  const requireSmallRest = (start: number) => {
    rest += scanner.position - start
    if (rest <= REST_BYTES && scanner.passed <= REST_VALUES) return
    refuseInput(
      '',
      `the body holds more than ${REST_BYTES / 1024} KiB or ${REST_VALUES} fields besides its entries: send less`,
    )
  }
  const member = (name: string) => {
    const known = (TREE_REQUEST_FIELDS as readonly string[]).includes(name)
    const repeated = name === 'entries' ? entriesSent : Object.hasOwn(fields, name)
    if (repeated) refuse(name, () => 'is sent twice')
    else if (!known && name !== 'entries') refuse(fieldName(name), () => 'is not a field of this request')
    if (name === 'entries' && !repeated) {
      entriesSent = true
      if (scanner.peek() === OPEN_BRACKET) {
        const { passed } = scanner
        entries = new EntryScanner(scanner, refuse)
        entries.scan()
        scanner.passed = passed
      } else {
        requireSmallRest(scanner.cell().start)
        refuse('entries', () => 'must be an array')
      }
      return
    }
    const { start, end } = scanner.cell()
    requireSmallRest(start)
    if (known && !repeated) fields[name] = scanner.value(start, end)
  }
  eachMember(scanner, member, requireSmallRest)
  scanner.expectEnd()

  const { decimals, duplicates } = fields
  const decimalsFit = decimals === undefined || (Number.isInteger(decimals) && inRange(decimals as number))
  if (!decimalsFit) refuse('decimals', () => `must be an integer from 0 to ${MAX_DECIMALS}`)
  const duplicatesFit = duplicates === undefined || duplicates === 'reject' || duplicates === 'sum'
  if (!duplicatesFit) refuse('duplicates', () => 'must be "reject" or "sum"')
  if (!entriesSent) refuse('entries', () => `is required, an array of 1 to ${MAX_STORED_LEAVES} entries`)

  if (entries !== undefined) {
    const count = entries.count
    if (count === 0 || count > MAX_STORED_LEAVES) {
      refuse('entries', () => `must hold 1 to ${MAX_STORED_LEAVES} entries, has ${count}`)
    }
    if (decimalsFit) entries.readAmounts(decimals as number | undefined)
    if (duplicatesFit) {
      const { rows } = entries
      const settled = rows.settle((duplicates ?? 'reject') as DuplicateMode, {
        repeated(source, earlier, record) {
          const wallet = () => keyToBase58(rows.bytes, record * RECORD_BYTES)
          const hint = 'remove one or send duplicates: "sum"'
          refuse(`entries.${source}.wallet`, () => `${wallet()} is listed twice, first at entries.${earlier}; ${hint}`)
        },
        miscased(source, earlier, record) {
          const wallet = () => keyToBase58(rows.bytes, record * RECORD_BYTES)
          const message = () => `${wallet()} differs only in upper and lower case from entries.${earlier}`
          refuse(`entries.${source}.wallet`, message)
        },
        overflowed(source, earlier, sum) {
          const message = `added to entries.${earlier} the amount becomes ${sum}, more than u64 holds`
          refuse(`entries.${source}.amount`, () => message)
        },
      })
      if (issueCount === 0) return { fields, ...settled }
    }
  }
  throw new MerkleInputError(issues, issueCount)
}

function inRange(decimals: number): boolean {
  return decimals >= 0 && decimals <= MAX_DECIMALS
}
