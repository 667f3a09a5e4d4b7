/** Builds everything that the store requires from raw bytes; the worker thread runs it and sends back the result. */

import { eachMember, JsonScanner, OPEN_BRACE, OPEN_BRACKET } from '../platform/json-scanner.ts'
import {
  type AllowlistPiece,
  type AllowlistSummary,
  allowlistOf,
  allowlistSummary,
  allowlistTree,
  piecesOf,
  repeatedWarnings,
} from './allowlist.ts'
import type { Refuse } from './amount-cells.ts'
import { MAX_DECIMALS } from './amounts.ts'
import { keyToBase58 } from './base58.ts'
import type { CsvOptions } from './csv.ts'
import { bytesSource } from './csv-source.ts'
import { listHash, MAX_STORED_LEAVES, RECORD_BYTES, totalAmount, totalLocked } from './entry-list.ts'
import { ALLOWANCE_ENTRY, EntryScanner, fieldName, RECIPIENT_ENTRY } from './entry-scanner.ts'
import { MAX_ISSUES, MerkleInputError, type MerkleIssue, refuseInput, refuseJson } from './errors.ts'
import { readRecipientCsv, recipientTree } from './recipient-tree.ts'
import type { DuplicateMode, SettledRows } from './row-builder.ts'
import { type EncodedTree, encodeTree } from './stored-tree.ts'
import { toHex } from './tree.ts'
import { unusableWallets, unusableWarnings } from './unusable-wallets.ts'

/** A validated list and its tree, without values that cannot be sent between threads. */
export interface BuiltTree {
  /** All fields of the request body except `entries`, as sent; empty for a CSV. */
  fields: Record<string, unknown>
  leafCount: number
  /** Merkle root in hex without a prefix. */
  root: string
  /** Sum of all amounts, locked ones included, in base units, which can exceed u64. */
  total: bigint
  /** Sum of the locked amounts in base units. */
  totalLocked: bigint
  /** SHA-256 of the canonical list in hex. */
  listHash: string
  merged: number
  zeroAmounts: number
  /** Unusual facts about the list, in sentences. */
  warnings: string[]
  /** Parts to store, see `blobsOf`; undefined when the request has `persist: false`. */
  encoded: EncodedTree | undefined
}

/** Builds from the raw body of POST /v2/merkle-trees. Throws MerkleInputError like `readTreeRequest`. */
export function buildFromRequest(body: Uint8Array): BuiltTree {
  const { fields, ...rows } = readTreeRequest(body)
  return treeOf(fields, rows, fields.persist !== false)
}

/** A validated allowlist and the pieces of its tree, without values that cannot be sent between threads. */
export interface BuiltAllowlist {
  /** All fields of the request body except `entries`, as sent. */
  fields: Record<string, unknown>
  count: number
  /** Merkle root in hex without a prefix. */
  root: string
  summary: AllowlistSummary
  warnings: string[]
  pieces: AllowlistPiece[]
}

/** Builds from the raw body of POST /v2/raises/{id}/allowlist. Throws MerkleInputError like `readTreeRequest`. */
export function buildAllowlist(body: Uint8Array): BuiltAllowlist {
  const { fields, ...rows } = readTreeRequest(body, ALLOWLIST_REQUEST)
  const tree = allowlistTree(allowlistOf(rows))
  const summary = allowlistSummary(tree.list)
  return {
    fields,
    count: tree.list.count,
    root: toHex(tree.root),
    summary,
    warnings: [
      ...repeatedWarnings(summary),
      ...unusableWarnings(unusableWallets(rows.list, MAX_STORED_LEAVES), 'allowlist'),
    ],
    pieces: [...piecesOf(tree)],
  }
}

/** Builds from CSV bytes. Throws MerkleInputError like `readCsv`. */
export function buildFromCsv(bytes: Uint8Array, options: CsvOptions = {}): BuiltTree {
  return treeOf({}, readRecipientCsv(bytesSource(bytes), options), true)
}

function treeOf(fields: Record<string, unknown>, rows: SettledRows, encode: boolean): BuiltTree {
  const { list, merged, zeroAmounts } = rows
  const tree = recipientTree(list)
  return {
    fields,
    leafCount: list.count,
    root: toHex(tree.root),
    total: totalAmount(list),
    totalLocked: totalLocked(list),
    listHash: listHash(list),
    merged,
    zeroAmounts,
    warnings: unusableWarnings(unusableWallets(list, MAX_STORED_LEAVES)),
    encoded: encode ? encodeTree(tree) : undefined,
  }
}

/** A body with `entries`: what they are, and all other fields. */
const TREE_REQUEST = {
  entry: RECIPIENT_ENTRY,
  fields: [
    ...['mint', 'airdrop_count', 'decimals', 'persist', 'duplicates', 'replace', 'mode', 'externalUid', 'metadata'],
  ],
}
const ALLOWLIST_REQUEST: typeof TREE_REQUEST = {
  entry: ALLOWANCE_ENTRY,
  fields: ['mode', 'externalUid', 'metadata'],
}

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
export function readTreeRequest(body: Uint8Array, request = TREE_REQUEST): TreeRequest {
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
    const known = request.fields.includes(name)
    const repeated = name === 'entries' ? entriesSent : Object.hasOwn(fields, name)
    if (repeated) refuse(name, () => 'is sent twice')
    else if (!known && name !== 'entries') refuse(fieldName(name), () => 'is not a field of this request')
    if (name === 'entries' && !repeated) {
      entriesSent = true
      if (scanner.peek() === OPEN_BRACKET) {
        const { passed } = scanner
        entries = new EntryScanner(scanner, refuse, request.entry)
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
          const round = rows.rounds?.[record]
          const where = round === undefined ? '' : ` in round ${round}`
          const hint = round === undefined ? 'remove one or send duplicates: "sum"' : 'remove one'
          refuse(
            `entries.${source}.wallet`,
            () => `${wallet()} is listed twice${where}, first at entries.${earlier}; ${hint}`,
          )
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
