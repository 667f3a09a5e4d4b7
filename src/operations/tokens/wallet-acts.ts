/** Mints, burns, freezes and thaws for one wallet or several, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import {
  buildWalletActs,
  failedRecipient,
  type OnChainToken,
  readReceivers,
  readTokenState,
  type TransferRecipient,
  transferUnits,
  type WalletAct,
} from '../../chain/programs/tokens/index.ts'
import { readWallets, rentFor } from '../../chain/reads/rpc-reads.ts'
import type { FailedSimulation } from '../../chain/sending/compute-budget.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { solText } from '../../solana/amounts.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import type { Summary } from '../act.ts'
import { type TokenPlan, tokenAct } from './token-act.ts'
import { actedAccount, actFault, actNote, requireAct, unitsText } from './wallet-faults.ts'

type Routes = Api['tokens']
type Acts = Routes['mint' | 'burn' | 'freeze' | 'thaw' | 'thawList']

export const mintTokens = walletAct<Routes['mint']>('mint', (input) => ({
  list: input.recipients === undefined ? null : 'recipients',
  wallets: input.recipients ?? [{ wallet: input.recipient, amount: input.amount ?? '0' }],
  one: { wallet: 'recipient', amount: 'amount' },
  summary: (done) => ({
    ...supplyOf(done, done.total),
    recipients: done.wallets.map((each) => ({ ...namesOf(each), amount: String(each.amount), opens: each.opens })),
    rent: String(done.rent),
  }),
}))

export const burnTokens = walletAct<Routes['burn']>('burn', (input) => ({
  list: input.holders === undefined ? null : 'holders',
  wallets: input.holders ?? [{ wallet: input.holder, amount: input.amount ?? '0' }],
  one: { wallet: input.holder === undefined ? 'payer' : 'holder', amount: 'amount' },
  summary: (done) => ({
    ...supplyOf(done, -done.total),
    holders: done.wallets.map((each) => ({ ...namesOf(each), amount: String(each.amount) })),
  }),
}))

export const freezeAccounts = walletAct<Routes['freeze']>('freeze', ({ wallets, wallet }) =>
  frozen('freeze', wallets ?? null, wallet),
)

export const thawAccount = walletAct<Routes['thaw']>('thaw', ({ wallet }) => frozen('thaw', null, wallet))

export const thawAccounts = walletAct<Routes['thawList']>('thaw', ({ wallets }) => frozen('thaw', wallets, undefined))

function frozen(act: 'freeze' | 'thaw', wallets: readonly string[] | null, wallet: string | undefined) {
  return {
    list: wallets === null ? null : 'wallets',
    wallets: (wallets ?? [wallet]).map((each) => ({ wallet: each, amount: '0' })),
    one: { wallet: 'wallet', amount: 'wallet' },
    summary: ({ token, payer, ...done }: DoneAct) => ({
      mint: token.mint,
      authority: payer,
      accounts: done.wallets.map((each) => ({ ...namesOf(each), opens: each.opens })),
      rent: String(done.rent),
      ...emptyWarning(act, token, done.wallets),
    }),
  }
}

interface ActedWallet extends TransferRecipient {
  /** Whether its account holds nothing, so that its owner can close it. */
  isEmpty: boolean
}

/** The token programs let an owner close an empty account that is frozen; a new one is frozen only by the mint's default. */
function emptyWarning(act: 'freeze' | 'thaw', { extensions }: OnChainToken, wallets: readonly ActedWallet[]) {
  const empty = act === 'freeze' && extensions?.isFrozenByDefault !== true ? wallets.filter((one) => one.isEmpty) : []
  if (empty.length === 0) return {}
  const [names, whose] = [named(empty), empty.length === 1 ? 'its owner' : 'their owners']
  return {
    warnings: [
      `nothing is in the token account of ${names}: ${whose} can close it, frozen or not, and open it again without a freeze`,
    ],
  }
}

/** What is planned, with which an answer is made. */
interface DoneAct {
  token: OnChainToken
  payer: string
  wallets: readonly ActedWallet[]
  total: bigint
  /** Lamports for opened token accounts. */
  rent: bigint
}

const namesOf = ({ wallet, tokenAccount }: TransferRecipient) => ({ wallet, token_account: tokenAccount })

const supplyOf = ({ token: { mint, supply }, payer, total }: DoneAct, change: bigint) => ({
  mint,
  authority: payer,
  total: String(total),
  supply: String(supply),
  new_supply: String(supply + change),
})

interface AskedAct<S extends object> {
  act: WalletAct
  /** The field of the list; null for a request about one wallet. */
  list: string | null
  /** Without a wallet, it is the payer's own. Raw units in digits. */
  wallets: readonly { wallet?: string | undefined; amount: string }[]
  /** The fields of a request about one wallet. */
  one: { wallet: string; amount: string }
  summary(done: DoneAct): S
}

interface WalletActInput {
  mint: string
  payer: string
  allow_programs?: boolean
}

function walletAct<R extends Acts>(
  act: WalletAct,
  ask: (input: Input<R>) => Omit<AskedAct<Summary<R>>, 'act'>,
): ReturnType<typeof tokenAct<R>> {
  return tokenAct<R>(`token.${act}`, (context, input) => planAct(context, input, { act, ...ask(input) }))
}

async function planAct<S extends object>(
  context: Context,
  { mint, payer, allow_programs = false }: WalletActInput,
  asked: AskedAct<S>,
): Promise<TokenPlan<S>> {
  const { act, list, one } = asked
  const token = await readTokenState(context.chain, mint)
  requireAct(token, act, payer)
  const wallets = await readActed(context, { token, payer, allowsPrograms: allow_programs }, asked)
  const total = wallets.reduce((sum, { amount }) => sum + amount, 0n)
  if (act === 'mint' && token.supply + total > MAX_U64) {
    const param = list ?? one.amount
    throw badRequest(
      `${param}: the supply of ${mint} is ${unitsText(token.supply, token)}, and no mint can have more than ${MAX_U64} raw units: at most ${unitsText(MAX_U64 - token.supply, token)} more can be minted`,
      { param, details: { supply: String(token.supply), room: String(MAX_U64 - token.supply) } },
    )
  }
  const rent = await requireRent(context, token, payer, wallets)
  const { tokenProgram, decimals } = token
  return {
    fallbackUnits: transferUnits(wallets),
    build: (envelope) =>
      buildWalletActs({ ...envelope, act, mint, tokenProgram, decimals, wallets, param: list ?? one.wallet }),
    onFailedSimulation: (simulation) => refuseFailedWallet(simulation, wallets, asked),
    summary: asked.summary({ token, payer, wallets, total, rent }),
    // What is minted and burned shows in the movement, and a freeze does not.
    ...(act === 'mint' || act === 'burn' ? {} : { about: `${mint} of ${named(wallets)}` }),
  }
}

/** The wallets that are named to those who approve; the others are counted. */
const NAMED = 3

function named(wallets: readonly TransferRecipient[]): string {
  const more = wallets.length - NAMED
  const names = wallets.slice(0, NAMED).map(({ wallet }) => wallet)
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Throws bad_request naming the first wallet for which it would fail; `details.faults` has every one. */
async function readActed(
  context: Context,
  { token, payer, allowsPrograms }: { token: OnChainToken; payer: string; allowsPrograms: boolean },
  { act, list, wallets, one }: AskedAct<object>,
): Promise<ActedWallet[]> {
  const { mint, tokenProgram } = token
  const receivers = await readReceivers(context.chain, {
    mint,
    tokenProgram,
    wallets: wallets.map(({ wallet }) => wallet ?? payer),
  })
  const faults: { index: number; reason: string; note: string }[] = []
  const acted = receivers.map((receiver, index) => {
    const amount = BigInt(wallets[index]?.amount ?? 0)
    const terms = { token, act, payer, amount, allowsPrograms, vaultActing: context.vaultActing }
    const fault = actFault(receiver, terms)
    if (fault !== null) faults.push({ index, reason: fault, note: actNote(fault, receiver, terms) })
    const { tokenAccount, state } = act === 'mint' ? receiver : actedAccount(receiver, mint)
    const { wallet, hasLamports } = receiver
    return { wallet, tokenAccount, amount, opens: state === null, hasLamports, isEmpty: state?.amount === 0n }
  })
  const [first] = faults
  if (first === undefined) return acted
  const { index, reason, note } = first
  const field = reason === 'too_little' && list === null ? one.amount : one.wallet
  const param = list === null ? field : list === 'wallets' ? `${list}.${index}` : `${list}.${index}.wallet`
  const { wallet, tokenAccount } = acted[index] as TransferRecipient
  throw badRequest(`${param}: ${note}`, {
    param,
    details: { reason, wallet, token_account: tokenAccount, ...(list === null ? {} : { faults }) },
  })
}

/** Returns the lamports for opened token accounts. Throws bad_request if the payer has less. */
async function requireRent(
  { chain }: Context,
  { extensions }: OnChainToken,
  payer: string,
  wallets: readonly TransferRecipient[],
): Promise<bigint> {
  const opened = wallets.filter(({ opens }) => opens).length
  if (opened === 0) return 0n
  const [each, [paying]] = await Promise.all([
    rentFor(chain, extensions?.accountBytes ?? TOKEN_ACCOUNT_SIZE),
    readWallets(chain, [payer]),
  ])
  const [rent, lamports] = [each * BigInt(opened), paying?.lamports ?? 0n]
  if (lamports > rent) return rent
  throw badRequest(
    `${payer} has ${solText(lamports)}, but missing token accounts cost ${solText(rent)} in addition to the fee: send it SOL first`,
    { param: 'payer', details: { have: String(lamports), need: String(rent) } },
  )
}

/** Throws an error that names the wallet whose account makes the act fail. */
function refuseFailedWallet(
  { transaction, err }: FailedSimulation,
  wallets: readonly TransferRecipient[],
  { act, list, one }: AskedAct<object>,
): void {
  const own = wallets.reduce((count, { opens }) => count + (opens ? 2 : 1), 0)
  const others = decodeWireTransaction(transaction).message.instructions.length - own
  const place = failedRecipient(err, wallets, others)
  const failed = place === null ? undefined : wallets[place]
  if (failed === undefined) return
  const param = list === null ? one.wallet : `${list}.${place}`
  const { wallet, tokenAccount } = failed
  throw badRequest(
    `${param}: the ${act} for ${wallet} (token account ${tokenAccount}) would fail: ${JSON.stringify(err)}`,
    { param, details: { reason: 'act_fails', wallet, token_account: tokenAccount, err } },
  )
}
