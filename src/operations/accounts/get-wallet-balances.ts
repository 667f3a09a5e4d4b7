/** Reads what a wallet holds: its SOL, and the tokens of both token programs with their labels. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readHoldings, type WalletHolding } from '../../chain/programs/tokens/index.ts'
import { readWallets } from '../../chain/reads/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { readTokenLabels } from '../tokens/labels.ts'

type WalletBalancesRoute = Api['accounts']['balances']

/** Most token accounts in one answer. */
const MOST_TOKENS = 200

/**
 * Takes one call to the node for the SOL, one per token program, and one per fifty mints. Throws not_found if `mint`
 * is not a mint, and internal_error when the node fails.
 */
export async function getWalletBalances(
  context: Context,
  { wallet, mint }: Input<WalletBalancesRoute>,
): Promise<Result<WalletBalancesRoute>> {
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
