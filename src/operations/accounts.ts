/** Reads accounts and what wallets hold from the chain. */
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import { readHoldings, type WalletHolding } from '../chain/programs/tokens/index.ts'
import { readAccount, readAccounts } from '../chain/reads/accounts.ts'
import { readWallets } from '../chain/reads/rpc-reads.ts'
import type { Context } from '../context.ts'
import { notFound } from '../platform/errors.ts'
import { requireRecord } from './api-records.ts'
import { readTokenLabels } from './tokens/labels.ts'

type Routes = Api['accounts']

/** Reads one account from the chain. */
export async function getAccount(
  { chain }: Context,
  { address }: Input<Routes['get']>,
): Promise<Result<Routes['get']>> {
  return requireRecord(await readAccount(chain, address), 'account', address)
}

/** Reads many accounts in one call, with null for an address without an account. */
export async function fetchAccounts(
  { chain }: Context,
  { addresses }: Input<Routes['batchFetch']>,
): Promise<Result<Routes['batchFetch']>> {
  return { accounts: await readAccounts(chain, addresses) }
}

/** Most token accounts in one answer. */
const MOST_TOKENS = 200

/**
 * Takes one call to the node for the SOL, one per token program, and one per fifty mints. Throws not_found if `mint`
 * is not a mint, and internal_error when the node fails.
 */
export async function getWalletBalances(
  context: Context,
  { wallet, mint }: Input<Routes['balances']>,
): Promise<Result<Routes['balances']>> {
  const asked = mint === undefined ? undefined : await labelsOfMint(context, mint)
  const [[sol], { holdings, isCut }] = await Promise.all([
    readWallets(context.chain, [wallet]),
    readHoldings(context.chain, { wallet, mint }),
  ])
  const held = holdings.filter(({ amount }) => amount > 0n).sort(byMintAndAccount)
  const shown = held.slice(0, MOST_TOKENS)
  const labels = asked ?? (await readTokenLabels(context.chain, [...new Set(shown.map((holding) => holding.mint))]))
  return {
    wallet,
    lamports: String(sol?.lamports ?? 0n),
    tokens: shown.map((holding) => {
      const label = labels.get(holding.mint) ?? null
      return {
        mint: holding.mint,
        account: holding.account,
        amount: String(holding.amount),
        decimals: label?.decimals ?? null,
        symbol: label?.symbol ?? null,
        name: label?.name ?? null,
        token_program: label?.token_program ?? null,
        frozen: holding.isFrozen,
      }
    }),
    empty_accounts: holdings.length - held.length,
    truncated: isCut || held.length > shown.length,
  }
}

/** Reads the label of one mint. For an address that is not a mint nodes refuse the search, so it is not_found here. */
async function labelsOfMint({ chain }: Context, mint: string): ReturnType<typeof readTokenLabels> {
  const labels = await readTokenLabels(chain, [mint])
  if (labels.get(mint)) return labels
  throw notFound(`There is no token mint at ${mint}: give the address of the token itself`, { param: 'mint' })
}

const byMintAndAccount = (a: WalletHolding, b: WalletHolding): number =>
  compared(a.mint, b.mint) || compared(a.account, b.account)
const compared = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
