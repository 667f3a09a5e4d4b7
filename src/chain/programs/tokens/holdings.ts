/** Reads the tokens that a wallet holds in all of its token accounts, of either token program. */
import type { ChainAccount } from '../../../solana/accounts.ts'
import { isAddress } from '../../../solana/addresses.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { EXTENSIONS_OFFSET, readTokenAccount, type TokenAccountState } from '../../../solana/token-accounts.ts'
import type { Chain } from '../../connection.ts'
import { AnswerTooLarge } from '../../nodes/large-answer.ts'
import { atSlot } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'

/** One token account of a wallet. */
export interface WalletHolding {
  account: string
  mint: string
  /** Raw units. */
  amount: bigint
  isFrozen: boolean
}

export interface WalletHoldings {
  holdings: WalletHolding[]
  /** Whether the wallet has more token accounts than are read. */
  isCut: boolean
}

/** A token account of a wallet as a node shows it; `space` is the length of its data, of which `data` may be a part. */
export interface OwnTokenAccount {
  address: string
  program: string
  lamports: bigint
  space: number
  data: Uint8Array
  state: TokenAccountState
}

/** Anyone can open token accounts for a wallet, so their number is limited for each token program. */
const MOST_ACCOUNTS = 10_000
const MOST_ITEM_BYTES = 4_096
const MOST_ANSWER_BYTES = 16 * 1024 * 1024
const LIMIT_MS = 30_000
type Narrowing = { programId: string } | { mint: string }

/**
 * Returns the token accounts of the wallet, of one mint if it is given, in the node's order. Throws internal_error
 * when the node fails or shows an account of another wallet.
 */
export async function readHoldings(
  chain: Pick<Chain, 'callLarge'>,
  { wallet, mint }: { wallet: string; mint?: string | undefined },
): Promise<WalletHoldings> {
  const narrowings = mint === undefined ? [{ programId: TOKEN_PROGRAM }, { programId: TOKEN_2022_PROGRAM }] : [{ mint }]
  const read = await Promise.all(
    narrowings.map((narrowing) => readTokenAccounts(chain, { wallet, narrowing, bytes: EXTENSIONS_OFFSET })),
  )
  return {
    holdings: read.flatMap(({ accounts }) =>
      accounts.map(({ address, state: { mint, amount, state } }) => {
        return { account: address, mint, amount, isFrozen: state === 'frozen' }
      }),
    ),
    isCut: read.some(({ isCut }) => isCut),
  }
}

/**
 * Returns the token accounts of the wallet in the node's order, with the first `bytes` of their data. `isCut` is true
 * if the wallet has more. Throws internal_error when the node fails or shows an account of another wallet.
 */
export async function readTokenAccounts(
  chain: Pick<Chain, 'callLarge'>,
  { wallet, narrowing, bytes }: { wallet: string; narrowing: Narrowing; bytes: number },
): Promise<{ accounts: OwnTokenAccount[]; isCut: boolean }> {
  const accounts: OwnTokenAccount[] = []
  const dataSlice = { offset: 0, length: bytes }
  const call = {
    method: 'getTokenAccountsByOwner',
    params: [wallet, narrowing, { encoding: 'base64', commitment: 'confirmed', dataSlice }],
    most: { items: MOST_ACCOUNTS, itemBytes: MOST_ITEM_BYTES, bytes: MOST_ANSWER_BYTES },
    limitMs: LIMIT_MS,
  }
  return askNode('Reading the token accounts of the wallet', async () => {
    try {
      const result = await chain.callLarge(call, (item) => void accounts.push(ownAccountIn(item, wallet, narrowing)))
      atSlot<unknown[]>(result, (value) => Array.isArray(value) && value.length === 0)
      return { accounts, isCut: false }
    } catch (error) {
      if (error instanceof AnswerTooLarge) return { accounts, isCut: true }
      throw error
    }
  })
}

function ownAccountIn(item: unknown, wallet: string, narrowing: Narrowing): OwnTokenAccount {
  const { address, account, space } = shownAccount(item)
  const state = readTokenAccount(account)
  const isAsked = 'mint' in narrowing ? state?.mint === narrowing.mint : account.owner === narrowing.programId
  if (state === null || state.owner !== wallet || !isAsked)
    throw new Error(`it returns ${address}, which was not requested`)
  const { owner: program, lamports, data } = account
  return { address, program, lamports, space, data, state }
}

/** Reads an account in base64 from a node's list. Throws an Error if a part of it is missing. */
export function shownAccount(item: unknown): { address: string; account: ChainAccount; space: number } {
  const { pubkey, account } = (item ?? {}) as { pubkey?: unknown; account?: unknown }
  const { owner, data, lamports, space } = (account ?? {}) as Record<'owner' | 'data' | 'lamports' | 'space', unknown>
  const text: unknown = Array.isArray(data) ? data[0] : undefined
  const isComplete = typeof pubkey === 'string' && isAddress(pubkey) && typeof owner === 'string'
  if (!isComplete || typeof text !== 'string' || !Number.isSafeInteger(lamports) || (lamports as number) < 0)
    throw new Error('its answer is incomplete')
  const bytes = Buffer.from(text, 'base64')
  const length = Number.isSafeInteger(space) ? (space as number) : bytes.length
  const shown = { owner, data: bytes, lamports: BigInt(lamports as number), executable: false }
  return { address: pubkey, account: shown, space: length }
}
