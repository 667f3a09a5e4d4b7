/** The token accounts through which a wallet pays a raise and is paid, beside the vaults of the raise. */
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import { associatedAccounts } from '../../chain/programs/derived-addresses.ts'
import type { Raise } from '../../chain/programs/presale/index.ts'
import { decodeTokenState } from '../../chain/programs/tokens/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { tokenText } from '../../solana/amounts.ts'
import { readTokenAccount } from '../../solana/token-accounts.ts'
import { fault } from '../locks/checks.ts'

export type Purse = Awaited<ReturnType<typeof readPurse>>
/** Of the token for sale, or of the quote. */
export type Side = Purse['tokens']

/**
 * Reads what a wallet has, the vaults, the mints and `others` in one call; null for an account that is not there, and for
 * a mint that cannot be read. Throws internal_error when the node fails.
 */
export async function readPurse(chain: NodeCalls, raise: Raise, wallet: string, others: readonly string[] = []) {
  const { mint, quoteMint, baseVault, quoteVault, tokenProgram, quoteTokenProgram } = raise
  const base = associatedAccounts({ mint, tokenProgram })
  const paid = associatedAccounts({ mint: quoteMint, tokenProgram: quoteTokenProgram })
  const places = [mint, base.accountOf(wallet), baseVault, quoteMint, paid.accountOf(wallet), quoteVault] as const
  const [holder, ...accounts] = await accountsAt(chain, [wallet, ...places, ...others])
  const sideAt = async (first: 0 | 3, program: string) => {
    const [address, account, vault] = first === 0 ? [mint, places[1], baseVault] : [quoteMint, places[4], quoteVault]
    const [mintAccount = null, ...held] = accounts.slice(first, first + 3)
    const [state = null, ofVault = null] = held.map((each) => each && readTokenAccount(each))
    const token = await decodeTokenState(address, mintAccount, null)
    return {
      ...{ wallet, account, mint: address, program, isOpen: state !== null, state, token },
      vault: { account: vault, state: ofVault },
      /** Writes units for people. */
      text: (units: bigint): string => tokenText(address, units, token?.decimals),
    }
  }
  return {
    lamports: holder?.lamports ?? 0n,
    tokens: await sideAt(0, base.program),
    quotes: await sideAt(3, paid.program),
    others: accounts.slice(places.length),
  }
}

/** Throws bad_request if tokens cannot move between the vault of the raise and the wallet. */
export function requireMovable({ wallet, account, state, vault }: Side): void {
  for (const [whose, held] of Object.entries({ 'the raise': vault, [wallet]: { account, state } })) {
    if (held.state?.state !== 'frozen') continue
    const message = `The token account ${held.account} of ${whose} is frozen: the freeze authority of ${held.state.mint} must thaw it first`
    throw fault(whose === wallet ? 'buyer' : 'id', message, { reason: 'frozen', account: held.account })
  }
  if (state === null || state.owner === wallet) return
  const message = `buyer: the token account ${account} of ${wallet} belongs to ${state.owner}: only its owner can give it back`
  throw fault('buyer', message, { account, owner: state.owner })
}
