/** Builds the launch of a token in its own pool: the mint, then the pool that receives the whole supply. */

import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { TOKEN_2022_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import { AUTHORITY_TYPE_NAMES, TOKEN } from '../../../solana/programs/token.ts'
import { budgetInstructions } from '../../sending/compute-budget.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { transferInstruction } from '../sol-transfers.ts'
import { buildTokenCreation, tokenCreationInstructions } from '../tokens/index.ts'
import { positionAddresses } from './addresses.ts'
import { freshPool, initializePool, LEAST_SOL, planPoolOpening } from './opening.ts'
import { permanentLock } from './position-acts.ts'
import { dammV2SwapInstruction, type PoolAccounts, tokenAccounts, wrapping } from './swap.ts'
import type { PlatformShare, SingleSidedLaunch } from './types.ts'

export interface SingleSidedPool extends SingleSidedLaunch {
  /** Tip for a relay at the end of the last transaction, or null for none. */
  tip: { account: string; lamports: bigint } | null
  recentBlockhash: string
  /** Micro-lamports for each compute unit. The price is left out when it is 0 or not set. */
  computeUnitPrice?: bigint
}

/**
 * Fixed limits, because the second transaction cannot be simulated before the first has landed. They are half more
 * than measured in a few dozen launches, since the cost of deriving addresses varies.
 */
export const DAMM_V2_LAUNCH_UNITS = {
  token: 120_000,
  pool: 260_000,
  poolWithBuy: 290_000,
  sharedPool: 370_000,
  sharedPoolWithBuy: 400_000,
} as const

/**
 * Returns two transactions to land in order: the mint with fixed Metaplex metadata and no authorities, then the pool
 * against SOL with the whole supply. For room, a platform part moves wrapping and the tip to the first. Throws
 * bad_request naming the field for what the programs refuse.
 */
export async function buildSingleSidedPool(input: SingleSidedPool): Promise<UnsignedTransaction[]> {
  const { computeUnitPrice, platform, recentBlockhash } = input
  const { wrapped, opened } = await poolInstructions(input)
  const tip = await dammV2TipInstructions(input)
  const ahead = platform === null ? [] : [...wrapped, ...tip]
  const instructions = platform === null ? [...wrapped, ...opened] : opened
  const before = await budget(DAMM_V2_LAUNCH_UNITS[launchKindOf(input)], computeUnitPrice)
  const after = platform === null ? tip : []
  const minted = await mintWith(input, ahead)
  return [minted, await compileUnsigned({ payer: input.creator, recentBlockhash, before, after }, instructions)]
}

/**
 * Builds the same launch as a single transaction of version 1, so that all of it lands or nothing. The payer is the
 * creator. Throws like `buildSingleSidedPool`.
 */
export async function buildWholeSingleSidedPool(input: Envelope & SingleSidedLaunch): Promise<UnsignedTransaction> {
  const { wrapped, opened } = await poolInstructions(input)
  return compileUnsigned(input, [...(await tokenCreationInstructions(tokenOf(input))), ...wrapped, ...opened])
}

/** Returns the compute limit of a single transaction that cannot run yet. */
export const wholePoolUnits = (input: SingleSidedLaunch): number =>
  DAMM_V2_LAUNCH_UNITS.token + DAMM_V2_LAUNCH_UNITS[launchKindOf(input)]

/** Returns the instructions that open the creator's wrapped SOL, and those that need it. */
async function poolInstructions(input: SingleSidedLaunch) {
  const opening = await planPoolOpening(input)
  const { buyLamports: amount, creator, platform } = input
  const pool = freshPool({ mint: input.mint })
  const [sdk, accounts] = await Promise.all([sdkInstructions(), tokenAccounts(pool, creator)])
  const wrapped = [
    ...accounts.opening.slice(1),
    ...(await wrapping(creator, WRAPPED_SOL, accounts.tokenB, amount + LEAST_SOL)),
  ]
  const opened = [await initializePool(input, pool, opening, accounts)]
  if (input.lockLiquidity) {
    const position = positionAddresses(input.positionNft)
    opened.push(sdk(permanentLock({ payer: creator, pool, position, liquidity: opening.liquidity })))
  }
  if (platform !== null) opened.push(...(await givePlatformShare(input, pool, platform)))
  if (amount > 0n) {
    // No one can trade before this buy, so it needs no larger minimum.
    opened.push(await dammV2SwapInstruction({ payer: creator, accounts, side: 'buy', amount, minimumOut: 1n, pool }))
  }
  // This closes the creator's wrapped SOL account, and its whole balance becomes SOL.
  opened.push(...accounts.closing)
  return { wrapped, opened }
}

function launchKindOf({
  platform,
  buyLamports,
}: SingleSidedLaunch): Exclude<keyof typeof DAMM_V2_LAUNCH_UNITS, 'token'> {
  if (platform === null) return buyLamports > 0n ? 'poolWithBuy' : 'pool'
  return buyLamports > 0n ? 'sharedPoolWithBuy' : 'sharedPool'
}

async function mintWith(
  input: SingleSidedPool,
  after: readonly TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const before = await budget(DAMM_V2_LAUNCH_UNITS.token, input.computeUnitPrice)
  return buildTokenCreation({ ...tokenOf(input), recentBlockhash: input.recentBlockhash, before, after })
}

/** The token of a launch, without authorities from the start. */
const tokenOf = (input: SingleSidedLaunch) => ({
  mint: input.mint,
  name: input.name,
  symbol: input.symbol,
  uri: input.uri,
  decimals: input.decimals,
  rent: input.rent,
  payer: input.creator,
  initialSupply: input.totalSupply,
  revokeMintAuthority: true,
  revokeFreezeAuthority: true,
  immutableMetadata: true,
  tokenProgram: 'spl' as const,
})

/** The denominator of a split. */
const WHOLE_SHARE = 1_000_000_000

/**
 * Opens a second position, first owned by the creator because a split requires both owners to sign, then transfers the
 * token account of its NFT. Throws bad_request for a percentage that leaves one of them nothing.
 */
async function givePlatformShare(
  { creator, positionNft }: Pick<SingleSidedLaunch, 'creator' | 'positionNft'>,
  { address: pool }: PoolAccounts,
  { wallet, positionNft: secondNft, percentage }: PlatformShare,
): Promise<TransactionInstruction[]> {
  if (!Number.isInteger(percentage) || percentage < 1 || percentage > 99) {
    throw badRequest('platform_position_percentage must be a whole number from 1 to 99', {
      param: 'platform_position_percentage',
    })
  }
  const sdk = await sdkInstructions()
  const [first, second] = [positionAddresses(positionNft), positionAddresses(secondNft)]
  const opened = {
    owner: creator,
    position_nft_mint: secondNft,
    position_nft_account: second.positionNftAccount,
    pool,
    position: second.position,
    payer: creator,
    token_program: TOKEN_2022_PROGRAM,
  }
  const given = { account: second.positionNftAccount, authority: creator, signers: [] }
  const split = {
    pool,
    first_position: first.position,
    first_position_nft_account: first.positionNftAccount,
    second_position: second.position,
    second_position_nft_account: second.positionNftAccount,
    first_owner: creator,
    second_owner: creator,
  }
  return [
    sdk(DAMM_V2.instruction('create_position', opened, {})),
    sdk(DAMM_V2.instruction('split_position2', split, { numerator: (WHOLE_SHARE / 100) * percentage })),
    sdk({
      ...TOKEN.instruction('setAuthority', given, {
        kind: AUTHORITY_TYPE_NAMES.indexOf('accountOwner'),
        newAuthority: wallet,
      }),
      program: TOKEN_2022_PROGRAM,
    }),
  ]
}

async function dammV2TipInstructions({ creator, tip }: Pick<SingleSidedPool, 'creator' | 'tip'>) {
  if (tip === null || tip.lamports === 0n) return []
  return [await transferInstruction(creator, tip.account, tip.lamports)]
}

/** A price of 0 is left out. */
const budget = (units: number, price = 0n) => budgetInstructions(units, price > 0n ? price : null)
