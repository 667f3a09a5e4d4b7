/** Checks which calls of programs the transactions may make that a command's keypair signs. */
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../../src/solana/program-ids.ts'
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import { type Call, type Demand, unexpectedBuild, type Wanted } from './demanded-calls.ts'
import type { TermsFlags } from './flags.ts'
import type { SimulatedBuild } from './run-failures.ts'
import type { ClaimAddresses, ProposedActs } from './wallet.ts'

export { type Call, type Demand, UnexpectedBuild, unexpectedBuild, type Wanted } from './demanded-calls.ts'

/** What a demand is made from. */
export interface Signing {
  /** The wallet that pays and signs. */
  payer: string
  /** The possible token accounts of a wallet, one for each token program, derived here. */
  accounts(mint: string, wallet: string): Promise<string[]>
  /** The account of a mint's Metaplex metadata, derived here. */
  metadata(mint: string): Promise<string>
  /** The position in a DAMM v2 pool whose NFT this is, derived here. */
  position(nftMint: string): Promise<string>
  /** The accounts of a wallet's claim from an airdrop, derived here. */
  claim(mint: string, airdropCount: number, claimer: string): Promise<ClaimAddresses>
  /** Adds a line to the preview, about something in the transaction that could not be requested. */
  note(text: string): void
  /**
   * Adds what only the API can know. Throws a usage problem if nobody reads the preview: then `flag` must give the
   * value.
   */
  apiSays(text: string, flag: string): void
  /**
   * Whether these Unix seconds are now, by this machine's clock; on the embedded chain any time is accepted, because
   * its user sets its clock.
   */
  isNow(seconds: string): boolean
  notes: readonly string[]
  /** The wallet that `--guard required` guards. */
  guarded: string | null
  /** Whether the preview contains something that only the API knows. */
  readonly trusts: boolean
}

/** The body of a request, without the wallet that signs. */
export type Sent<Call extends (...args: never[]) => unknown, Signer extends string = 'payer'> = Omit<
  Parameters<Call>[0],
  Signer
>

/** What a command demands: a sentence for the preview, and the calls that a request implies. Nothing else is signed. */
export const demanding =
  <F>(says: string, callsOf: (of: Signing, asked: F) => Call[] | Promise<Call[]>, { inOrder = false } = {}) =>
  async (of: Signing, asked: F): Promise<Demand> => ({
    says,
    payer: of.payer,
    calls: await callsOf(of, asked),
    inOrder,
    guarded: of.guarded,
  })

declare const checked: unique symbol
/** A transaction in base64 that matches the request; the user's keypair signs only these. */
export type CheckedBuild = string & { readonly [checked]: true }

export const TOKEN_PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] as const

/** The allowed difference between the clocks of the chain and of this machine. */
const CLOCK_TOLERANCE_SECONDS = 25 * 3600

interface SigningTerms {
  /** Undefined if nothing is signed with the keypair. */
  guard: TermsFlags['guard']
  /** The wallet of the keypair, if another wallet pays. */
  signer?: string
  /** A person sees the preview, or nothing is signed at all. */
  isRead?: boolean
  cluster?: string | null
}

export function signingFor(
  { wallet, clock }: Pick<Session, 'wallet' | 'clock'>,
  payer: string,
  { guard, signer = payer, isRead = false, cluster = null }: SigningTerms,
): Signing {
  const notes = new Set<string>()
  let trusts = false
  return {
    payer,
    guarded: guard === 'required' ? signer : null,
    accounts: async (mint, owner) =>
      (await Promise.all(TOKEN_PROGRAMS.map((program) => wallet.tokenAccounts(mint, program, [owner])))).flat(),
    metadata: (mint) => wallet.metadataAccount(mint),
    position: (nftMint) => wallet.positionAddress(nftMint),
    claim: (mint, count, claimer) => wallet.claimAddresses(mint, count, claimer),
    note: (text) => void notes.add(text),
    apiSays(text, flag) {
      if (!isRead) {
        throw usage(`only the API says this, and nobody checks it: ${text}; nothing was signed`, {
          param: flag,
          next: `set ${flag}, or run it on a terminal without --yes`,
        })
      }
      notes.add(`${text} (reported by the API)`)
      trusts = true
    },
    isNow: (seconds) =>
      cluster === 'embedded' || Math.abs(Number(seconds) - clock.now() / 1000) <= CLOCK_TOLERANCE_SECONDS,
    get notes() {
      return [...notes]
    },
    get trusts() {
      return trusts
    },
  }
}

/** The transaction if it matches the request; throws a failure otherwise. */
export async function checkedBuild(
  session: Pick<Session, 'wallet'>,
  transaction: string,
  demand: Demand,
): Promise<CheckedBuild> {
  await requireDemanded(session, [transaction], demand)
  return transaction as CheckedBuild
}

/**
 * Throws a failure if the transactions together do not match the request. With `isPart`, some may have landed already.
 */
export async function requireDemanded(
  { wallet }: Pick<Session, 'wallet'>,
  transactions: readonly string[],
  demand: Demand,
  { isPart = false } = {},
): Promise<CheckedBuild[]> {
  // This import is dynamic because the module decodes addresses, and help must not load base58.
  const { requireCalls } = await import('./built-calls.ts')
  const contents = await Promise.all(transactions.map((transaction) => wallet.describe(transaction)))
  requireCalls(contents, demand, { isPart })
  if (demand.guarded !== null) {
    const { requireGuards } = await import('./guards.ts')
    for (const content of contents) requireGuards(content, demand.guarded, null)
  }
  return transactions as CheckedBuild[]
}

/**
 * Throws a failure unless the guards, if the demand requires them, hold what the simulation shows. One that fails is
 * not signed anyway.
 */
export async function requireShownGuards(
  { wallet }: Pick<Session, 'wallet'>,
  transaction: string,
  { guarded }: Pick<Demand, 'guarded'>,
  { fault, simulation }: Pick<SimulatedBuild, 'fault' | 'simulation'>,
): Promise<void> {
  if (guarded === null || fault !== null) return
  const { requireGuards } = await import('./guards.ts')
  requireGuards(await wallet.describe(transaction), guarded, simulation)
}

/** The transactions that propose these acts and nothing else; throws a failure for any others. */
export async function checkedCreations(
  { wallet }: Pick<Session, 'wallet'>,
  asked: ProposedActs,
): Promise<CheckedBuild[]> {
  const difference = await wallet.proposalDifference(asked)
  if (difference !== null) throw unexpectedBuild(difference)
  const { requireBoundedFee } = await import('./built-calls.ts')
  for (const creation of asked.creations) requireBoundedFee(await wallet.describe(creation))
  return [...asked.creations] as CheckedBuild[]
}

export const anyValue = () => true
export const atMost = (most: bigint) => (value: string) => BigInt(value) <= most
/** Any value, but the same one everywhere in the transactions. */
export function same(): (value: string) => boolean {
  let known: string | undefined
  return (value) => {
    known ??= value
    return known === value
  }
}

/** The most lamports for the rent of an account, for an extra such as a tip, or for a pool creation fee. */
export const MOST_LAMPORTS = 100_000_000n

export const pays = (source: string, destination: Wanted, lamports: Wanted): Call => ({
  program: SYSTEM_PROGRAM,
  call: 'transfer',
  fields: { source, destination, lamports },
})

/** Exactly the requested amount, to the wallet of the platform, which only the API knows. */
export const platformFee = (payer: string, lamports = 0): Call[] =>
  lamports === 0 ? [] : [pays(payer, anyValue, lamports)]

/** Token accounts that may be opened if missing. Their addresses follow from wallet and mint. */
export const opens = (source: Wanted, wallet: Wanted, mint: Wanted, most = 1): Call => ({
  program: ASSOCIATED_TOKEN_PROGRAM,
  call: 'createIdempotent',
  fields: { source, wallet, mint, tokenProgram: TOKEN_PROGRAMS },
  least: 0,
  most,
})

/** Own token accounts that may be closed; their balance and rent stay with the owner or the payer. */
export const closes = (
  owner: string,
  accounts: Wanted,
  { to = owner, most = 1 }: { to?: Wanted; most?: number } = {},
): Call => ({
  program: TOKEN_PROGRAMS,
  call: 'closeAccount',
  fields: { account: accounts, destination: to, authority: owner },
  least: 0,
  most,
})

/** A transfer of 0 to itself, with which the chain checks that the mint has these decimals. */
export const provesDecimals = (source: Wanted, mint: string, decimals: number, owner: string): Call => ({
  program: TOKEN_PROGRAMS,
  call: 'transferChecked',
  fields: { source, mint, destination: source, amount: 0, decimals, authority: owner },
})

/** SOL that is wrapped for a trade, in the owner's own account, and unwrapped after it. */
export async function wraps({ accounts }: Signing, owner: string, lamports: bigint): Promise<Call[]> {
  const own = await accounts(WRAPPED_SOL, owner)
  const paid = { ...pays(owner, own, lamports), least: 0 }
  const synced: Call = { program: TOKEN_PROGRAMS, call: 'syncNative', fields: { account: own }, least: 0 }
  return [opens(owner, owner, WRAPPED_SOL), ...(lamports === 0n ? [] : [paid, synced]), closes(owner, own)]
}

export const writesMemo = (text: string): Call => ({ program: MEMO_PROGRAM, call: 'memo', fields: { text } })

/** A wallet that gets raw units. */
export interface Recipient {
  wallet: string
  amount: bigint | string
}

/** One transfer to each, into the wallet's token account, which is opened if missing. */
export async function sendsTokens(
  { payer, accounts }: Signing,
  { mint, decimals, recipients }: { mint: string; decimals: number; recipients: readonly Recipient[] },
): Promise<Call[]> {
  const source = await accounts(mint, payer)
  return (
    await Promise.all(
      recipients.map(async ({ wallet, amount }): Promise<Call[]> => {
        const destination = await accounts(mint, wallet)
        const fields = { source, mint, destination, amount, decimals, authority: payer }
        return [opens(payer, wallet, mint), { program: TOKEN_PROGRAMS, call: 'transferChecked', fields }]
      }),
    )
  ).flat()
}
