/** `svc wallet reclaim`: returns rent that old token accounts and mints hold beyond today's minimum, one transaction after another. */
import { paths } from '../../src/api/paths.ts'
import type { ReclaimFault, RentReclaim } from '../../src/api/rent-reclaims.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { LAMPORT_DECIMALS, solCell, solOf } from '../cli/amounts.ts'
import { type CommandOutcome, type InputValues, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { agreedSession, confirmOn } from '../signing/confirm.ts'
import { anyValue, type Call, demanding, type Signing, TOKEN_PROGRAMS, unexpectedBuild } from '../signing/demand.ts'
import { buildFields, IDEMPOTENCY_KEY, SIGNING, signedFlag, termsField } from '../signing/flags.ts'
import { readLamports, requireFunds, solPayment } from '../signing/funds.ts'
import { signerAddress } from '../signing/platform-wallet.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { failure, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'

const flags = {
  close_empty: toggle('Also close empty token accounts, which returns all of their rent'),
  signed: signedFlag('The platform wallet reclaims its own rent, instead of your keypair'),
  idempotency_key: IDEMPOTENCY_KEY,
  ...SIGNING,
}
type ReclaimFlags = InputValues<typeof flags>
type Unsigned = Extract<RentReclaim, { mode: 'unsigned' }>

const { submit, get, simulate } = paths.transactions

export const reclaim = verb({
  about: 'Get back rent that old token accounts and mints do not need any more',
  details:
    "Token accounts and mints that were opened at a higher rate of rent hold more than today's minimum. This returns the excess to the wallet, from accounts of both token programs. --close-empty also closes empty associated token accounts and empty accounts of wrapped SOL. Each run reads from the chain what is left, so it can be stopped and run again.",
  calls: [paths.rentReclaims.create, paths.accounts.get, paths.signer.get, simulate, submit, get],
  flags,
  examples: [
    'svc wallet reclaim --dry-run',
    'svc wallet reclaim --close-empty -k treasury',
    'svc wallet reclaim --signed --tx-version 1 --yes',
  ],
  async run(input, session) {
    if (input.wait === 'none' && !input.build_only) {
      throw usage('--wait none: the next transaction is built from what the one before it left on the chain', {
        param: '--wait',
      })
    }
    if (input.build_only || input.idempotency_key !== undefined || input.squads !== undefined)
      return reclaimOnce(session, input)
    const payer = await signerAddress(session, input)
    const found = await findExcess(session, input, payer)
    if ('details' in found) return nothingOutcome(payer, found)
    if (input.dry_run) return dryRunOutcome(payer, found)
    return reclaimAll(session, input, { payer, found })
  },
})

/** The API's reasons for a wallet from which nothing more is worth a transaction. */
const ENDS: readonly unknown[] = ['nothing_to_reclaim', 'below_cost']

async function findExcess(session: Session, input: ReclaimFlags, payer: string): Promise<Unsigned | Nothing> {
  try {
    return await build(session, { ...input, dry_run: true }, payer)
  } catch (error) {
    if (!isEnd(error)) throw error
    const { message, details } = error
    return { message, details: details as Partial<Figures> }
  }
}

const isEnd = (error: unknown): error is ApiError & { details: Record<string, unknown> } =>
  error instanceof ApiError && ENDS.includes((error.details as { reason?: unknown } | undefined)?.reason)

async function build(session: Session, input: ReclaimFlags, payer: string): Promise<Unsigned> {
  const { data } = await session.client.rentReclaims.create({ payer, ...closeField(input), ...buildFields(input) })
  if (data.mode === 'signed') {
    throw failure('the API answered with a signed reclaim, but none was requested', {
      next: `\`svc tx get ${data.signature}\``,
    })
  }
  const { fee } = await session.wallet.describe(data.transaction)
  if (fee !== data.fee) throw unexpectedBuild(`it costs ${fee} lamports, and the answer says ${data.fee}`)
  return data
}

const closeField = ({ close_empty }: ReclaimFlags) => (close_empty ? { close_empty } : {})

const demandsReclaim = demanding(
  'rent of your own accounts, back to yourself',
  ({ payer }: Signing, { closes }: { closes: boolean }): Call[] => {
    const often = { group: 'rent', least: 1, most: 64 }
    const names = { destination: payer, authority: payer }
    const withdraw = { call: 'withdrawExcessLamports', fields: { source: anyValue, ...names } }
    const close = { call: 'closeAccount', fields: { account: anyValue, ...names } }
    return [withdraw, ...(closes ? [close] : [])].map((call) => ({ program: TOKEN_PROGRAMS, ...call, ...often }))
  },
)

/** Of the fee that was shown, how many times as much a later transaction may cost. */
const MOST_FEE_RISE = 3n

/** One transaction, signed by the local keypair or the platform wallet; `mostFee` are the lamports that it may cost. */
function reclaimOnce(session: Session, input: ReclaimFlags, mostFee?: bigint): Promise<CommandOutcome> {
  const what = ({ lamports, accounts }: Figures) =>
    `Reclaim ${solOf(BigInt(lamports))} SOL of rent from ${counted(accounts.length, 'account')}`
  const shown = ({ accounts, lamports, fee, remaining }: Figures) => ({
    accounts: accounts.length,
    lamports,
    fee,
    remaining_accounts: remaining.accounts,
  })
  const decimals = { lamports: LAMPORT_DECIMALS, fee: LAMPORT_DECIMALS }
  return runSigned<Unsigned>(session, input, {
    what,
    build: async (payer) => ({
      data: await build(session, { ...input, dry_run: input.signed || input.dry_run }, payer),
    }),
    demand(of, { fee }) {
      if (mostFee !== undefined && BigInt(fee) > mostFee) {
        throw failure(`fees have risen to ${solOf(BigInt(fee))} SOL for a transaction: nothing more was signed`, {
          next: 'run it again, which shows what the rest costs now',
        })
      }
      return demandsReclaim(of, { closes: input.close_empty })
    },
    preview: figureLines,
    show: shown,
    decimals: () => decimals,
    platform: (payer) => ({
      what: 'Reclaim rent of the platform wallet',
      async sign(options) {
        const body = { payer, ...closeField(input), ...termsField(input), mode: 'signed' as const }
        const { data } = await session.client.rentReclaims.create(body, options)
        if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
        return { signature: data.signature, show: () => shown(data) }
      },
      decimals,
    }),
  })
}

/** Sends one transaction after another, each built from what the one before it left on the chain. */
async function reclaimAll(
  session: Session,
  input: ReclaimFlags,
  { payer, found }: { payer: string; found: Unsigned },
): Promise<CommandOutcome> {
  const { ui } = session
  const total = totalOf(found)
  const cluster = await session.cluster()
  const question = `Reclaim ${solOf(total.lamports)} SOL of rent from ${counted(total.accounts, 'account')}`
  await ui.preview([question, previewLine('wallet', payer), ...figureLines(found)])
  const fee = solPayment(payer, BigInt(found.fee), await readLamports(session, payer))
  requireFunds({ payments: [fee], isExact: true, fault: null }, cluster)
  await confirmOn(session, question, cluster)
  const quiet = agreedSession(session)
  const done: Done = { accounts: 0, lamports: 0n, fee: 0n, signatures: [] }
  // As many as were shown: what appears meanwhile is for another run.
  while (done.signatures.length < total.transactions) {
    session.setInterruptNote(`${counted(done.accounts, 'account')} done; run it again for the rest`)
    const part = await nextPart(quiet, input, done, BigInt(found.fee) * MOST_FEE_RISE)
    if (part === null) break
    ui.note(`${done.signatures.length} of ${total.transactions}  ${solOf(part.lamports)} SOL  ${part.signature}`)
  }
  session.setInterruptNote(null)
  return doneOutcome(payer, done, found)
}

/** Sends the next transaction and adds it to what is done; null if nothing is left. */
async function nextPart(
  session: Session,
  input: ReclaimFlags,
  done: Done,
  mostFee: bigint,
): Promise<{ lamports: bigint; signature: string } | null> {
  try {
    const { data } = await reclaimOnce(session, input, mostFee)
    const part = data as { accounts: number; lamports: string; fee: string; signature: string }
    done.accounts += part.accounts
    done.lamports += BigInt(part.lamports)
    done.fee += BigInt(part.fee)
    done.signatures.push(part.signature)
    return { lamports: BigInt(part.lamports), signature: part.signature }
  } catch (error) {
    if (isEnd(error)) return null
    if (done.accounts > 0) {
      session.ui.note(`${solOf(done.lamports)} SOL of ${counted(done.accounts, 'account')} returned before this:`)
    }
    throw error
  }
}

// Texts and answers of `svc wallet reclaim`: what returns, what it costs, what stays and why.

type Figures = Pick<
  RentReclaim,
  'accounts' | 'lamports' | 'fee' | 'remaining' | 'left_out' | 'mints_listed' | 'truncated'
>

/** The API's answer for a wallet from which nothing more is worth a transaction. */
type Nothing = { message: string; details: Partial<Figures> }

/** What the transactions of this run have done so far; amounts in lamports. */
interface Done {
  accounts: number
  lamports: bigint
  fee: bigint
  signatures: string[]
}

/** Why lamports stay in accounts. */
const STAYS: Readonly<Record<ReclaimFault, string>> = {
  wrapped_sol: 'wrapped SOL; only closing returns the rent',
  close_authority: 'another address may close them',
  frozen: 'frozen by the freeze authority of their mint',
  withheld_fees: 'hold transfer fees that their mint has not collected',
  confidential: 'may hold amounts that only a key can read',
  not_associated: 'cannot be opened again at their address',
  pending: 'in a transaction that is not confirmed yet; run it again after it',
  refused: 'their program refuses it',
}

/** Amounts in lamports. */
interface Total {
  accounts: number
  lamports: bigint
  transactions: number
  fee: bigint
}

/** What all transactions return. Each is assumed to cost as much as the first. */
function totalOf({ accounts, lamports, fee, remaining }: Figures): Total {
  const transactions = 1 + remaining.transactions
  return {
    accounts: accounts.length + remaining.accounts,
    lamports: BigInt(lamports) + BigInt(remaining.lamports),
    transactions,
    fee: BigInt(fee) * BigInt(transactions),
  }
}

function figureLines(figures: Figures): string[] {
  const { lamports, transactions, fee } = totalOf(figures)
  const minimums = figures.accounts.flatMap(({ action, minimum }) => (action === 'withdraw' ? [BigInt(minimum)] : []))
  const [least, most] = [minimums.reduce(smaller, minimums[0] ?? 0n), minimums.reduce(larger, 0n)]
  const range = least === most ? solOf(most) : `${solOf(least)} to ${solOf(most)}`
  return [
    previewLine('returns', `${solOf(lamports)} SOL, for ${solOf(fee)} SOL of fees`),
    ...(minimums.length === 0 ? [] : [previewLine('stays', `${range} SOL in each account, today's minimum`)]),
    previewLine('sends', counted(transactions, 'transaction')),
  ]
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
const larger = (a: bigint, b: bigint) => (a > b ? a : b)

const leftNotes = ({ left_out = [], mints_listed = true, truncated = false }: Partial<Figures>): string[] => [
  ...left_out.map(
    ({ reason, accounts, lamports }) =>
      `${solOf(BigInt(lamports))} SOL stay in ${counted(accounts, 'account')}: ${STAYS[reason] ?? reason}`,
  ),
  ...(mints_listed
    ? []
    : ['The node does not list mints by their authority: only tokens that are recorded here were checked']),
  ...(truncated ? ['The wallet has more accounts than were read: run it again for the others'] : []),
]

const leftFields = ({ left_out = [], mints_listed = true, truncated = false }: Partial<Figures>) => ({
  left_out,
  mints_listed,
  truncated,
})

const nothingOutcome = (wallet: string, { message, details }: Nothing): CommandOutcome => ({
  data: { wallet, accounts: 0, lamports: '0', fee: '0', transactions: 0, signatures: [], ...leftFields(details) },
  text: `${message}.`,
  notes: leftNotes(details),
})

function dryRunOutcome(wallet: string, found: Figures): CommandOutcome {
  const { accounts, lamports, fee, transactions } = totalOf(found)
  return {
    data: { wallet, accounts, lamports: String(lamports), fee: String(fee), transactions, ...leftFields(found) },
    text: [`${counted(accounts, 'account')} of ${wallet}`, ...figureLines(found)].join('\n'),
    notes: [...leftNotes(found), 'Nothing was signed, and nothing was sent.'],
  }
}

function doneOutcome(wallet: string, { accounts, lamports, fee, signatures }: Done, found: Figures): CommandOutcome {
  const data = { wallet, accounts, lamports: String(lamports), fee: String(fee), transactions: signatures.length }
  return {
    data: { ...data, signatures, ...leftFields(found) },
    record: { ...data, lamports: solCell(lamports), fee: solCell(fee) },
    notes: leftNotes(found),
  }
}
