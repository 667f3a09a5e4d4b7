/** `svc airdrops snapshot`: a list of recipients from the holders of a token or of the assets of a collection at one slot. */

import type { HolderSnapshot } from '../../src/api/holder-snapshots.ts'
import { paths } from '../../src/api/paths.ts'
import { type Allocation, type AllocationRule, allocate } from '../../src/merkle/allocation/allocate.ts'
import { AllocationFault } from '../../src/merkle/allocation/fault.ts'
import { type Formula, parseFormula } from '../../src/merkle/allocation/formula.ts'
import { areSorted, type HolderRows, holderRows } from '../../src/merkle/allocation/holder-rows.ts'
import { MOST_LIST_BYTES, parseAddressList, parseTiers, parseUnits } from '../../src/merkle/allocation/input-lines.ts'
import { recipientCsv, sha256Hex } from '../../src/merkle/allocation/recipient-list.ts'
import { MAX_DECIMALS } from '../../src/merkle/amounts.ts'
import { writeAtomically } from '../../src/platform/files.ts'
import { shellQuoted } from '../../src/platform/shell-quoted.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { choiceOf, integer, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { amountWords } from '../merkle/list-units.ts'
import { requestOnce } from '../signing/requests.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { readBytes, reason } from '../ui/files.ts'
import { failure, nullIfNotFound, Problem, usage } from '../ui/problem.ts'
import { jsonText } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import type { Ui } from '../ui/ui.ts'
import { REASONS, reportMarkdown, type SnapshotReport, snapshotReport } from './snapshot-report.ts'

// The flags that say who gets what, and the files that they name, as the rule of an allocation.

const ruleFlags = {
  total: text('Divide this sum in proportion to balances, or to what the formula gives', { placeholder: 'AMOUNT' }),
  equal: text('The same for everybody', { placeholder: 'AMOUNT', conflicts: ['total', 'tiers', 'formula'] }),
  tiers: text('CSV of from,to,amount: what a balance from FROM to below TO gets', {
    placeholder: 'FILE',
    conflicts: ['total', 'formula'],
  }),
  formula: text('File with a formula: what a balance gets, such as min(balance * 2, 1000)', { placeholder: 'FILE' }),
  decimals: integer('Decimals of the token to be given: amounts and balances are whole tokens', {
    min: 0,
    max: MAX_DECIMALS,
  }),
  raw: toggle('Amounts and balances are raw units; either this or --decimals is needed', {
    conflicts: ['decimals'],
  }),
  min: text('Least balance that counts', { placeholder: 'BALANCE' }),
  exclude: text('File of addresses that get nothing, one a line', { placeholder: 'FILE' }),
  include: text('File of addresses that count although they are not wallets, such as vaults of multisigs', {
    placeholder: 'FILE',
  }),
}

interface RuleValues {
  total: string | undefined
  equal: string | undefined
  tiers: string | undefined
  formula: string | undefined
  decimals: number | undefined
  raw: boolean
  min: string | undefined
  exclude: string | undefined
  include: string | undefined
}

interface ReadRule {
  rule: AllocationRule
  min: bigint
  /** Addresses by their bytes, with the line of each. */
  excluded: Map<string, number>
  included: Map<string, number>
  /** Fractional digits of balances and of amounts in flags and files. */
  units: { balance: number; amount: number }
}

/**
 * The rule with its units, asked on a terminal. The token to be given may be another one than the held one, so nothing
 * on chain says how amounts are meant.
 */
async function ruleWithUnits(values: RuleValues, ui: Ui): Promise<RuleValues> {
  const { decimals, raw } = values
  if (raw || decimals !== undefined) return values
  if (!ui.interactive) {
    throw usage('say whether amounts and balances are whole tokens or raw units', {
      param: '--decimals',
      next: 'add --decimals N, those of the token to be given, or --raw',
    })
  }
  const check = (answer: string) =>
    answer === 'raw' || (/^\d{1,2}$/.test(answer) && Number(answer) <= MAX_DECIMALS)
      ? undefined
      : `Type a number from 0 to ${MAX_DECIMALS}, or raw`
  const message = 'Decimals of the token to be given, so that amounts are whole tokens (or raw, for raw units)'
  const answer = await ui.ask({ message, check })
  ui.note(`Without this question: ${answer === 'raw' ? '--raw' : `--decimals ${answer}`}`)
  return answer === 'raw' ? { ...values, raw: true } : { ...values, decimals: Number(answer) }
}

/** The flags that make a rule; only a total can be combined with a formula. */
const RULES = ['total', 'equal', 'tiers', 'formula']

/** What the files say, except tiers: these need the decimals of the held token. */
interface RuleSources extends Pick<ReadRule, 'excluded' | 'included'> {
  formula: Formula | null
  /** Text and name of the file with tiers. */
  tiers: { content: string; name: string } | null
}

/** Reads every file. Throws usage problems `FILE:LINE:COLUMN: what`. */
async function readRuleSources({ tiers, formula, exclude, include }: RuleValues): Promise<RuleSources> {
  const addresses = async (file: string | undefined) =>
    file === undefined ? new Map<string, number>() : parsedFile(await readSource(file), parseAddressList)
  return {
    formula: formula === undefined ? null : parsedFile(await readSource(formula), parseFormula),
    tiers: tiers === undefined ? null : await readSource(tiers),
    excluded: await addresses(exclude),
    included: await addresses(include),
  }
}

/** `decimals` are those of what is held. Throws usage problems that name the flag, or the place in a file. */
function ruleFrom(values: RuleValues, { formula, tiers, ...lists }: RuleSources, decimals: number): ReadRule {
  const { total, equal, min } = values
  const units =
    values.decimals === undefined ? { balance: 0, amount: 0 } : { balance: decimals, amount: values.decimals }
  const ruleOf = (): AllocationRule => {
    if (total !== undefined)
      return { kind: 'total', total: amountFlag('--total', total, units.amount), weights: formula }
    if (equal !== undefined) return { kind: 'equal', amount: amountFlag('--equal', equal, units.amount) }
    if (tiers !== null) return { kind: 'tiers', tiers: parsedFile(tiers, (content) => parseTiers(content, units)) }
    if (formula !== null) return { kind: 'formula', formula }
    throw new Error('a rule was required before')
  }
  return { rule: ruleOf(), min: min === undefined ? 0n : parsedFlag('--min', min, units.balance), units, ...lists }
}

function amountFlag(flag: string, value: string, decimals: number): bigint {
  const amount = parsedFlag(flag, value, decimals)
  if (amount === 0n) throw usage(`${flag} must be above 0`, { param: flag })
  return amount
}

function parsedFlag(flag: string, value: string, decimals: number): bigint {
  try {
    return parseUnits(value, decimals)
  } catch (error) {
    if (!(error instanceof AllocationFault)) throw error
    const next = decimals === 0 ? { next: 'with --decimals amounts are whole tokens' } : {}
    throw usage(`${flag}: ${error.message}`, { param: flag, ...next })
  }
}

async function readSource(file: string): Promise<{ content: string; name: string }> {
  const name = file === '-' ? 'stdin' : file
  const bytes = await readBytes(file)
  if (bytes.length > MOST_LIST_BYTES)
    throw usage(`${name} is larger than ${MOST_LIST_BYTES} bytes: is it the right file?`)
  try {
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(bytes), name }
  } catch {
    throw usage(`${name} is not a text in UTF-8`)
  }
}

function parsedFile<T>({ content, name }: { content: string; name: string }, parse: (content: string) => T): T {
  try {
    return parse(content)
  } catch (error) {
    if (error instanceof AllocationFault) throw ruleProblem(error, name)
    throw error
  }
}

/** The usage problem of a rule, with its place in the file. */
function ruleProblem({ message, at }: AllocationFault, file: string | undefined) {
  return usage(file === undefined || at === undefined ? message : `${file}:${at.line}:${at.column}: ${message}`)
}

// Has the API read the holders of a token or a collection, or takes a stored snapshot, and fetches their rows.

interface SnapshotChoices {
  owners: 'all' | 'off_curve'
  allow_confidential: boolean
}

const SNAPSHOT_ID = /^hsn_[A-Za-z0-9_-]+$/
/** The API reads for minutes at most; a request that got no answer is repeated under its key meanwhile. */
const READING_PAUSES_MS = Array.from({ length: 120 }, () => 5_000)

/** `of` is a mint, a collection of Metaplex Core, or the id of a stored snapshot. */
async function takeSnapshot(session: Session, of: string, choices: SnapshotChoices): Promise<HolderSnapshot> {
  if (SNAPSHOT_ID.test(of)) return (await session.client.holderSnapshots.get({ id: of })).data
  const address = await heldAddress(session, of)
  return requestOnce(session, {
    idempotencyKey: crypto.randomUUID(),
    pauses: READING_PAUSES_MS,
    waiting: 'the holders are read',
    interrupted: 'The API may still be reading: see GET /v2/holder-snapshots',
    call: async (options) => (await session.client.holderSnapshots.create({ ...address, ...choices }, options)).data,
    answeredErrorIsOpen: false,
    unknownResult: (error) =>
      failure(`${error.message}; whether the holders were read is not known`, {
        next: 'run it again, or take the id of GET /v2/holder-snapshots in place of the address',
        cause: error,
      }),
  })
}

/** The owner of an account shows what the address is. */
async function heldAddress({ client }: Session, of: string): Promise<{ mint: string } | { collection: string }> {
  const account = await nullIfNotFound(client.accounts.get({ address: of }))
  if (account === null)
    throw new Problem('not_found', `there is no account at ${of}`, { next: 'check address and cluster' })
  const { owner } = account.data
  if (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM) return { mint: of }
  if (owner === PROGRAMS.core.id) return { collection: of }
  throw usage(`${of} is neither a mint nor a collection of Metaplex Core: its account is of the program ${owner}`, {
    param: '<of>',
  })
}

/** Fetches all rows, and checks their hash, order and number. */
async function snapshotRows({ client, ui }: Session, snapshot: HolderSnapshot): Promise<HolderRows> {
  const bar = ui.progress('Reading the holders')
  const pieces: Buffer[] = []
  for (let n = 0; n < snapshot.pieces; n++) {
    const { data } = await client.holderSnapshots.piece({ id: snapshot.id, n: String(n) })
    pieces.push(Buffer.from(data.bytes, 'base64'))
    bar(n + 1, snapshot.pieces)
  }
  ui.clear()
  const bytes = Buffer.concat(pieces)
  const isWhole = sha256Hex(bytes) === snapshot.holders_sha256
  const rows = isWhole ? holderRows(bytes) : undefined
  if (rows === undefined || rows.count !== snapshot.holders || !areSorted(rows)) {
    throw failure(`the holders of ${snapshot.id} do not match its record`, {
      next: 'take a new snapshot, and check the database: `svc doctor`',
    })
  }
  return rows
}

/** Reasons that the summary shows by name. */
const SHOWN_REASONS = 12

export const airdropSnapshotVerb = verb({
  about: 'Make a list of recipients from the holders of a token or a collection',
  details:
    'Everything is read at one finalized slot, and refused if it does not add up to the supply. Pools, curves, airdrops, locks and other accounts of programs get nothing. FILE gets wallet,amount in raw units, sorted by address, for `svc merkle build` and `svc airdrops launch --raw`. FILE.report.json beside it says how the list was made and who was left out; FILE.report.md says the same for people.',
  calls: [
    paths.accounts.get,
    paths.holderSnapshots.create,
    paths.holderSnapshots.get,
    paths.holderSnapshots.piece,
    paths.service.cluster,
  ],
  args: { of: required(text('Mint, collection of Metaplex Core, or id of a stored snapshot')) },
  flags: {
    ...ruleFlags,
    owners: choiceOf(['all', 'off-curve'], 'Whose accounts are read to find programs (default all)', {
      'off-curve': 'addresses that no key can sign for',
    }),
    allow_confidential: toggle('Treat the missing part of the supply as confidential balances'),
    out: required(text('CSV to write', { placeholder: 'FILE' })),
    replace: toggle('Replace the file and its reports if they exist'),
  },
  needs: [RULES],
  examples: [
    'svc airdrops snapshot 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --total 1000000 --decimals 6 --min 10 --out list.csv',
    'svc airdrops snapshot ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq --equal 500 --decimals 6 --out list.csv',
    'svc airdrops snapshot hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C --formula rule.txt --decimals 6 --exclude team.csv --out list.csv',
  ],
  async run({ of, out, replace, owners, allow_confidential, ...given }, session) {
    if (out === '-') throw usage('--out must name a file: its reports are written beside it', { param: '--out' })
    const files = filesOf(out)
    if (!replace) await refuseExisting(Object.values(files))
    const values = await ruleWithUnits(given, session.ui)
    // Faults of the files are reported first, because reading the chain takes minutes.
    const sources = await readRuleSources(values)
    if (values.decimals === undefined) ruleFrom(values, sources, 0)
    const snapshot = await takeSnapshot(session, of, {
      owners: owners === 'off-curve' ? 'off_curve' : 'all',
      allow_confidential,
    })
    const rule = ruleFrom(values, sources, snapshot.decimals ?? 0)
    const rows = await snapshotRows(session, snapshot)
    const allocation = allocated(rows, rule, BigInt(snapshot.supply), values)
    const csv = recipientCsv(rows, allocation)
    const report = snapshotReport({
      cluster: await session.cluster(),
      snapshot,
      rows,
      allocation,
      rule: givenRule(values),
      sha256: sha256Hex(csv),
      excluded: rule.excluded,
      included: rule.included,
    })
    write(files.json, `${jsonText(report)}\n`)
    write(files.markdown, reportMarkdown(report, values.decimals))
    write(files.csv, csv)
    const { holders_left_out: _, ...data } = report
    const paid = allocation.amounts.filter((amount) => amount > 0n)
    const words = amountWords([paid], { decimals: values.decimals ?? null, symbol: null })
    return {
      data: { file: files.csv, report: files.json, ...data },
      text: summary(report, files.csv, words),
    }
  },
})

const filesOf = (csv: string) => {
  const stem = csv.replace(/\.csv$/i, '')
  return { csv, json: `${stem}.report.json`, markdown: `${stem}.report.md` }
}

async function refuseExisting(files: readonly string[]): Promise<void> {
  const { existsSync } = await import('node:fs')
  const there = files.find((file) => existsSync(file))
  if (there !== undefined)
    throw usage(`${there} already exists`, { param: '--out', next: 'name another file, or add --replace' })
}

function allocated(rows: HolderRows, rule: ReadRule, supply: bigint, { formula }: RuleValues): Allocation {
  try {
    return allocate({ rows, supply, ...rule })
  } catch (error) {
    if (error instanceof AllocationFault) throw ruleProblem(error, formula)
    throw error
  }
}

const givenRule = (values: RuleValues): Record<string, string | number | null> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined || typeof value === 'boolean' ? [] : [[name, value]],
    ),
  )

function write(file: string, content: string | Uint8Array): void {
  try {
    writeAtomically(file, content, { mode: 0o644 })
  } catch (error) {
    throw usage(`${file} cannot be written: ${reason(error)}`, { param: '--out' })
  }
}

function summary({ snapshot, list, left_out }: SnapshotReport, file: string, words: string): string {
  const balance = (raw: string) => groupedDecimalOf(BigInt(raw), snapshot.decimals ?? 0)
  const lines = fieldLines([
    ['SNAPSHOT', snapshot.id],
    ['SLOT', `${snapshot.slot}${snapshot.block_time === null ? '' : ` (${timeText(snapshot.block_time)})`}`],
    ['SUPPLY', balance(snapshot.supply)],
    ['HOLDERS', String(snapshot.holders)],
    ['RECIPIENTS', words],
    ['LEFT OUT', `${left_out.count}, who hold ${balance(left_out.balance)}`],
    ...left_out.by_reason
      .slice(0, SHOWN_REASONS)
      .map(({ why, count, balance: held }): [string, string] => [
        '',
        `${count} · ${REASONS[why] ?? why} · ${balance(held)}`,
      ]),
    ['FILE', file],
    ['SHA-256', list.sha256],
    ['NEXT', `svc airdrops launch ${shellQuoted(file)} --mint MINT --raw`],
  ])
  return lines.join('\n')
}
