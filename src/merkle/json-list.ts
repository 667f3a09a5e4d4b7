/** Reads a JSON list of recipients: `[{wallet, amount}]`, such an array inside of an object, or `{WALLET: amount}`. */
import {
  CLOSE_BRACKET,
  COMMA,
  eachMember,
  type JsonCell,
  JsonScanner,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../platform/json-scanner.ts'
import { AMOUNT_STATUS, amountFrom, readAmount, readJsonNumber } from './amounts.ts'
import { decodeKey, isLowerCased, walletFault, walletKey } from './base58.ts'
import { plainName, roleOf } from './column-names.ts'
import { type ColumnChoices, type ListForm, planColumns, RECIPIENT_FORM } from './column-plan.ts'
import type { CsvOptions } from './csv.ts'
import { type CsvColumns, unitsMessage } from './csv-columns.ts'
import { cellFault } from './csv-faults.ts'
import { LOCKED_BYTES, RECORD_BYTES } from './entry-list.ts'
import { quoted, refuseJson } from './errors.ts'
import { PlacedFaults } from './placed-faults.ts'
import { RowBuilder, type SettledRows } from './row-builder.ts'
import { UnreadColumns } from './unread-columns.ts'

/** Fewest bytes of an entry: a wallet of 32 characters in quotes, a colon, a digit and a comma. */
const LEAST_ENTRY_BYTES = 37
/** Most objects around the array. */
const MAX_DEPTH = 3
const RAW_ACCOUNTS =
  'objects with owner and mint are token accounts, whose amounts are raw units: leave --decimals out, or use --raw'
const EXPECTED_FORM = '[{"wallet": "…", "amount": 1}, …]'
const EXPECTED = `a JSON list of recipients is ${EXPECTED_FORM}`
/** An account of a token has an address and amounts of its own, which mean nothing for its owner. */
const TOKEN_ACCOUNT_FORM: ListForm = { ...RECIPIENT_FORM, leaves: ['wallet', 'units'] }
/** What a token account may call its own address and its owner, in plain names. */
const OF_TOKEN_ACCOUNT = ['owner', 'address', 'pubkey', 'publickey', 'account']

interface JsonRows extends SettledRows {
  /** Whether the list is one of token accounts, whose amounts are raw units. */
  isRaw: boolean
  /** The fields that are read, those that are not, and those of the latter that a flag leaves out though they decide. */
  columns: Pick<CsvColumns, 'read' | 'ignored' | 'overruled'>
  /** Number of rows that a receipt calls paid, and that were left out. */
  paidRows: number
}

interface Fields extends Pick<CsvColumns, 'ignored' | 'overruled' | 'watched'> {
  read: { wallet: string; amount: string; locked?: string }
  isRaw: boolean
}

/**
 * Reads the list. A number is scaled by `decimals`, by its exact text. A string is raw units, and is refused with
 * `decimals`, like token accounts. Throws MerkleInputError with positions `NAME:LINE:COLUMN`, or like JsonScanner
 * for what is not JSON.
 */
export function readJsonList(bytes: Uint8Array, options: CsvOptions = {}): JsonRows {
  const { name = 'list', duplicates = 'reject' } = options
  const faults = new PlacedFaults(bytes, name)
  const refuseForm = (offset: number, message: string): never => {
    faults.refuse(offset, () => message)
    return faults.throw()
  }
  const rows = new RowBuilder(Math.ceil(bytes.length / LEAST_ENTRY_BYTES) + 1)
  const { arrays, names, tokens } = arraysOf(bytes)
  const scanner = new JsonScanner(bytes, refuseJson)
  const [array, another] = arrays
  const isMap = array === undefined && names.length > 0 && names.every((text) => walletKey(text) !== undefined)
  if (isMap) {
    const keeper = new EntryKeeper(scanner, rows, faults, options.decimals)
    eachMember(scanner, (wallet, at) => keeper.keep(wallet, at, { amount: scanner.cell() }))
  } else if (array === undefined || another !== undefined) {
    const all = names.map(quoted).join(', ')
    const lists = arrays.map((at) => faults.placeOf(at)).join(' and ')
    return refuseForm(
      0,
      array === undefined
        ? `the file is JSON with the fields ${all}, but without a list; ${EXPECTED}`
        : `the file is JSON with several lists (at ${lists}); put the one that is meant into a file of its own, as ${EXPECTED_FORM}`,
    )
  }
  let fields: Fields | undefined
  let unread: UnreadColumns | undefined
  const choices = options.columns ?? {}
  const { ignore = [], mint } = choices
  const isSame = (a: string) => (b: string) => plainName(a) === plainName(b)
  /** A field around the list may be left out as one of its rows may. */
  const choicesFor = (known: readonly string[]): ColumnChoices => ({
    ...choices,
    ignore: ignore.filter((typed) => known.some(isSame(typed)) || !tokens.some(({ name }) => isSame(typed)(name))),
  })
  const outer: string[] = []
  for (const { name: field, text, offset } of tokens) {
    if (mint === undefined || text === mint) continue
    if (ignore.some(isSame(field))) outer.push(field)
    else
      faults.refuse(
        offset,
        () =>
          `the file is for the token ${quoted(text)}, and the list for ${mint}; if it says where the wallets come from, leave it out with --ignore-column ${field}`,
      )
  }
  if (array !== undefined) {
    const known = new Set<string>()
    let keeper: EntryKeeper | undefined
    scanner.position = array + 1
    do {
      if (scanner.peek() !== OPEN_BRACE) refuseForm(scanner.position, `not an object; ${EXPECTED}`)
      const start = scanner.position
      const cells = new Map<string, JsonCell>()
      const twice = (field: string) => refuseForm(start, `the field ${quoted(field)} is repeated in this object`)
      eachMember(scanner, (field) => void (cells.has(field) ? twice(field) : cells.set(field, scanner.cell())))
      const before = known.size
      for (const field of cells.keys()) known.add(field)
      // A field of a later object may be the locked amount, or mean the same as a field that is already read.
      if (fields === undefined || known.size > before) {
        const { isRaw } = fields ?? {}
        fields = fieldsOf([...known], choicesFor([...known]), (message) => refuseForm(start, message))
        const { amount } = fields.read
        const units = unitsMessage(amount, fields.isRaw ? undefined : options.decimals)
        if (units !== undefined) refuseForm(start, units)
        if (isRaw !== undefined && isRaw !== fields.isRaw) refuseForm(start, 'a token account among other objects')
        const other = fields.isRaw && choices.wallet === undefined ? otherWallet([...known]) : undefined
        if (other !== undefined && !ignore.some(isSame(other)))
          refuseForm(start, `owner and ${other} could both be the wallet: say which with --wallet-column`)
        if (fields.isRaw && options.decimals !== undefined) refuseForm(start, RAW_ACCOUNTS)
      }
      keeper ??= new EntryKeeper(scanner, rows, faults, options.decimals)
      const isFirst = unread === undefined
      unread ??= new UnreadColumns([], fields.isRaw ? TOKEN_ACCOUNT_FORM : RECIPIENT_FORM, {
        choices,
        refuse: (...fault) => faults.refuseColumn(...fault),
      })
      if (isFirst || known.size > before) unread.watch(fields.watched)
      const all = [...known]
      const isRead = unread.isRead({
        offset: start,
        text: (cell) => textOf(scanner, cells.get(all[cell] ?? '')),
        offsetOf: (cell) => cells.get(all[cell] ?? '')?.start ?? start,
      })
      if (!isRead) continue
      const { read } = fields
      const [wallet, amount] = [cells.get(read.wallet), cells.get(read.amount)]
      const missing = wallet === undefined ? read.wallet : read.amount
      if (wallet === undefined || amount === undefined) faults.refuse(start, () => `the field ${missing} is missing`)
      else if (scanner.bytes[wallet.start] !== QUOTE) faults.refuse(wallet.start, () => 'the wallet must be a string')
      else {
        const text = scanner.value(wallet.start, wallet.end) as string
        keeper.keep(text, wallet.start, { amount, locked: cells.get(read.locked ?? '') })
      }
    } while (scanner.take(COMMA))
    scanner.expect(CLOSE_BRACKET)
    unread?.finish()
  }
  const settled = rows.settle(duplicates, faults.ofDuplicates(rows))
  faults.throwIfAny()
  const { read = {}, ignored = [], overruled = [] } = fields ?? {}
  return {
    ...settled,
    isRaw: fields?.isRaw ?? false,
    columns: { read, ignored, overruled: [...outer, ...overruled] },
    paidRows: unread?.leftOut ?? 0,
  }
}

/** A field around the list that names the address of a token. */
interface NamedToken {
  name: string
  text: string
  offset: number
}

/**
 * Where arrays of objects or wallets begin, down to three objects deep, the names of the outermost object, and the tokens
 * that fields around the arrays name.
 */
function arraysOf(bytes: Uint8Array): { arrays: number[]; names: string[]; tokens: NamedToken[] } {
  const scanner = new JsonScanner(bytes, refuseJson)
  const arrays: number[] = []
  const names: string[] = []
  const tokens: NamedToken[] = []
  const visit = (depth: number, name = '') => {
    const byte = scanner.peek()
    const { position } = scanner
    if (byte === OPEN_BRACE && depth < MAX_DEPTH) {
      return eachMember(scanner, (name) => {
        if (depth === 0) names.push(name)
        visit(depth + 1, name)
      })
    }
    scanner.skipValue()
    if (byte === QUOTE && roleOf(name) === 'token') {
      const text = String(scanner.value(position, scanner.position)).trim()
      if (walletKey(text) !== undefined) tokens.push({ name, text, offset: position })
    }
    if (byte === OPEN_BRACKET && (depth === 0 || isListAt(scanner, position))) arrays.push(position)
  }
  visit(0)
  scanner.expectEnd()
  return { arrays, names, tokens }
}

/** Whether the array there begins with an object, or with the text of a wallet. */
function isListAt({ bytes }: JsonScanner, array: number): boolean {
  let first = array + 1
  while ((bytes[first] ?? QUOTE) <= 32) first++
  if (bytes[first] !== QUOTE) return bytes[first] === OPEN_BRACE
  const text = bytes.subarray(first + 1, first + 46)
  const end = text.indexOf(QUOTE)
  return end > 0 && walletKey(Buffer.from(text.subarray(0, end)).toString('latin1')) !== undefined
}

/** The text of a value: a string without its quotes, nothing for null. */
function textOf(scanner: JsonScanner, cell: JsonCell | undefined): string {
  if (cell === undefined) return ''
  if (scanner.bytes[cell.start] === QUOTE) return String(scanner.value(cell.start, cell.end)).trim()
  const text = scanner.text(cell.start, cell.end)
  return text === 'null' ? '' : text
}

/** A field of a token account that names a wallet beside its owner. */
const otherWallet = (names: readonly string[]) =>
  names.find((name) => roleOf(name) === 'wallet' && !OF_TOKEN_ACCOUNT.includes(plainName(name)))

/** Determines what each field is, by the names that a CSV's header may have. */
function fieldsOf(names: readonly string[], choices: ColumnChoices, refuse: (message: string) => never): Fields {
  // An object with a mint and an owner is a token account, and no key can sign for its address.
  const isRaw = names.includes('owner') && names.includes('mint')
  const form = isRaw ? TOKEN_ACCOUNT_FORM : RECIPIENT_FORM
  const plan = planColumns(names, form, isRaw ? { ...choices, wallet: choices.wallet ?? 'owner' } : choices)
  if ('message' in plan) return refuse(`the JSON has the fields ${names.map(quoted).join(', ')}: ${plan.message}`)
  const { cells, ...rest } = plan
  const named = (role: 'wallet' | 'amount' | 'locked') => names[cells.get(role) ?? -1]
  const [wallet = '', amount = '', locked] = [named('wallet'), named('amount'), named('locked')]
  return { ...rest, read: { wallet, amount, ...(locked === undefined ? {} : { locked }) }, isRaw }
}

/** Adds entries to the rows, and refuses invalid ones. */
class EntryKeeper {
  private readonly scanner: JsonScanner
  private readonly rows: RowBuilder
  private readonly faults: PlacedFaults
  private readonly decimals: number | undefined

  constructor(scanner: JsonScanner, rows: RowBuilder, faults: PlacedFaults, decimals: number | undefined) {
    this.scanner = scanner
    this.rows = rows
    this.faults = faults
    this.decimals = decimals
  }

  /** Adds one entry, whose wallet is at the byte offset `at`. */
  keep(wallet: string, at: number, cells: { amount: JsonCell; locked?: JsonCell | undefined }): void {
    const { rows, faults } = this
    const text = Buffer.from(wallet)
    const isWallet = decodeKey(text, 0, text.length, rows.bytes, rows.at) && !isLowerCased(text, 0, text.length)
    if (!isWallet) faults.refuse(at, () => walletFault(wallet))
    const locked = new Uint8Array(LOCKED_BYTES)
    const areRead = [
      this.amount(cells.amount, 'amount', rows.bytes, rows.at + 32),
      cells.locked === undefined || this.amount(cells.locked, 'locked amount', locked, 0),
    ].every(Boolean)
    if (!isWallet || !areRead) return void rows.bytes.fill(0, rows.at, rows.at + RECORD_BYTES)
    if (!rows.lock(rows.count, locked)) {
      const sum = amountFrom(rows.bytes, rows.at + 32) + amountFrom(locked, 0)
      faults.refuse(at, () => `amount and locked amount add up to ${sum}, more than u64 holds`)
    }
    rows.append(at, text, 0, text.length)
  }

  private amount({ start, end }: JsonCell, name: string, out: Uint8Array, at: number): boolean {
    const { scanner, decimals, faults } = this
    const { bytes } = scanner
    const isText = bytes[start] === QUOTE
    if (isText && decimals !== undefined) {
      const message = `the ${name} is a string, which holds raw units; leave --decimals out, or write a number`
      faults.refuse(start, () => message)
      return false
    }
    const isNumber = /^[-\d]$/.test(String.fromCharCode(bytes[start] ?? 0))
    const status = isText
      ? readAmount(bytes, start + 1, end - 1, undefined, out, at)
      : isNumber
        ? readJsonNumber(bytes, start, end, decimals, out, at)
        : AMOUNT_STATUS.syntax
    if (status === AMOUNT_STATUS.ok) return true
    const written = scanner.text(isText ? start + 1 : start, isText ? end - 1 : end)
    faults.refuse(start, () =>
      status === AMOUNT_STATUS.unsafe
        ? `${name} ${quoted(written)} is past 2^53 - 1; write it as a string of digits`
        : cellFault(written, status, decimals, name),
    )
    return false
  }
}
