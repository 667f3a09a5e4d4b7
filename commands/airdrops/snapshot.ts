/** `svc airdrops snapshot`: a list of recipients from the holders of a token or of the assets of a collection at one slot. */
import { paths } from '../../src/api/paths.ts'
import { type Allocation, allocate } from '../../src/merkle/allocation/allocate.ts'
import { AllocationFault } from '../../src/merkle/allocation/fault.ts'
import type { HolderRows } from '../../src/merkle/allocation/holder-rows.ts'
import { recipientCsv, sha256Hex } from '../../src/merkle/allocation/recipient-list.ts'
import { writeAtomically } from '../../src/platform/files.ts'
import { shellQuoted } from '../../src/platform/shell-quoted.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { choiceOf, required, text, toggle, verb } from '../cli/command.ts'
import { amountWords } from '../merkle/list-units.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { reason } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import { jsonText } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { snapshotRows, takeSnapshot } from './snapshot-holders.ts'
import { REASONS, reportMarkdown, type SnapshotReport, snapshotReport } from './snapshot-report.ts'
import {
  type ReadRule,
  RULES,
  type RuleValues,
  readRuleSources,
  ruleFlags,
  ruleFrom,
  ruleProblem,
  ruleWithUnits,
} from './snapshot-rule.ts'

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
