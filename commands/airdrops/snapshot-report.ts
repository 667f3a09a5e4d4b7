/** Reports how a list was made: where it was read, by which rule, who was left out and why; as JSON and as Markdown. */
import type { HolderSnapshot } from '../../src/api/holder-snapshots.ts'
import { ALLOCATION_OUTCOMES, type Allocation, type AllocationOutcome } from '../../src/merkle/allocation/allocate.ts'
import type { HolderKind } from '../../src/merkle/allocation/holder-kinds.ts'
import { type HolderRows, holderAddress, holderAt, NO_PROGRAM } from '../../src/merkle/allocation/holder-rows.ts'
import { keyToBase58 } from '../../src/merkle/base58.ts'
import { byteKey } from '../../src/solana/addresses.ts'
import { decimalOf } from '../cli/amounts.ts'

/** The most left-out addresses that the Markdown lists. */
const MOST_MARKDOWN_ROWS = 100

interface LeftOut {
  wallet: string
  balance: string
  kind: HolderKind
  program: string | null
  frozen: boolean
  why: Exclude<AllocationOutcome, 'kept'>
}

export interface SnapshotReport {
  format: 'svc-holder-list/1'
  cluster: string | null
  snapshot: Omit<HolderSnapshot, 'external_uid' | 'metadata' | 'pieces' | 'programs'>
  rule: Record<string, string | number | null>
  list: { sha256: string; recipients: number; total: string }
  left_out: { count: number; balance: string; by_reason: { why: string; count: number; balance: string }[] }
  /** Addresses of --exclude and --include that hold nothing. */
  without_balance: { exclude: number; include: number }
  /** Recipients of whom an account is frozen. */
  frozen_recipients: number
  holders_left_out: LeftOut[]
}

interface Reported {
  cluster: string | null
  snapshot: HolderSnapshot
  rows: HolderRows
  allocation: Allocation
  /** Flags as they were given. */
  rule: Record<string, string | number | null>
  sha256: string
  excluded: ReadonlyMap<string, number>
  included: ReadonlyMap<string, number>
}

/** The largest balances first; among equal ones by address. */
export function snapshotReport({
  cluster,
  snapshot,
  rows,
  allocation,
  rule,
  sha256,
  excluded,
  included,
}: Reported): SnapshotReport {
  const { external_uid: _, metadata: __, pieces: ___, programs, ...about } = snapshot
  const out: { index: number; balance: bigint; leftOut: LeftOut }[] = []
  const sums = new Map<string, { count: number; balance: bigint }>()
  const held = new Set<string>()
  let frozen = 0
  for (let i = 0; i < rows.count; i++) {
    const key = byteKey(holderAddress(rows, i))
    if (excluded.has(key) || included.has(key)) held.add(key)
    const { amount, kind, isFrozen, program } = holderAt(rows, i)
    const why = ALLOCATION_OUTCOMES[allocation.outcomes[i] ?? 0] ?? 'kept'
    if (why === 'kept') {
      if (isFrozen) frozen++
      continue
    }
    const reason = why === 'kind' ? kind : why
    const sum = sums.get(reason) ?? { count: 0, balance: 0n }
    sums.set(reason, { count: sum.count + 1, balance: sum.balance + amount })
    const named = program >= NO_PROGRAM ? null : (programs[program] ?? null)
    const wallet = keyToBase58(holderAddress(rows, i))
    out.push({
      index: i,
      balance: amount,
      leftOut: { wallet, balance: amount.toString(), kind, program: named, frozen: isFrozen, why },
    })
  }
  out.sort((one, other) =>
    one.balance === other.balance ? one.index - other.index : one.balance > other.balance ? -1 : 1,
  )
  const unheld = (listed: ReadonlyMap<string, number>) => [...listed.keys()].filter((key) => !held.has(key)).length
  return {
    format: 'svc-holder-list/1',
    cluster,
    snapshot: about,
    rule,
    list: { sha256, recipients: allocation.kept, total: allocation.total.toString() },
    left_out: {
      count: out.length,
      balance: out.reduce((sum, { balance }) => sum + balance, 0n).toString(),
      by_reason: [...sums]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([why, { count, balance }]) => ({ why, count, balance: balance.toString() })),
    },
    without_balance: { exclude: unheld(excluded), include: unheld(included) },
    frozen_recipients: frozen,
    holders_left_out: out.map(({ leftOut }) => leftOut),
  }
}

/** What each reason means, for people. */
export const REASONS: Readonly<Record<string, string>> = {
  damm_v2_vault: 'vault of a DAMM v2 pool',
  dbc_vault: 'vault of a launch curve',
  distributor_vault: 'vault of an airdrop',
  lock_escrow: 'escrow of a lock',
  raise_vault: 'vault of a raise',
  pda: 'only a program can sign for it',
  program: 'account of a program',
  burn: 'nobody has its key',
  excluded: 'is in the --exclude file',
  below_min: 'holds less than --min',
  no_tier: 'its balance is in no tier',
  zero: 'its amount rounds to nothing',
}

/** At most a hundred of those who were left out; the JSON has all. */
export function reportMarkdown(report: SnapshotReport, decimals: number | undefined): string {
  const { snapshot, list, left_out, holders_left_out } = report
  const balance = (raw: string) => decimalOf(BigInt(raw), snapshot.decimals ?? 0)
  const amount = (raw: string) => (decimals === undefined ? `${raw} raw units` : decimalOf(BigInt(raw), decimals))
  const row = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const facts = [
    [snapshot.mint === null ? 'Collection' : 'Mint', `\`${snapshot.mint ?? snapshot.collection}\``],
    ['Slot', `${snapshot.slot}${snapshot.block_time === null ? '' : ` (${snapshot.block_time})`}`],
    ['Supply', balance(snapshot.supply)],
    ...(snapshot.withheld === '0' ? [] : [['Withheld transfer fees', balance(snapshot.withheld)]]),
    ...(snapshot.confidential === '0' ? [] : [['In confidential balances', balance(snapshot.confidential)]]),
    ['Holders', String(snapshot.holders)],
    [
      'Rule',
      Object.entries(report.rule)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ],
    ['Recipients', String(list.recipients)],
    ['Total', amount(list.total)],
    ['SHA-256 of the list', `\`${list.sha256}\``],
    ['Snapshot', `\`${snapshot.id}\`, holders \`${snapshot.holders_sha256}\``],
  ]
  const shown = holders_left_out.slice(0, MOST_MARKDOWN_ROWS)
  const more = holders_left_out.length - shown.length
  return [
    '# Recipients from holders\n',
    row(['', '']),
    '|---|---|',
    ...facts.map(row),
    `\n## Left out: ${left_out.count}, who hold ${balance(left_out.balance)}\n`,
    row(['Why', 'Holders', 'Balance']),
    '|---|--:|--:|',
    ...left_out.by_reason.map(({ why, count, balance: held }) =>
      row([REASONS[why] ?? why, String(count), balance(held)]),
    ),
    ...(shown.length === 0 ? [] : ['', row(['Address', 'Balance', 'Why', 'Program']), '|---|--:|---|---|']),
    ...shown.map(({ wallet, balance: held, kind, program, why }) =>
      row([
        `\`${wallet}\``,
        balance(held),
        REASONS[why === 'kind' ? kind : why] ?? why,
        program === null ? '' : `\`${program}\``,
      ]),
    ),
    ...(more > 0 ? [`\n${more} more are in the JSON report.`] : []),
    '',
  ].join('\n')
}
