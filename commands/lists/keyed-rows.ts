/** Plans a list whose rows each make one account on chain: the key of the account follows from the row's content. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Session } from '../cli/session.ts'
import type { Demand } from '../signing/demanded-calls.ts'
import { nullIfNotFound, usage } from '../ui/problem.ts'
import { fieldsOf, type JournalFields, ListJournal } from './journal.ts'
import type { CallerRequest } from './key-trust.ts'
import { type DoneInJournal, doubtsAbout } from './proof.ts'
import type { JournalHead } from './propose-rows.ts'
import { SIGNED_EXPIRY_MS } from './until-ended.ts'
import { accountsOf, inRequests } from './wallet-rows.ts'

/** A row whose account may be made. Journals of older versions have only the name and `at`. */
export interface BegunRow {
  /** Its name for messages, in the field that `KeyedKind` names. */
  [label: string]: unknown
  /** When its transaction was signed or requested last, in Unix milliseconds. */
  at: number
  /** The transaction that was sent last; null before the first is signed. */
  signature?: string | null
  /** Whether the account was seen on chain. It may be closed since. */
  isMade?: boolean
  /** What the platform wallet was asked, until it is known to have failed. */
  request?: CallerRequest | null
  /** The account, if the API has chosen its key. */
  account?: string | null
}

// biome-ignore lint/suspicious/noExplicitAny: the terms of each list are its own
export type KeyedJournal = ListJournal<any, BegunRow>

/** What the rows of a command are, and what it does to each. */
export interface KeyedKind {
  /** `mint`, `minted` and `Minting`. */
  verb: string
  done: string
  doing: string
  /** What marks its journals, such as `svc-nft-mints`, and the command that writes them. */
  journal: string
  command: string
  /** The field of a row that names it in the journal, and its name in messages. */
  label: string
  nameOf(label: string): string
  /** The program that owns an account that was made. */
  program: string
  /** The address of the account that this key gives. */
  accountOf(session: Session, key: string): Promise<string> | string
}

/** What may be the same in every run of a list, as messages call it. */
const TERM_NAMES = {
  mint: 'the mint',
  collection: 'the collection',
  payer: 'the keypair',
  cluster: 'the cluster',
  terms: 'the terms',
  signer: 'the signer',
}
/** Those of one list; null if unknown. */
export type KeyedTerms = { [Name in keyof typeof TERM_NAMES]?: string | null }

export const keyedJournal = (
  file: string,
  terms: KeyedTerms,
  { journal: kind, command, verb, doing, label }: KeyedKind,
  own?: JournalHead,
): KeyedJournal =>
  new ListJournal<Record<string, string | null>, BegunRow>(
    file,
    { ...terms },
    {
      kind,
      command,
      doing: doing.toLowerCase(),
      names: TERM_NAMES,
      anew: `${verb} the list as a new one`,
      loss: `another --journal ${verb}s every row again`,
      first: () => ({ seed: randomBytes(32).toString('hex'), ...own?.first }),
      isHead: (head) => /^[0-9a-f]{64}$/.test(String(head.seed)) && own?.isHead(head) !== false,
      isEntry: ({ at, signature, isMade, request, account, ...entry }) =>
        typeof entry[label] === 'string' &&
        Number.isSafeInteger(at) &&
        isTextOrNone(signature) &&
        isTextOrNone(account) &&
        (isMade === undefined || typeof isMade === 'boolean') &&
        (isNone(request) || isRequest(fieldsOf(request))),
    },
  )

const isNone = (value: unknown) => value === undefined || value === null
const isTextOrNone = (value: unknown) => isNone(value) || typeof value === 'string'
const isRequest = ({ key, at, signature }: JournalFields) =>
  typeof key === 'string' && Number.isSafeInteger(at) && isTextOrNone(signature)

export type RowStatus = 'to do' | 'done' | 'there already' | 'submitted' | 'unknown' | 'failed'

export type PlannedRow<R> = R & {
  /** Names the row in the journal. */
  id: string
  /** The key that gives the account its address; the same row has the same key in every run. */
  key: { address: string; secretKey: number[] }
  /** Null if the API chooses the key, and has not yet. */
  account: string | null
  status: RowStatus
  error: string | null
}

/**
 * The rows with their ids: a row's content and the number of equal rows before it, so that rows may be added and
 * reordered between runs.
 */
export function withIds<R>(rows: readonly R[], contentOf: (row: R) => readonly unknown[]): (R & { id: string })[] {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const text = JSON.stringify(contentOf(row))
    const before = counts.get(text) ?? 0
    counts.set(text, before + 1)
    return { ...row, id: `${before}:${text}` }
  })
}

interface ListToPlan<R> {
  kind: KeyedKind
  journal: KeyedJournal
  contentOf(row: R): readonly unknown[]
  listed: readonly R[]
  /** Whether the API chooses the keys, because the platform wallet signs. */
  isSigned?: boolean
  /** What this run has seen before: what the chain has proven is not read again. */
  before?: readonly PlannedRow<R>[]
  /** What the transaction of a row must have done. */
  demand(row: R, made: { account: string; key: string | null }): Promise<Demand>
  /** Whether a row counts whose transaction no node has. */
  isTrusted?: boolean | undefined
}

/**
 * The rows with their state. Throws a usage problem if a row that was begun has been changed or removed, because it
 * would be made again.
 */
export async function planKeyedRows<R>(session: Session, list: ListToPlan<R>): Promise<PlannedRow<R>[]> {
  const { kind, journal, listed, before = [], isSigned = false } = list
  const keyed = withIds(listed, list.contentOf)
  await refuseGone(session, list, new Set(keyed.map(({ id }) => id)))
  const rows = await Promise.all(
    keyed.map(async (row, i): Promise<PlannedRow<R>> => {
      const begun = journal.entries.get(row.id)
      const key = await keyOf(session, journal, row.id)
      const account = isSigned ? (begun?.account ?? null) : await kind.accountOf(session, key.address)
      const { status = 'to do', error = null } = before[i] ?? {}
      const isKnown = status === 'there already' || status === 'unknown'
      return { ...row, key, account, ...(isKnown ? { status, error } : { status: 'to do', error: null }) }
    }),
  )
  const unknown = rows.filter(({ status }) => status === 'to do')
  const isRecorded = ({ id }: PlannedRow<R>) => journal.entries.get(id)?.isMade === true
  const open = unknown.filter((row) => !isRecorded(row))
  const made = await madeOf(
    session,
    kind,
    open.map(({ id, account }) => ({ account, signature: journal.entries.get(id)?.signature })),
    session.ui.progress('Reading the chain'),
  )
  session.ui.clear()
  const seen = new Set(open.filter((_, i) => made[i] === true))
  const there = unknown.filter((row) => isRecorded(row) || seen.has(row))
  const doubts = await doubtsAbout(
    session,
    there.map((row) => doneRow(row, list)),
    list,
  )
  for (const row of there) {
    const doubt = doubts.get(row.id)
    Object.assign(row, doubt === undefined ? { status: 'there already' } : { status: 'unknown', error: doubt })
  }
  return rows
}

/** A row whose account exists, as the journal says it was made. */
export function doneRow<R>(
  row: PlannedRow<R>,
  { journal, isSigned = false, demand }: Pick<ListToPlan<R>, 'journal' | 'isSigned' | 'demand'>,
): DoneInJournal {
  const { signature, request } = journal.entries.get(row.id) ?? {}
  const made = { account: row.account ?? '', key: isSigned ? null : row.key.address }
  return { id: row.id, signatures: [signature ?? request?.signature ?? []].flat(), demand: () => demand(row, made) }
}

/** The key of a row, from the seed of the journal. */
const keyOf = ({ wallet }: Session, { head }: KeyedJournal, id: string) =>
  wallet.derive(
    createHmac('sha256', Buffer.from(String(head.seed), 'hex'))
      .update(id)
      .digest(),
  )

async function refuseGone<R>(
  session: Session,
  { kind, journal, isSigned = false }: ListToPlan<R>,
  listed: ReadonlySet<string>,
): Promise<void> {
  const gone = await Promise.all(
    [...journal.entries]
      .filter(([id]) => !listed.has(id))
      .map(async ([id, { account: known = null, ...begun }]) => {
        const own = async () => kind.accountOf(session, (await keyOf(session, journal, id)).address)
        return { ...begun, name: kind.nameOf(String(begun[kind.label])), account: isSigned ? known : await own() }
      }),
  )
  const seen = await madeOf(
    session,
    kind,
    gone.map((row) => (row.isMade === true ? { account: null } : row)),
  )
  const [one, ...others] = gone.filter(({ isMade }, i) => isMade === true || seen[i] === true)
  if (one !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more`
    throw usage(`${one.name} was ${kind.done} (${one.account}${more}), and the CSV has no such row any more`, {
      param: '--from',
      next: `put the row back as it was; rows may be added. They are all in ${journal.file}. To ${kind.verb} a list as a new one, name another --journal`,
    })
  }
  const now = session.clock.now()
  const [latest] = gone.toSorted((a, b) => lastOf(b) - lastOf(a))
  if (latest === undefined || lastOf(latest) + SIGNED_EXPIRY_MS <= now) return
  const seconds = Math.ceil((lastOf(latest) + SIGNED_EXPIRY_MS - now) / 1000)
  throw usage(`${latest.name} of an earlier run is not in the CSV any more, and may still be ${kind.done}`, {
    param: '--from',
    next: `put the row back as it was${Number.isFinite(seconds) ? `, or run it again in ${seconds} seconds` : ''}`,
  })
}

/** When a row may have been signed last; never over for a request whose answer is not known. */
const lastOf = ({ at, request }: Pick<BegunRow, 'at' | 'request'>) =>
  request && request.signature === null ? Number.POSITIVE_INFINITY : at

interface Sought {
  account: string | null
  signature?: string | null | undefined
}

/** Which accounts the chain has, or had: a run that was killed could not record them. */
async function madeOf(
  session: Session,
  { program }: KeyedKind,
  rows: readonly Sought[],
  bar: (done: number, total: number) => void = () => undefined,
): Promise<boolean[]> {
  const made: boolean[] = []
  for (const part of inRequests(rows)) {
    const addresses = part.flatMap(({ account }) => account ?? [])
    const accounts = await accountsOf(session, addresses)
    const owners = new Map(addresses.map((address, i) => [address, accounts[i]?.owner]))
    for (const { account, signature = null } of part) {
      made.push((account !== null && owners.get(account) === program) || (await hasLanded(session, signature)))
    }
    bar(made.length, rows.length)
  }
  return made
}

/** Whether the account is on chain, or its transaction has landed: it may be closed already. False if unknown. */
export const isMade = (session: Session, kind: KeyedKind, row: Sought): Promise<boolean> =>
  madeOf(session, kind, [row]).then(
    ([made]) => made === true,
    () => false,
  )

async function hasLanded({ client }: Session, signature: string | null): Promise<boolean> {
  if (signature === null) return false
  const found = await nullIfNotFound(client.transactions.get({ signature }))
  return found?.data.lifecycle === 'confirmed' || found?.data.lifecycle === 'finalized'
}
