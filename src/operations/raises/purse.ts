/** The wallet and token accounts through which a buyer of a raise pays and is paid, and the instructions around an act. */
import type { TransactionInstruction } from '@solana/web3.js'
import { wrapping } from '../../chain/programs/damm-v2/swap.ts'
import { associatedAccounts } from '../../chain/programs/derived-addresses.ts'
import type { Raise } from '../../chain/programs/presale/index.ts'
import { sdkInstructions } from '../../chain/programs/sdk-instruction.ts'
import { decimalsProof, decodeTokenState, type OnChainToken } from '../../chain/programs/tokens/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Services } from '../../context.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { ASSOCIATED_TOKEN } from '../../solana/programs/associated-token.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { readTokenAccount, type TokenAccountState } from '../../solana/token-accounts.ts'
import { tokenProgramOf } from '../../solana/token-programs.ts'
import { fault } from '../locks/checks.ts'

/** A token account; null where there is none. */
interface Account {
  address: string
  state: TokenAccountState | null
}

export interface Purse {
  buyer: string
  lamports: bigint
  /** The mint of the token; null if it cannot be read. */
  token: OnChainToken | null
  quote: OnChainToken | null
  tokens: Account
  quotes: Account
  vaults: { tokens: Account; quotes: Account }
}

/** Throws internal_error when the node fails. */
export async function readPurse({ chain }: Pick<Services, 'chain'>, raise: Raise, buyer: string): Promise<Purse> {
  const { mint, quoteMint, baseVault, quoteVault, tokenProgram, quoteTokenProgram } = raise
  const [base, quote] = await Promise.all([
    associatedAccounts({ mint, tokenProgram }),
    associatedAccounts({ mint: quoteMint, tokenProgram: quoteTokenProgram }),
  ])
  const places = [base.accountOf(buyer), quote.accountOf(buyer), baseVault, quoteVault] as const
  const [wallet, baseMint, paidMint, ...accounts] = await accountsAt(chain, [buyer, mint, quoteMint, ...places])
  const at = (place: 0 | 1 | 2 | 3): Account => {
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

/** Opens the token account of a buyer if it is missing; the buyer pays. */
async function opening({ buyer }: Purse, { address }: Account, mint: string, program: string) {
  const accounts = { source: buyer, account: address, wallet: buyer, mint, systemProgram: SYSTEM_PROGRAM }
  const sdk = await sdkInstructions()
  return sdk(ASSOCIATED_TOKEN.instruction('createIdempotent', { ...accounts, tokenProgram: program }, {}))
}

/** Closes an account of wrapped SOL, whose lamports all go to its owner. */
async function unwrapping({ buyer, quotes }: Purse): Promise<TransactionInstruction> {
  const accounts = { account: quotes.address, destination: buyer, authority: buyer, signers: [] }
  return (await sdkInstructions())(TOKEN.instruction('closeAccount', accounts, {}))
}

/** Whether an act opens the account for wrapped SOL, and so unwraps what is in it at the end. */
export const unwraps = ({ quotes }: Purse, { quoteMint }: Raise): boolean =>
  quoteMint === WRAPPED_SOL && quotes.state === null

/** The instructions before and after a deposit: SOL is wrapped for it, and another quote proves its decimals. */
export async function aroundPayment(purse: Purse, raise: Raise, sum: bigint) {
  const { buyer, quotes, quote } = purse
  if (raise.quoteMint === WRAPPED_SOL) {
    const opened = await opening(purse, quotes, WRAPPED_SOL, TOKEN_PROGRAM)
    const closed = unwraps(purse, raise) ? [await unwrapping(purse)] : []
    return { before: [opened, ...(await wrapping(buyer, WRAPPED_SOL, quotes.address, sum))], after: closed }
  }
  const mint = {
    mint: raise.quoteMint,
    program: tokenProgramOf(raise.quoteTokenProgram),
    decimals: quote?.decimals ?? 0,
  }
  return { before: [await decimalsProof(buyer, mint)], after: [] }
}

/** The instructions before and after a payment of quote to the buyer. */
export async function aroundPayout(purse: Purse, raise: Raise) {
  return {
    before: [await opening(purse, purse.quotes, raise.quoteMint, tokenProgramOf(raise.quoteTokenProgram))],
    after: unwraps(purse, raise) ? [await unwrapping(purse)] : [],
  }
}

/** Opens the account for the tokens of a claim. */
export const openingForTokens = (purse: Purse, raise: Raise): Promise<TransactionInstruction> =>
  opening(purse, purse.tokens, raise.mint, tokenProgramOf(raise.tokenProgram))
