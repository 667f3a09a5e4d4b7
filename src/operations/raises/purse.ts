/** The wallet and token accounts through which a buyer of a raise pays and is paid, and the instructions around an act. */
import type { TransactionInstruction } from '@solana/web3.js'
import { associatedAccounts } from '../../chain/programs/derived-addresses.ts'
import type { Raise } from '../../chain/programs/presale/index.ts'
import { decodeTokenState } from '../../chain/programs/tokens/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Services } from '../../context.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { readTokenAccount } from '../../solana/token-accounts.ts'
import { decimalsInstruction, openingInstruction, type Through, wrappingInstructions } from '../../solana/token-acts.ts'
import { tokenProgramOf } from '../../solana/token-programs.ts'
import { fault } from '../locks/checks.ts'

export type Built = PlainInstruction | TransactionInstruction

export type Purse = Awaited<ReturnType<typeof readPurse>>

/**
 * Reads what a buyer has, the vaults, and the mints; null for an account that is not there, and for a mint that cannot be
 * read. Throws internal_error when the node fails.
 */
export async function readPurse({ chain }: Pick<Services, 'chain'>, raise: Raise, buyer: string) {
  const { mint, quoteMint, baseVault, quoteVault, tokenProgram, quoteTokenProgram } = raise
  const [base, quote] = await Promise.all([
    associatedAccounts({ mint, tokenProgram }),
    associatedAccounts({ mint: quoteMint, tokenProgram: quoteTokenProgram }),
  ])
  const places = [base.accountOf(buyer), quote.accountOf(buyer), baseVault, quoteVault] as const
  const [wallet, baseMint, paidMint, ...accounts] = await accountsAt(chain, [buyer, mint, quoteMint, ...places])
  const at = (place: 0 | 1 | 2 | 3) => {
    const account = accounts[place] ?? null
    return { address: places[place], state: account && readTokenAccount(account) }
  }
  return {
    buyer,
    lamports: wallet?.lamports ?? 0n,
    token: await decodeTokenState(mint, baseMint ?? null, null),
    quote: await decodeTokenState(quoteMint, paidMint ?? null, null),
    tokens: at(0),
    quotes: at(1),
    vaults: { tokens: at(2), quotes: at(3) },
  }
}

/** Throws bad_request if tokens cannot move between the vault of the raise and the buyer. */
export function requireMovable({ buyer, vaults, ...own }: Purse, side: 'tokens' | 'quotes'): void {
  const account = own[side]
  const named = { 'the raise': vaults[side], [buyer]: account }
  for (const [whose, { address, state }] of Object.entries(named)) {
    if (state?.state !== 'frozen') continue
    const message = `The token account ${address} of ${whose} is frozen: the freeze authority of ${state.mint} must thaw it first`
    throw fault(whose === buyer ? 'buyer' : 'id', message, { reason: 'frozen', account: address })
  }
  if (account.state === null || account.state.owner === buyer) return
  const message = `buyer: the token account ${account.address} of ${buyer} belongs to ${account.state.owner}: only its owner can give it back`
  throw fault('buyer', message, { account: account.address, owner: account.state.owner })
}

/** The token account of a buyer, as the instructions of an act name it. */
export const through = (purse: Purse, raise: Raise, side: 'tokens' | 'quotes'): Through => {
  const { address: account, state } = purse[side]
  const [mint, program] =
    side === 'tokens' ? [raise.mint, raise.tokenProgram] : [raise.quoteMint, raise.quoteTokenProgram]
  return { wallet: purse.buyer, account, mint, program: tokenProgramOf(program), isOpen: state !== null }
}

/** Whether an act opens the account for wrapped SOL, and so unwraps what is in it at the end. */
export const unwraps = ({ quotes }: Purse, { quoteMint }: Raise): boolean =>
  quoteMint === WRAPPED_SOL && quotes.state === null

/** The instructions before a deposit: SOL is wrapped for it, and another quote proves its decimals. */
export function payment(purse: Purse, raise: Raise, sum: bigint): PlainInstruction[] {
  const own = through(purse, raise, 'quotes')
  if (own.mint === WRAPPED_SOL) return [openingInstruction(own), ...wrappingInstructions(own, sum)]
  return [decimalsInstruction(own, purse.quote?.decimals ?? 0)]
}
