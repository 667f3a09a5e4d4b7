/** Reads the two mints of a new raise and the tokens for it, and refuses mints with which somebody could cheat buyers. */
import { associatedAccounts } from '../../chain/programs/derived-addresses.ts'
import { decodeTokenState, type OnChainToken } from '../../chain/programs/tokens/index.ts'
import { chainTimeOf } from '../../chain/reads/chain-clock.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { CLOCK_SYSVAR, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { readTokenAccount, TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { TOKEN_AUTHORITIES } from '../../solana/token-authorities.ts'
import { feeInEpoch } from '../../solana/transfer-fees.ts'
import { extensionsBeside } from '../locks/checks.ts'
import { fieldFault, refuseFirst, saidOf } from '../sentences.ts'

/** Extensions that say where metadata is, and what it is. */
const DESCRIBING: readonly string[] = ['MetadataPointer', 'TokenMetadata']
/** What the program accepts of a token for sale (6010). */
const SELLABLE: readonly string[] = [...DESCRIBING, 'TransferFeeConfig', 'TransferHook']

/** Throws not_found without a mint, and bad_request for one that cannot be sold or paid safely. */
export async function readRaiseMints(
  { chain }: Pick<Context, 'chain'>,
  { mint, quote_mint = WRAPPED_SOL }: { mint: string; quote_mint?: string | undefined },
) {
  refuseFirst(mint === quote_mint && `quote_mint: ${mint} is the token for sale itself`)
  const [clock, ...accounts] = await accountsAt(chain, [CLOCK_SYSVAR, mint, quote_mint])
  const read = async (param: string, address: string, place: number) => {
    const found = await decodeTokenState(address, accounts[place] ?? null, null)
    if (found !== null) return found
    throw notFound(`${param}: there is no token mint at ${address} on ${chain.cluster.label}`, { param })
  }
  const [token, quote] = [await read('mint', mint, 0), await read('quote_mint', quote_mint, 1)]
  await requireSellable(token)
  await requirePlainQuote(quote, 'quote_mint', 'choose a plain mint')
  return { at: await chainTimeOf(clock ?? null), token, quote }
}

/** Throws bad_request for a quote of which more may leave a buyer than is deposited, and less come back. */
export async function requirePlainQuote(quote: OnChainToken, param: string, way: string): Promise<void> {
  const others = await extensionsBeside(DESCRIBING, quote)
  if (others.length === 0) return
  const why = `has the extension ${others.join(', ')}, which can change or stop payments: ${way}`
  throw fieldFault(`${param}: ${quote.mint} ${why}`, { extensions: others })
}

/** The powers over a mint by which buyers would get less than they paid for, and what each could do. */
const POWERS = {
  mint: 'mint any number more',
  freeze: 'freeze what is sold, so that buyers cannot claim, while the creator takes what they paid',
  transfer_fee_config: 'raise the transfer fee up to 100 % before buyers claim',
  transfer_hook: 'let a program refuse claims',
} as const

async function requireSellable(token: OnChainToken): Promise<void> {
  const { mint, extensions } = token
  const refuse = (why: string, found: readonly string[]) =>
    fieldFault(`mint: ${why}: sell another token`, { extensions: found })
  const refused = await extensionsBeside(SELLABLE, token)
  if (refused.length > 0) throw refuse(`the program refuses mints with the extension ${refused.join(', ')}`, refused)
  const hook = extensions?.transferHook ?? null
  if (hook !== null) {
    throw refuse(`every transfer of ${mint} calls the program ${hook}, which could refuse claims`, ['TransferHook'])
  }
  for (const { power, holder, text } of heldPowers(token)) {
    const way = `DELETE /v2/tokens/{mint}/authorities/${power}, \`svc tokens revoke ${mint} ${power}\``
    throw fieldFault(`mint: ${text}: give it up first (${way})`, { authority: power, holder })
  }
}

/** The powers that somebody holds, and what each could do. */
export function heldPowers({ mint, mintAuthority, freezeAuthority, extensions }: OnChainToken) {
  const { transfer_fee_config, transfer_hook } = extensions?.authorities ?? {}
  const holders = { mint: mintAuthority, freeze: freezeAuthority, transfer_fee_config, transfer_hook }
  return (Object.keys(POWERS) as (keyof typeof POWERS)[]).flatMap((power) => {
    const holder = holders[power] ?? null
    const text = `${holder} holds the ${TOKEN_AUTHORITIES[power].name} of ${mint}, and could ${POWERS[power]}`
    return holder === null ? [] : [{ power, holder, text }]
  })
}

/** What is said of mints that are accepted. */
export function mintWarnings({ at, token, quote }: Awaited<ReturnType<typeof readRaiseMints>>): string[] {
  const fee = feeInEpoch(token.extensions, at.epoch)
  return saidOf([
    fee !== null &&
      fee.basisPoints > 0 &&
      `The mint withholds ${fee.basisPoints / 100} % of every transfer, at most ${fee.maximumFee} raw units: buyers receive so much less than they claim`,
    quote.freezeAuthority !== null &&
      `${quote.freezeAuthority} can freeze accounts of the quote ${quote.mint}, also that of the raise`,
  ])
}

/** Bytes of a vault of the program, which is no associated token account and so has no extension for that. */
export function vaultBytes({ extensions }: OnChainToken): number {
  const more = (extensions?.accountBytes ?? 0) - ASSOCIATED_BYTES
  return more > 0 ? TOKEN_ACCOUNT_SIZE + 1 + more : TOKEN_ACCOUNT_SIZE
}
/** Bytes of an associated token account of Token-2022 without further extensions. */
const ASSOCIATED_BYTES = 170

/**
 * Returns the account that pays the tokens, and warnings. `reserve` is what the plan of the pool needs of the creator.
 * Throws bad_request if the payer lacks the deposit, with the reserve if it is the creator.
 */
export async function requireTokens(
  { chain }: Pick<Context, 'chain'>,
  token: OnChainToken,
  { payer, creator, deposit, reserve }: { payer: string; creator: string; deposit: bigint; reserve: bigint },
): Promise<{ from: string; warnings: string[] }> {
  const { mint } = token
  const { accountOf } = associatedAccounts(token)
  const from = accountOf(payer)
  const accounts = await accountsAt(chain, [from, accountOf(creator)])
  const [own, creators] = accounts.map((account) => account && readTokenAccount(account))
  const isOwn = payer === creator
  const need = isOwn ? deposit + reserve : deposit
  const have = own?.owner === payer ? own.amount : 0n
  const details = { account: from, have: String(have), need: String(need) }
  if (have < need) {
    const parts = isOwn && reserve > 0n ? ` (${deposit} for sale and ${reserve} for the pool)` : ''
    const lack = `${payer} has ${have} raw units of ${mint} in ${from}, and ${need} are needed${parts}`
    throw fieldFault(`payer: ${lack}: send it the tokens first`, details)
  }
  if (own?.state === 'frozen')
    throw fieldFault(`payer: its token account ${from} is frozen for good: pay with another wallet`, details)
  if (isOwn || reserve === 0n || (creators?.amount ?? 0n) >= reserve) return { from, warnings: [] }
  const warning = `The creator ${creator} has ${creators?.amount ?? 0n} of the ${reserve} raw units that the plan of the pool needs: send them before the raise ends`
  return { from, warnings: [warning] }
}
