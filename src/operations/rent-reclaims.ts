/** Rent reclaims: one transaction that returns excess rent to a wallet. */
import type { Api } from '../api/index.ts'
import type { ReclaimFault } from '../api/rent-reclaims.ts'
import type { Input, Result } from '../api/route.ts'
import { MOST_EXECUTED_ACCOUNTS } from '../chain/programs/squads/index.ts'
import {
  buildReclaim,
  fittingReclaims,
  type LeftOutAccount,
  type Reclaimable,
  type ReclaimableAccount,
  readReclaimable,
  reclaimUnits,
} from '../chain/programs/tokens/index.ts'
import type { FailedSimulation } from '../chain/sending/compute-budget.ts'
import type { Context } from '../context.ts'
import { type ApiError, badRequest } from '../platform/errors.ts'
import { addressBytes } from '../solana/addresses.ts'
import { solText } from '../solana/amounts.ts'
import { feeOfMessage } from '../solana/fees.ts'
import { decodeInstruction } from '../solana/instructions.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { TOKEN_PROGRAM } from '../solana/program-ids.ts'
import { recordedMints } from '../store/resources/tokens.ts'
import { unconfirmedTransactions } from '../store/transactions/transactions.ts'
import { inEitherMode, type PlannedBuild, type Summary } from './act.ts'
import { addsGuards } from './build-guards.ts'
import { type BuiltTransaction, buildTransaction } from './building.ts'
import { groupedBy } from './ledger/acts.ts'

type Routes = Api['rentReclaims']
type ReclaimSummary = Summary<Routes['create']>

/** Most accounts of one request that a program may refuse; strangers can open token accounts for a wallet. */
const MOST_REFUSED = 20

export async function createRentReclaim(
  context: Context,
  input: Input<Routes['create']>,
): Promise<Result<Routes['create']>> {
  const plan = (payer: string) => planReclaim(context, { ...input, payer })
  return (await inEitherMode(context, input, 'rent_reclaim.create', plan)) as Result<Routes['create']>
}

/** Throws bad_request if nothing can be reclaimed, and if what returns is not more than the fee. */
async function planReclaim(
  context: Context,
  { payer, close_empty }: Input<Routes['create']>,
): Promise<PlannedBuild<ReclaimSummary>> {
  const [pending, knownMints] = await Promise.all([pendingReclaims(context, payer), recordedMints(context.store.db)])
  const found = await readReclaimable(context.chain, { wallet: payer, closesEmpty: close_empty, knownMints })
  const { txVersion: version, vaultActing } = context
  const isGuarded = await addsGuards(context)
  const fitting = (accounts: readonly ReclaimableAccount[]) =>
    vaultActing === undefined
      ? fittingReclaims(accounts, { wallet: payer, version, isGuarded })
      : MOST_EXECUTED_ACCOUNTS
  const left: LeftOutAccount[] = [...found.leftOut]
  let open = withoutThose(found.accounts, pending, 'pending', left)
  for (let refused = 0; ; refused++) {
    if (open.length === 0) throw nothingToReclaim(payer, found, left)
    const chosen = open.slice(0, fitting(open))
    try {
      const built = await buildChosen(context, payer, chosen)
      return { built, summary: summaryOf(found, { built, chosen, open, left, fitting }) }
    } catch (error) {
      if (!(error instanceof RefusedAccount) || refused === MOST_REFUSED) throw error
      open = withoutThose(open, new Set([error.account]), 'refused', left)
    }
  }
}

/** A program refuses the instruction of this account, so the others are reclaimed without it. */
class RefusedAccount extends Error {
  override readonly name = 'RefusedAccount'
  readonly account: string

  constructor(account: string) {
    super(`the program refuses ${account}`)
    this.account = account
  }
}

function withoutThose(
  accounts: readonly ReclaimableAccount[],
  addresses: ReadonlySet<string>,
  reason: ReclaimFault,
  left: LeftOutAccount[],
): ReclaimableAccount[] {
  return accounts.filter(({ address, lamports }) => {
    if (!addresses.has(address)) return true
    left.push({ address, reason, lamports })
    return false
  })
}

const buildChosen = (context: Context, payer: string, accounts: readonly ReclaimableAccount[]) =>
  buildTransaction(context, {
    payer,
    fallbackUnits: reclaimUnits(accounts.length),
    build: (envelope) => buildReclaim({ ...envelope, accounts }),
    onFailedSimulation: (simulation) => refuseAccount(simulation, accounts),
  })

function refuseAccount({ transaction, err }: FailedSimulation, accounts: readonly ReclaimableAccount[]): void {
  const failed = (err as { InstructionError?: unknown } | null)?.InstructionError
  if (!Array.isArray(failed)) return
  const before = decodeWireTransaction(transaction).message.instructions.length - accounts.length
  const account = accounts[Number(failed[0]) - before]
  if (account !== undefined) throw new RefusedAccount(account.address)
}

interface ChosenAccounts {
  built: BuiltTransaction
  chosen: readonly ReclaimableAccount[]
  /** All that can be reclaimed now, the chosen ones first. */
  open: readonly ReclaimableAccount[]
  left: readonly LeftOutAccount[]
  /** How many of them fit into one transaction, from the first on. */
  fitting(accounts: readonly ReclaimableAccount[]): number
}

function summaryOf(found: Reclaimable, { built, chosen, open, left, fitting }: ChosenAccounts): ReclaimSummary {
  const lamports = sumOf(chosen)
  const fee = feeOfMessage(decodeWireTransaction(built.transaction).message)
  if (lamports <= fee) throw belowCost(lamports, fee)
  const rest = open.slice(chosen.length)
  let transactions = 0
  for (let at = 0; at < rest.length; at += fitting(rest.slice(at))) transactions += 1
  return {
    accounts: chosen.map(({ program, lamports, minimum, ...account }) => ({
      ...account,
      token_program: program === TOKEN_PROGRAM ? 'spl' : 'token2022',
      lamports: String(lamports),
      minimum: String(minimum),
    })),
    lamports: String(lamports),
    fee: String(fee),
    remaining: {
      accounts: rest.length,
      lamports: String(sumOf(rest)),
      transactions,
    },
    ...circumstances(found, left),
  }
}

const circumstances = ({ areMintsListed, isCut }: Reclaimable, left: readonly LeftOutAccount[]) => ({
  left_out: [...groupedBy(left, ({ reason }) => reason)].map(([reason, accounts]) => {
    return { reason, accounts: accounts.length, lamports: String(sumOf(accounts)) }
  }),
  mints_listed: areMintsListed,
  truncated: isCut,
})

const sumOf = (accounts: readonly { lamports: bigint }[]): bigint =>
  accounts.reduce((sum, { lamports }) => sum + lamports, 0n)

/** `details.reason` of this and the next error lets a client that goes on until the end see that nothing failed. */
function nothingToReclaim(payer: string, found: Reclaimable, left: readonly LeftOutAccount[]): ApiError {
  return badRequest(`No account of ${payer} holds lamports that can return now`, {
    param: 'payer',
    details: { reason: 'nothing_to_reclaim', ...circumstances(found, left) },
  })
}

const belowCost = (lamports: bigint, fee: bigint): ApiError =>
  badRequest(`Only ${solText(lamports)} would return, and the fee is ${solText(fee)}`, {
    param: 'payer',
    details: { reason: 'below_cost', lamports: String(lamports), fee: String(fee) },
  })

/** Accounts that unconfirmed transactions of the wallet withdraw from or close, so that none is reclaimed twice. */
async function pendingReclaims({ store, chain }: Context, wallet: string): Promise<ReadonlySet<string>> {
  const key = Buffer.from(addressBytes(wallet))
  const rows = await unconfirmedTransactions(store.db, await chain.genesisHash(), 0)
  return new Set(rows.flatMap(({ raw }) => (raw.includes(key) ? reclaimedIn(raw, wallet) : [])))
}

function reclaimedIn(raw: Uint8Array, wallet: string): string[] {
  const { keys, signers, instructions } = decodeWireTransaction(raw).message
  // Anybody can name accounts of others in a transaction that never lands.
  if (!keys.slice(0, signers).includes(wallet)) return []
  return instructions.flatMap(({ programIdIndex, accounts, data }) => {
    const named = Array.from(accounts, (index) => keys[index] ?? '')
    const decoded = decodeInstruction(keys[programIdIndex] ?? '', named, data)
    if (decoded?.program !== 'token') return []
    const { instruction } = decoded
    if (instruction.type === 'withdrawExcessLamports') return [instruction.source]
    return instruction.type === 'closeAccount' ? [instruction.account] : []
  })
}
