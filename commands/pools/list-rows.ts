/** Reads the list of `svc pools create --from`: a CSV or JSON with a launch in each row, and every fault with its place. */
import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { dirname, extname, resolve, sep } from 'node:path'
import { locate } from '../../src/merkle/csv-scanner.ts'
import { eachElement, eachMember, JsonScanner } from '../../src/platform/json-scanner.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import {
  type PlacedFault,
  type PlacedRow,
  type PlacedValue,
  placedProblem,
  readCsvRows,
  withLines,
} from '../lists/csv.ts'
import { readMintKeypair } from '../signing/mint-keypair.ts'
import { readBytes, reason } from '../ui/files.ts'
import { Problem, usage } from '../ui/problem.ts'
import { type PoolBody, solNumber } from './launch-body.ts'

/** Columns by the fields of a launch's body. */
const LIST_COLUMNS = {
  name: 'name',
  symbol: 'symbol',
  image: 'image',
  type: 'type',
  preset: 'preset',
  buy: 'buy_amount',
  description: 'description',
  website: 'website',
  twitter: 'twitter_url',
  telegram: 'telegram',
  unlocked_liquidity: 'lock_liquidity',
  mint_keypair: 'base_mint',
} as const
type ListColumn = keyof typeof LIST_COLUMNS
const NEEDED_COLUMNS: readonly ListColumn[] = ['name', 'symbol', 'image']
const CSV_COLUMNS = { all: Object.keys(LIST_COLUMNS), needed: NEEDED_COLUMNS }
const MAX_LAUNCHES = 500
const MAX_LIST_BYTES = 4 * 1024 * 1024
/** Most bytes of an image; in base64 and with the rest of its body it fits into a request. */
const MAX_IMAGE_BYTES = 11 * 1024 * 1024
/** A body with the smallest image, to check everything else. */
const CHECKED_WITH = { creator: WRAPPED_SOL, image: 'AAAA' }

export interface LaunchRow {
  line: number
  /** The symbol in capitals, which names the row in the journal. */
  symbol: string
  /** The fields of the request, without image and creator. */
  fields: Omit<PoolBody, 'image'>
  /** Path of the image, below the folder of the list. */
  image: string
  /** Path of the keypair file of the mint, also below it; null if the API makes the key. */
  mintKeypair: string | null
  /** SHA-256 of the fields and the image, in hex: a changed launch of the same symbol has another hash. */
  sha256: string
  /** Offset of the cell that a field of the request came from. */
  offsetOf(field: string | undefined): number
}

export interface LaunchList {
  file: string
  rows: LaunchRow[]
  /** The usage problem of faults in these rows, which names their places. */
  problem(faults: readonly { row: LaunchRow; field: string | undefined; message: string }[]): Problem
}

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
export async function readLaunchList(file: string): Promise<LaunchList> {
  const bytes = await readBytes(file)
  const faults: PlacedFault[] = []
  if (bytes.length > MAX_LIST_BYTES) {
    throw placedProblem(file, bytes, [{ offset: 0, message: `the file has more than ${MAX_LIST_BYTES} bytes` }])
  }
  const isJson = extname(file).toLowerCase() === '.json'
  const placed = isJson ? jsonRows(file, bytes) : readCsvRows(file, bytes, CSV_COLUMNS, faults)
  if (placed.length > MAX_LAUNCHES) {
    faults.push({
      offset: placed[MAX_LAUNCHES]?.offset ?? 0,
      message: `more than ${MAX_LAUNCHES} launches; split the list`,
    })
  }
  if (placed.length === 0 && faults.length === 0) faults.push({ offset: 0, message: 'no launches' })
  if (placed.length > MAX_LAUNCHES) throw placedProblem(file, bytes, faults)
  const rows = await launchRows({ file, bytes }, placed, faults)
  if (faults.length > 0) throw placedProblem(file, bytes, faults)
  return {
    file,
    rows: withLines(bytes, rows),
    problem: (found) =>
      placedProblem(
        file,
        bytes,
        found.map(({ row, field, message }) => ({ offset: row.offsetOf(field), message })),
      ),
  }
}

type PlacedObject = Pick<PlacedRow, 'fields' | 'offset'>

/** Reads a list of flat objects; fields that are null are left out. */
function jsonRows(file: string, bytes: Uint8Array): PlacedObject[] {
  const refuse = (offset: number, message: string): never => {
    throw placedProblem(file, bytes, [{ offset, message }])
  }
  const scanner = new JsonScanner(bytes, ({ offset, what }) => refuse(offset, what))
  const rows: PlacedObject[] = []
  eachElement(scanner, () => {
    const row: PlacedObject = { fields: new Map(), offset: scanner.position }
    eachMember(scanner, (name, at) => {
      if (row.fields.has(name)) refuse(at, `the field ${name} appears twice`)
      const { start, end } = scanner.cell()
      const value = scanner.value(start, end)
      if (value === null) return
      if (typeof value === 'object') refuse(start, `the ${name} must be a text, a number, true or false`)
      row.fields.set(name, { value: value as PlacedValue['value'], offset: start })
    })
    rows.push(row)
  })
  scanner.expectEnd()
  return rows
}

type OffsetRow = Omit<LaunchRow, 'line'> & { offset: number }

async function launchRows(
  { file, bytes }: { file: string; bytes: Uint8Array },
  placed: readonly PlacedObject[],
  faults: PlacedFault[],
): Promise<OffsetRow[]> {
  const { pools } = await import('../../src/api/pools.ts')
  const folder = await realpath(dirname(resolve(file)))
  const symbols = new Map<string, number>()
  const mints = new Map<string, number>()
  const rows: OffsetRow[] = []
  for (const { fields, offset } of placed) {
    const before = faults.length
    const offsetOf = (field: string | undefined) => {
      const column = Object.entries(LIST_COLUMNS).find(([, name]) => name === field)?.[0]
      return (column === undefined ? undefined : fields.get(column)?.offset) ?? offset
    }
    const refuse = (field: string | undefined, message: string) =>
      void faults.push({ offset: offsetOf(field), message })
    const strange = [...fields].find(([name]) => !Object.hasOwn(LIST_COLUMNS, name))
    if (strange !== undefined) {
      const [name, { offset }] = strange
      faults.push({ offset, message: `"${name}" is not a field; they are ${CSV_COLUMNS.all.join(', ')}` })
      continue
    }
    for (const column of NEEDED_COLUMNS) if (!fields.has(column)) refuse(undefined, `the ${column} is missing`)
    if (faults.length > before) continue
    const body = bodyOf(fields, refuse)
    const mint = await mintBelow(folder, fields.get('mint_keypair'), (message) => refuse('base_mint', message))
    if (mint !== null) {
      const first = mints.get(mint.address)
      const line = first === undefined ? undefined : locate(bytes, [first]).get(first)?.line
      if (line !== undefined)
        refuse('base_mint', `the mint ${mint.address} is that of line ${line}, and can exist only once`)
      mints.set(mint.address, first ?? offset)
      body.base_mint = mint.address
    }
    const issues = pools.create.body?.safeParse({ ...CHECKED_WITH, ...body }).error?.issues ?? []
    for (const { path, message } of issues) refuse(String(path[0] ?? ''), `the ${columnOf(path[0])} ${message}`)
    const symbol = String(body.symbol).toUpperCase()
    if (symbols.has(symbol)) refuse('symbol', `the symbol ${symbol} appears twice, and a ticker can be taken only once`)
    symbols.set(symbol, offset)
    const image = await imageBelow(folder, fields.get('image'), (message) => refuse('image', message))
    if (faults.length > before || image === null) continue
    const launched = body as unknown as LaunchRow['fields']
    const sha256 = sha256OfRow(launched, image.bytes)
    const mintKeypair = mint?.path ?? null
    rows.push({ fields: launched, symbol, image: image.path, mintKeypair, sha256, offsetOf, offset })
  }
  return rows
}

const columnOf = (field: PropertyKey | undefined): string =>
  Object.entries(LIST_COLUMNS).find(([, name]) => name === field)?.[0] ?? String(field ?? 'launch')

/** The fields of the request; a value of another kind stays as it is, and is refused by the schema. */
function bodyOf(fields: PlacedObject['fields'], refuse: (field: string, message: string) => void) {
  const body: Record<string, unknown> = {}
  for (const [column, { value }] of fields) {
    if (column === 'image' || column === 'mint_keypair') continue
    const field = LIST_COLUMNS[column as ListColumn]
    if (column === 'unlocked_liquidity') {
      if (value !== true && value !== false && value !== 'true' && value !== 'false') {
        refuse(field, 'the unlocked_liquidity must be true or false')
      } else if (String(value) === 'true') body[field] = false
    } else if (column === 'buy') {
      try {
        body[field] = solNumber(String(value), 'the buy')
      } catch (error) {
        refuse(field, (error as Error).message)
      }
    } else body[field] = value
  }
  return body
}

/** The path of a file that a row names. The list may come from a stranger, so nothing outside its folder is read. */
async function fileBelow(
  folder: string,
  what: string,
  given: PlacedValue | undefined,
  refuse: (message: string) => void,
): Promise<string | null> {
  if (typeof given?.value !== 'string') {
    refuse(`the ${what} must be a path`)
    return null
  }
  const path = await realpath(resolve(folder, given.value))
  if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep))
    refuse(`the ${what} is not below the folder of the list`)
  else if (!(await stat(path)).isFile()) refuse(`the ${what} is not a file`)
  else return path
  return null
}

async function imageBelow(
  folder: string,
  given: PlacedValue | undefined,
  refuse: (message: string) => void,
): Promise<{ path: string; bytes: Uint8Array } | null> {
  try {
    const path = await fileBelow(folder, 'image', given, refuse)
    if (path === null) return null
    const { size } = await stat(path)
    if (size === 0) refuse('the image is empty: it is PNG, JPEG, GIF or WebP')
    else if (size > MAX_IMAGE_BYTES) refuse(`the image has ${size} bytes, and may have ${MAX_IMAGE_BYTES}`)
    else return { path, bytes: await readBytes(path) }
  } catch (error) {
    refuse(`the image cannot be read: ${reason(error)}`)
  }
  return null
}

/** Where the key of a row's mint is, and its address; null without one. */
async function mintBelow(
  folder: string,
  given: PlacedValue | undefined,
  refuse: (message: string) => void,
): Promise<{ path: string; address: string } | null> {
  if (given === undefined) return null
  try {
    const path = await fileBelow(folder, 'mint_keypair', given, refuse)
    return path === null ? null : { path, address: (await readMintKeypair(path)).address }
  } catch (error) {
    const next = error instanceof Problem ? error.next : undefined
    const why = error instanceof Problem ? error.message : `the mint_keypair cannot be read: ${reason(error)}`
    refuse(next === undefined ? why : `${why}: ${next}`)
  }
  return null
}

/** The same for the same fields, in whatever order the columns of the file are. */
function sha256OfRow(fields: LaunchRow['fields'], image: Uint8Array): string {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).update(image).digest('hex')
}

/**
 * The secret keys that sign a row besides the keypair: that of its mint, read anew. Throws a usage problem if the file
 * has another key than when the list was read.
 */
export async function readMintKeys({ fields, mintKeypair }: LaunchRow): Promise<number[][]> {
  if (mintKeypair === null) return []
  const { address, secretKey } = await readMintKeypair(mintKeypair)
  if (address !== fields.base_mint) throw changedFile(mintKeypair)
  return [secretKey]
}

const changedFile = (file: string) =>
  usage(`${file} has changed since the list was read`, { next: 'run the same command again' })

/** The whole body of a row, with its image as it is now. Throws a usage problem if that has changed. */
export async function bodyOfRow({ fields, image, sha256 }: LaunchRow): Promise<PoolBody> {
  const bytes = await readBytes(image)
  if (sha256OfRow(fields, bytes) !== sha256) throw changedFile(image)
  return { ...fields, image: Buffer.from(bytes).toString('base64') }
}
