/** Reads the tokens that a wallet holds in all of its token accounts, of either token program. */
import type { ChainAccount } from '../../../solana/accounts.ts'
import { isAddress } from '../../../solana/addresses.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { readTokenAccount, TOKEN_ACCOUNT_SIZE } from '../../../solana/token-accounts.ts'
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

/** Anyone can open token accounts for a wallet, so their number is limited for each token program. */
const MOST_ACCOUNTS = 10_000
const MOST_ITEM_BYTES = 4_096
const MOST_ANSWER_BYTES = 16 * 1024 * 1024
const LIMIT_MS = 30_000
/**
 * The layout that both programs share, and the byte that distinguishes Token-2022 accounts with extensions from mints.
 */
const SLICE = { offset: 0, length: TOKEN_ACCOUNT_SIZE + 1 }

/**
 * Returns the token accounts of the wallet, of one mint if it is given, in the node's order. Throws internal_error
 * when the node fails or shows an account of another wallet.
 */
export async function readHoldings(
  chain: Pick<Chain, 'callLarge'>,
  { wallet, mint }: { wallet: string; mint?: string | undefined },
): Promise<WalletHoldings> {
  const narrowings = mint === undefined ? [{ programId: TOKEN_PROGRAM }, { programId: TOKEN_2022_PROGRAM }] : [{ mint }]
  const read = await Promise.all(narrowings.map((narrowing) => readNarrowed(chain, wallet, narrowing)))
  return { holdings: read.flatMap(({ holdings }) => holdings), isCut: read.some(({ isCut }) => isCut) }
}

async function readNarrowed(
  chain: Pick<Chain, 'callLarge'>,
  wallet: string,
  narrowing: { programId: string } | { mint: string },
): Promise<WalletHoldings> {
  const holdings: WalletHolding[] = []
  const call = {
    method: 'getTokenAccountsByOwner',
    params: [wallet, narrowing, { encoding: 'base64', commitment: 'confirmed', dataSlice: SLICE }],
    most: { items: MOST_ACCOUNTS, itemBytes: MOST_ITEM_BYTES, bytes: MOST_ANSWER_BYTES },
    limitMs: LIMIT_MS,
  }
  return askNode('Reading the token accounts of the wallet', async () => {
    try {
      const result = await chain.callLarge(call, (item) => void holdings.push(holdingIn(item, wallet, narrowing)))
      atSlot<unknown[]>(result, (value) => Array.isArray(value) && value.length === 0)
      return { holdings, isCut: false }
    } catch (error) {
      if (error instanceof AnswerTooLarge) return { holdings, isCut: true }
      throw error
    }
  })
}

function holdingIn(item: unknown, wallet: string, narrowing: { programId: string } | { mint: string }): WalletHolding {
  const { pubkey, account } = (item ?? {}) as { pubkey?: unknown; account?: unknown }
  const { owner, data } = (account ?? {}) as { owner?: unknown; data?: unknown }
  const text: unknown = Array.isArray(data) ? data[0] : undefined
  if (typeof pubkey !== 'string' || !isAddress(pubkey) || typeof owner !== 'string' || typeof text !== 'string')
    throw new Error('it answers with parts missing')
  const shown: ChainAccount = { owner, data: Buffer.from(text, 'base64'), lamports: 0n, executable: false }
  const state = readTokenAccount(shown)
  const isAsked = 'mint' in narrowing ? state?.mint === narrowing.mint : owner === narrowing.programId
  if (state === null || state.owner !== wallet || !isAsked)
    throw new Error(`it shows ${pubkey}, which was not asked for`)
  return { account: pubkey, mint: state.mint, amount: state.amount, isFrozen: state.state === 'frozen' }
}
