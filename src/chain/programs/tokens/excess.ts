/** Finds lamports of a wallet beyond the rent minimum, in its token accounts and mints. */
import type { ReclaimFault } from '../../../api/rent-reclaims.ts'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { OPTION_TAG_BYTES } from '../../../solana/programs/field-types.ts'
import { TOKEN } from '../../../solana/programs/token.ts'
import { EXTENSIONS_OFFSET, hasTokenKind, MINT_SIZE, readMint } from '../../../solana/token-accounts.ts'
import { hasHiddenAmounts, withheldFee } from '../../../solana/token-extensions.ts'
import type { Chain } from '../../connection.ts'
import { AnswerTooLarge } from '../../nodes/large-answer.ts'
import { atSlot } from '../../nodes/node-call.ts'
import { readRentRate } from '../../reads/rpc-reads.ts'
import { accountsAt } from '../../sending/runs.ts'
import { type OwnTokenAccount, readTokenAccounts, shownAccount } from './holdings.ts'

/** An account of the wallet whose lamports can return, in part or by closing it. */
export interface ReclaimableAccount {
  address: string
  /** Address of the token program. */
  program: string
  kind: 'token_account' | 'mint'
  mint: string
  action: 'withdraw' | 'close'
  /** Lamports that return. */
  lamports: bigint
  /** Lamports that the account must keep to exist. */
  minimum: bigint
}

export interface LeftOutAccount {
  address: string
  reason: ReclaimFault
  /** Lamports that would return otherwise. */
  lamports: bigint
}

export interface Reclaimable {
  accounts: ReclaimableAccount[]
  leftOut: LeftOutAccount[]
  /** False if the node does not list mints by their authority; then only the given ones were read. */
  areMintsListed: boolean
  /** Whether the wallet has more token accounts or mints than were read. */
  isCut: boolean
}

/** Above the extensions that a token account can have; what a stranger adds behind them is not read. */
const READ_BYTES = 1_024
const MOST_MINTS = 10_000
const MOST_MINT_BYTES = 4_096
const MOST_ANSWER_BYTES = 16 * 1024 * 1024
const LIMIT_MS = 30_000
/** Place of the authority in a mint. */
const AUTHORITY_AT = TOKEN.offsetOf('mint', 'mintAuthority') + OPTION_TAG_BYTES

interface ReclaimSearch {
  wallet: string
  /** Whether empty token accounts are closed. */
  closesEmpty: boolean
  /** Mints that are read even if the node does not list mints by their authority. */
  knownMints: readonly string[]
}

/** Returns the accounts with the most lamports first. Throws internal_error when the node fails. */
export async function readReclaimable(
  chain: Pick<Chain, 'callLarge' | 'call'>,
  { wallet, closesEmpty, knownMints }: ReclaimSearch,
): Promise<Reclaimable> {
  const [minimumOf, tokens, mints] = await Promise.all([
    readRentRate(chain),
    Promise.all(
      [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((programId) =>
        readTokenAccounts(chain, { wallet, narrowing: { programId }, bytes: READ_BYTES }),
      ),
    ),
    readMintsByAuthority(chain, wallet, knownMints),
  ])
  const judged = tokens.flatMap((each) =>
    each.accounts.map((account) => judgeAccount(account, wallet, { minimum: minimumOf(account.space), closesEmpty })),
  )
  const excessMints = mints.accounts.flatMap((mint) => withdrawalFrom(mint, minimumOf(mint.space)))
  return {
    accounts: [...judged.flatMap(({ returns }) => returns), ...excessMints].sort(byLamports),
    leftOut: judged.flatMap(({ stays }) => stays),
    areMintsListed: mints.areListed,
    isCut: mints.isCut || tokens.some(({ isCut }) => isCut),
  }
}

interface Judgement {
  returns: ReclaimableAccount[]
  stays: LeftOutAccount[]
}

/** Decides what returns from a token account. It is closed only if `closesEmpty` says so. */
function judgeAccount(
  account: OwnTokenAccount,
  wallet: string,
  { minimum, closesEmpty }: { minimum: bigint; closesEmpty: boolean },
): Judgement {
  const { address, program, lamports, state } = account
  const shared = { address, program, kind: 'token_account', mint: state.mint, minimum } as const
  const excess = lamports - minimum
  const isNative = state.nativeReserve !== null
  const returns: ReclaimableAccount[] =
    excess > 0n && !isNative ? [{ ...shared, action: 'withdraw', lamports: excess }] : []
  if (!closesEmpty || state.amount > 0n) return { returns, stays: isNative ? wrappedExcess(account, minimum) : [] }
  const reason = closingFault(account, wallet)
  if (reason === null) return { returns: [{ ...shared, action: 'close', lamports }], stays: [] }
  return { returns, stays: [{ address, reason, lamports: isNative || excess < 0n ? lamports : minimum }] }
}

function withdrawalFrom({ address, program, lamports }: OwnMint, minimum: bigint): ReclaimableAccount[] {
  const excess = lamports - minimum
  if (excess <= 0n) return []
  return [{ address, program, kind: 'mint', mint: address, action: 'withdraw', lamports: excess, minimum }]
}

const byLamports = (a: ReclaimableAccount, b: ReclaimableAccount): number =>
  a.lamports === b.lamports ? (a.address < b.address ? -1 : 1) : a.lamports < b.lamports ? 1 : -1

/** The token programs do not return what a wrapped SOL account holds beyond its balance, unless it is closed. */
function wrappedExcess({ address, lamports, state }: OwnTokenAccount, minimum: bigint): LeftOutAccount[] {
  const excess = lamports - state.amount - minimum
  return excess > 0n ? [{ address, reason: 'wrapped_sol', lamports: excess }] : []
}

/** Returns why an empty token account is not closed, or null. */
function closingFault({ address, program, data, state }: OwnTokenAccount, wallet: string): ReclaimFault | null {
  if (state.closeAuthority !== null && state.closeAuthority !== wallet) return 'close_authority'
  // Its owner could not thaw a new one.
  if (state.state === 'frozen') return 'frozen'
  if (withheldFee(data) > 0n) return 'withheld_fees'
  if (hasHiddenAmounts(data)) return 'confidential'
  // Only an associated account can be opened again at its address, to which payments may still be on their way.
  const isAssociated = address === associatedTokenAddress(wallet, state.mint, program)
  if (state.mint !== WRAPPED_SOL && !isAssociated) return 'not_associated'
  return null
}

interface OwnMint {
  address: string
  program: string
  lamports: bigint
  space: number
}

/** Reads the mints whose mint authority is the wallet. Many nodes refuse the search; then only the known ones are read. */
async function readMintsByAuthority(
  chain: Pick<Chain, 'callLarge' | 'call'>,
  wallet: string,
  known: readonly string[],
): Promise<{ accounts: OwnMint[]; areListed: boolean; isCut: boolean }> {
  const listed = await Promise.all(
    [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => listMints(chain, wallet, program)),
  )
  const found = new Map(listed.flatMap(({ accounts }) => accounts.map((mint) => [mint.address, mint] as const)))
  const areListed = listed.every(({ isRefused }) => !isRefused)
  const missing = areListed ? [] : known.filter((mint) => !found.has(mint))
  const accounts = await accountsAt(chain, missing)
  for (const [i, address] of missing.entries()) {
    const account = accounts[i] ?? null
    if (account === null || readMint(account)?.mintAuthority !== wallet) continue
    found.set(address, { address, program: account.owner, lamports: account.lamports, space: account.data.length })
  }
  return { accounts: [...found.values()], areListed, isCut: listed.some(({ isCut }) => isCut) }
}

async function listMints(
  chain: Pick<Chain, 'callLarge'>,
  wallet: string,
  program: string,
): Promise<{ accounts: OwnMint[]; isRefused: boolean; isCut: boolean }> {
  const authority = { memcmp: { offset: AUTHORITY_AT, bytes: wallet } }
  const accounts: OwnMint[] = []
  const call = {
    method: 'getProgramAccounts',
    params: [
      program,
      {
        encoding: 'base64',
        commitment: 'confirmed',
        withContext: true,
        filters: program === TOKEN_PROGRAM ? [{ dataSize: MINT_SIZE }, authority] : [authority],
        dataSlice: { offset: 0, length: EXTENSIONS_OFFSET },
      },
    ],
    most: { items: MOST_MINTS, itemBytes: MOST_MINT_BYTES, bytes: MOST_ANSWER_BYTES },
    limitMs: LIMIT_MS,
  }
  try {
    const result = await chain.callLarge(call, (item) => {
      const mint = ownMintIn(item, wallet, program)
      if (mint !== null) accounts.push(mint)
    })
    atSlot<unknown[]>(result, (value) => Array.isArray(value) && value.length === 0)
    return { accounts, isRefused: false, isCut: false }
  } catch (error) {
    // Nodes refuse the search in many ways, and token accounts return more than mints.
    return error instanceof AnswerTooLarge
      ? { accounts, isRefused: false, isCut: true }
      : { accounts: [], isRefused: true, isCut: false }
  }
}

/** Null for an account of Token-2022 that is not a mint although its bytes begin like one. */
function ownMintIn(item: unknown, wallet: string, program: string): OwnMint | null {
  const { address, account, space } = shownAccount(item)
  if (account.owner !== program) throw new Error(`it returns ${address}, which was not requested`)
  if (space !== MINT_SIZE && !hasTokenKind(account.data, 'mint')) return null
  if (readMint(account)?.mintAuthority !== wallet) return null
  return { address, program, lamports: account.lamports, space }
}
