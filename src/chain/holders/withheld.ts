/** Finds the token accounts of a mint that withhold transfer fees. */
import { internal } from '../../platform/errors.ts'
import { TOKEN_2022_PROGRAM } from '../../solana/program-ids.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { readTokenAccount } from '../../solana/token-accounts.ts'
import { withheldFee } from '../../solana/token-extensions.ts'
import type { Chain } from '../connection.ts'
import { accountsAt } from '../sending/runs.ts'
import { MOST_SLICE_BYTES, scanAccounts, UnbelievableAnswer } from './scan.ts'

export interface WithheldAccount {
  address: string
  /** Raw units. */
  amount: bigint
}

/**
 * Returns those with the largest amounts first, as of a confirmed slot. Throws internal_error with a remedy when the
 * node does not list the accounts of the mint.
 */
export async function findWithheld(chain: Pick<Chain, 'callLarge'>, mint: string): Promise<WithheldAccount[]> {
  const found: WithheldAccount[] = []
  const scan = {
    what: `Listing the accounts of ${mint}`,
    program: TOKEN_2022_PROGRAM,
    filters: [{ tokenAccountState: true }, { memcmp: { offset: TOKEN.offsetOf('account', 'mint'), bytes: mint } }],
    dataSlice: { offset: 0, length: MOST_SLICE_BYTES },
    minSlot: 0,
    commitment: 'confirmed' as const,
  }
  try {
    await scanAccounts(chain, scan, ({ address, data }) => {
      const amount = withheldFee(data)
      if (amount > 0n) found.push({ address, amount })
    })
  } catch (error) {
    if (!(error instanceof UnbelievableAnswer)) throw error
    throw internal(`${scan.what} failed: ${error.message}; set rpc-url to another node, or name the accounts`, {
      cause: error,
    })
  }
  return found.sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0))
}

/** Reads what each account withholds now; null for one that is not a token account of the mint. */
export async function readWithheld(
  chain: Pick<Chain, 'call'>,
  mint: string,
  addresses: readonly string[],
): Promise<(bigint | null)[]> {
  const accounts = await accountsAt(chain, addresses)
  return accounts.map((account) => {
    if (account === null || account.owner !== TOKEN_2022_PROGRAM) return null
    return readTokenAccount(account)?.mint === mint ? withheldFee(account.data) : null
  })
}
