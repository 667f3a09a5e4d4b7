/** `svc locks create --from`: makes the lock of every row of a CSV once, however often it is interrupted and run again. */
import type { LockCreated } from '../../src/api/locks.ts'
import { depositOf, endOf, unlocksAtOnce } from '../../src/solana/lock-schedule.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { TransferFee } from '../../src/solana/token-extensions.ts'
import { groupedDecimalOf, solOf } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import { isoOf } from '../cli/typed-times.ts'
import type { KeyedList } from '../lists/keyed-list.ts'
import type { KeyedKind } from '../lists/keyed-rows.ts'
import type { JournalHead } from '../lists/propose-rows.ts'
import { refuseOthersThanWallets } from '../lists/wallet-rows.ts'
import { readKey } from '../merkle/built-record.ts'
import type { Funds } from '../signing/funds.ts'
import { previewLines } from '../signing/preview.ts'
import { requireUnsigned, signedAnswer, type Unsigned } from '../signing/run-act.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { type ListUnits, type LockRow, readLockRows, rowContent } from './list-rows.ts'
import { requireSteps } from './schedule.ts'
import { demandsLock, type LockTerms, lockRequest, modesOf, termLines, termsOf } from './terms.ts'

export interface LockList {
  file: string
  journal: string | undefined
  mint: string
  decimals: number
  /** How rows are read. Those without a start begin `now`, unless an earlier run has said when. */
  units: ListUnits
  /** The transfer fee of the mint now; null without one. */
  fee: TransferFee | null
  terms: LockTerms
  allow_programs: boolean
  /** Whether the platform wallet signs. */
  signed: boolean
  /** Whether somebody reads the preview, or a flag says that locks may unlock everything in one moment. */
  release: Parameters<typeof requireSteps>[1]
}

export const LOCK_KIND: KeyedKind = {
  verb: 'lock',
  done: 'locked',
  doing: 'Locking',
  journal: 'svc-locks',
  command: '`svc locks create --from`',
  label: 'wallet',
  nameOf: (wallet) => `the row for ${wallet}`,
  program: PROGRAMS.lock.id,
  accountOf: ({ wallet }, base) => wallet.lockAddress(base),
}

/** `now` is when the schedules begin that have no start of their own, in Unix seconds. */
export const headOf = (now: bigint): JournalHead => ({
  first: { now: String(now) },
  isHead: (head: Record<string, unknown>) => /^\d{1,12}$/.test(String(head.now)),
})

/** What leaves the wallet for these rows, with the transfer fees that the mint withholds. */
const depositsOf = (rows: readonly LockRow[], fee: TransferFee | null) =>
  rows.reduce((sum, { plan }) => sum + (depositOf(fee, plan.amount) ?? plan.amount), 0n)
const totalOf = (rows: readonly LockRow[]) => rows.reduce((sum, { plan }) => sum + plan.amount, 0n)

export function lockList(session: Session, list: LockList): KeyedList<LockRow, Unsigned<LockCreated>> {
  const { file, mint, decimals, terms, allow_programs, units } = list
  readKey(mint, '<mint>')
  const named = JSON.stringify(Object.values(termsOf(terms)))
  const signer = list.signed ? 'the platform wallet' : 'a keypair'
  const whole = (raw: bigint) => groupedDecimalOf(raw, decimals)
  const requestOf = ({ wallet, plan }: LockRow) => lockRequest({ mint, recipient: wallet, plan, terms }, list)
  let begins = units.now
  return {
    kind: LOCK_KIND,
    file,
    place: list.journal,
    ending: '.locks.json',
    head: headOf(units.now),
    // Who signs decides who chooses the keys of the locks.
    terms: (payer, cluster) => ({ mint, payer, cluster, terms: named, signer }),
    async read(_, { now }) {
      begins = BigInt(String(now))
      const { rows, notes } = await readLockRows(session.ui, file, { ...units, now: begins, modes: modesOf(terms) })
      requireSteps(
        rows.map(({ plan, line }) => ({ ...plan, line })),
        list.release,
      )
      await refuseOthersThanWallets(session, { file, allow_programs, whose: 'recipient' }, rows)
      return { rows, notes }
    },
    contentOf: rowContent,
    build: async (body, row, base) =>
      requireUnsigned(
        await session.client.locks.create({ ...requestOf(row), ...(base === null ? {} : { base }), ...body }),
      ),
    async sign(body, row, options) {
      const request = { ...body, mode: 'signed' as const, ...requestOf(row) }
      const { signature, address } = signedAnswer(await session.client.locks.create(request, options))
      return { signature, account: address }
    },
    demand: (of, { wallet, plan }, { account, key }) =>
      demandsLock(of, { address: account, mint, recipient: wallet, plan, terms, decimals, base: key }),
    accountIn: ({ address }) => address,
    question: (rows) => `Lock ${whole(totalOf(rows))} of ${mint} for ${counted(rows.length, 'recipient')}`,
    dearestFirst: (a, b) => (a.plan.amount > b.plan.amount ? -1 : 1),
    funds: ({ payments, ...funds }, rows): Funds => {
      const total = depositsOf(rows, list.fee)
      const payment = (each: Funds['payments'][number]) =>
        each.mint === mint ? { ...each, amount: total, needed: total } : each
      return { ...funds, payments: payments.map(payment) }
    },
    check(of) {
      // The time of an earlier run was agreed to then.
      if (begins !== units.now || units.usual.start !== undefined || of.isNow(String(begins))) return
      of.apiSays(`locks without a start begin at ${timeText(isoOf(begins))} by the chain's clock`, '--start')
    },
    lines(rows, { first, data }) {
      const [total, deposits] = [totalOf(rows), depositsOf(rows, list.fee)]
      const sudden = rows.filter(({ plan }) => unlocksAtOnce(plan))
      const ends = rows.map(({ plan }) => endOf(plan)).reduce((most, at) => (at > most ? at : most), 0n)
      const fee = deposits === total ? null : list.fee
      return [
        ...previewLines({
          largest: `${whole(first.plan.amount)} for ${first.wallet}`,
          ends: `the last one at ${timeText(isoOf(ends))}`,
          unlocks:
            sudden.length > 0 && `${sudden.length} of ${counted(rows.length, 'lock')} all at once: no periods follow`,
        }),
        ...termLines(terms),
        ...previewLines({
          rent: `${solOf(BigInt(data.rent) * BigInt(rows.length))} SOL, which closing the locks returns`,
          withheld: fee && `${whole(deposits - total)} by the mint, whose transfer fee is ${fee.basisPoints / 100} %`,
          takes: fee && `${whole(deposits)} with it; each claim pays the fee once more`,
        }),
      ]
    },
    names: { rows: 'locks', account: 'lock' },
    fields: (rows) => ({ mint, amount: String(totalOf(rows)) }),
    record: ({ wallet, plan }) => ({ wallet, amount: String(plan.amount) }),
    columns: ['wallet', 'amount'],
    decimals: { amount: decimals },
  }
}
