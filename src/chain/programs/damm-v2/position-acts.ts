/** Builds what the owner of a position does: adds, withdraws, locks or vests liquidity, closes it or gives it away. */
import type { TransactionInstruction } from '@solana/web3.js'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { TOKEN_2022_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import type { PlainInstruction } from '../../../solana/programs/table.ts'
import { TOKEN } from '../../../solana/programs/token.ts'
import { openingInstruction } from '../../../solana/token-acts.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { decimalsProof } from '../tokens/index.ts'
import { positionAddresses } from './addresses.ts'
import { claimInstructions } from './claim.ts'
import type { TokenAmounts } from './liquidity.ts'
import type { DammV2Position, PositionSchedule } from './positions.ts'
import type { DammV2Pool } from './state.ts'
import { type PoolAccounts, poolRoles, type TokenAccounts, tokenAccounts, wrapping } from './swap.ts'

/** Compute limits if the transaction cannot be simulated, above the highest measured costs. */
export const POSITION_ACT_UNITS = {
  add: 250_000,
  open: 400_000,
  remove: 200_000,
  lock: 60_000,
  vest: 60_000,
  close: 250_000,
} as const

interface PositionAct extends Envelope {
  pool: PoolAccounts
  /** The payer holds its NFT, and signs. */
  position: Pick<DammV2Position, 'position' | 'positionNftAccount'>
  /** Whether a schedule has released liquidity that the position does not show yet. */
  refreshes: boolean
}

export interface LiquidityAddition extends Omit<PositionAct, 'refreshes'> {
  pool: PoolAccounts & Pick<DammV2Pool, 'tokenADecimals' | 'tokenBDecimals'>
  liquidity: bigint
  /** If more of either token would leave, the transaction fails with ExceededSlippage. */
  maximum: TokenAmounts
}

/**
 * Opens missing token accounts, wraps the most SOL that may leave, and returns the rest. A transfer of nothing proves
 * the decimals of each token.
 */
export const buildLiquidityAddition = async (input: LiquidityAddition): Promise<UnsignedTransaction> =>
  compileUnsigned(input, await additionInstructions(input))

export interface PositionOpening extends Omit<LiquidityAddition, 'position'> {
  /** Address of a fresh key, which signs too: the mint of the position's NFT. */
  nftMint: string
}

/** Opens a position of the payer, and adds its first liquidity. */
export async function buildPositionOpening(input: PositionOpening): Promise<UnsignedTransaction> {
  const sdk = await sdkInstructions()
  const position = positionAddresses(input.nftMint)
  const { payer } = input
  const roles = {
    ...positionRoles({ ...input, position }),
    owner: payer,
    position_nft_mint: input.nftMint,
    payer,
    token_program: TOKEN_2022_PROGRAM,
  }
  return compileUnsigned(input, [
    sdk(DAMM_V2.instruction('create_position', roles, {})),
    ...(await additionInstructions({ ...input, position })),
  ])
}

async function additionInstructions(input: LiquidityAddition): Promise<TransactionInstruction[]> {
  const { pool, maximum, payer } = input
  const [sdk, accounts] = await Promise.all([sdkInstructions(), tokenAccounts(pool, payer)])
  const sides = [
    { mint: pool.tokenAMint, program: pool.tokenAProgram, decimals: pool.tokenADecimals },
    { mint: pool.tokenBMint, program: pool.tokenBProgram, decimals: pool.tokenBDecimals },
  ].filter(({ mint }) => mint !== WRAPPED_SOL)
  return [
    ...accounts.opening,
    ...(await Promise.all(sides.map((side) => decimalsProof(payer, side)))),
    ...(await wrapping(payer, pool.tokenAMint, accounts.tokenA, maximum.amountA)),
    ...(await wrapping(payer, pool.tokenBMint, accounts.tokenB, maximum.amountB)),
    sdk(liquidityAddition(input, accounts)),
    ...accounts.closing,
  ]
}

/** The instruction alone, for tokens that are in the payer's accounts. */
export const liquidityAddition = (
  input: Pick<LiquidityAddition, 'payer' | 'position' | 'liquidity' | 'maximum'> & { pool: PoolAccounts },
  accounts: Pick<TokenAccounts, 'tokenA' | 'tokenB'>,
): PlainInstruction =>
  DAMM_V2.instruction('add_liquidity', liquidityRoles(input, accounts), {
    liquidity_delta: input.liquidity,
    ...thresholds(input.maximum),
  })

const thresholds = ({ amountA, amountB }: TokenAmounts) => ({
  token_a_amount_threshold: amountA,
  token_b_amount_threshold: amountB,
})

export interface LiquidityRemoval extends PositionAct {
  /** Null is all that can be withdrawn when the transaction runs. */
  liquidity: bigint | null
  /** With less of either token the transaction fails with ExceededSlippage. */
  minimum: TokenAmounts
}

/** Opens missing token accounts. The payer's wrapped SOL account is closed, and its whole balance becomes SOL. */
export async function buildLiquidityRemoval(input: LiquidityRemoval): Promise<UnsignedTransaction> {
  const { payer, liquidity, minimum } = input
  const [sdk, accounts] = await Promise.all([sdkInstructions(), tokenAccounts(input.pool, payer)])
  const roles = liquidityRoles(input, accounts)
  const terms = thresholds(minimum)
  return compileUnsigned(input, [
    ...accounts.opening,
    ...refreshing(input).map(sdk),
    sdk(
      liquidity === null
        ? DAMM_V2.instruction('remove_all_liquidity', roles, terms)
        : DAMM_V2.instruction('remove_liquidity', roles, { liquidity_delta: liquidity, ...terms }),
    ),
    ...accounts.closing,
  ])
}

interface PermanentLock extends PositionAct {
  liquidity: bigint
}

/** The fees remain claimable, but the liquidity can never be withdrawn. */
export async function buildPermanentLock(input: PermanentLock): Promise<UnsignedTransaction> {
  return compileUnsigned(input, [...refreshing(input), permanentLock(input)].map(await sdkInstructions()))
}

/** The instruction alone. */
export const permanentLock = (
  input: Pick<PermanentLock, 'payer' | 'pool' | 'position' | 'liquidity'>,
): PlainInstruction =>
  DAMM_V2.instruction(
    'permanent_lock_position',
    { ...positionRoles(input), signer: input.payer },
    { permanent_lock_liquidity: input.liquidity },
  )

export interface PositionVesting extends PositionAct {
  /** Without a cliff point, the cliff is when the transaction runs. */
  schedule: Omit<PositionSchedule, 'released' | 'cliffPoint'> & { cliffPoint: bigint | null }
}

/** Locks liquidity until a schedule releases it. The schedule is in the position itself, which has room for one. */
export async function buildPositionVesting(input: PositionVesting): Promise<UnsignedTransaction> {
  const { schedule, payer: signer } = input
  const vest = DAMM_V2.instruction(
    'lock_inner_position',
    { ...positionRoles(input), signer },
    {
      cliff_point: schedule.cliffPoint,
      period_frequency: schedule.frequency,
      cliff_unlock_liquidity: schedule.cliffLiquidity,
      liquidity_per_period: schedule.liquidityPerPeriod,
      number_of_period: schedule.periods,
    },
  )
  return compileUnsigned(input, [...refreshing(input), vest].map(await sdkInstructions()))
}

export interface PositionClosing extends Omit<PositionAct, 'refreshes'> {
  position: Pick<DammV2Position, 'position' | 'positionNftAccount' | 'nftMint'>
  /** Whether it has fees, which must be claimed first. */
  claims: boolean
}

/** Burns the NFT of an empty position, and returns the rent of its accounts to the payer. */
export async function buildPositionClosing(input: PositionClosing): Promise<UnsignedTransaction> {
  const { pool, position, payer: owner } = input
  const sdk = await sdkInstructions()
  const roles = {
    ...positionRoles(input),
    position_nft_mint: position.nftMint,
    rent_receiver: owner,
    owner,
    token_program: TOKEN_2022_PROGRAM,
  }
  return compileUnsigned(input, [
    ...(input.claims ? await claimInstructions({ owner, pool, positions: [position] }) : []),
    sdk(DAMM_V2.instruction('close_position', roles, {})),
  ])
}

/** Positions in one transaction, which also fit as the proposal of a multisig. */
export const MOST_TRANSFERRED_POSITIONS = 4
/** Compute limit for one position if the transaction cannot be simulated: mostly the new token account. */
export const POSITION_TRANSFER_UNITS = 60_000

interface PositionTransfer extends Envelope {
  /** Positions whose NFTs the payer holds. */
  positions: readonly Pick<DammV2Position, 'nftMint' | 'positionNftAccount'>[]
  newOwner: string
}

/** Sends each NFT to the new owner's associated token account, opened by the payer, and closes the empty one. */
export async function buildPositionTransfer(input: PositionTransfer): Promise<UnsignedTransaction> {
  const { payer, newOwner: wallet } = input
  const [program, by] = [TOKEN_2022_PROGRAM, { authority: payer, signers: [] }]
  const instructions = input.positions.flatMap(({ nftMint: mint, positionNftAccount: source }) => {
    const account = associatedTokenAddress(wallet, mint, program)
    const moved = { source, mint, destination: account, ...by }
    return [
      openingInstruction({ wallet, account, mint, program, payer }),
      { ...TOKEN.instruction('transferChecked', moved, { amount: 1n, decimals: 0 }), program },
      { ...TOKEN.instruction('closeAccount', { account: source, destination: payer, ...by }, {}), program },
    ]
  })
  return compileUnsigned(input, instructions.map(await sdkInstructions()))
}

const positionRoles = ({ pool, position }: Pick<PositionAct, 'pool' | 'position'>) => ({
  pool: pool.address,
  position: position.position,
  position_nft_account: position.positionNftAccount,
})

const liquidityRoles = (
  act: Pick<PositionAct, 'pool' | 'position' | 'payer'>,
  { tokenA, tokenB }: Pick<TokenAccounts, 'tokenA' | 'tokenB'>,
) => ({
  ...poolRoles(act.pool),
  ...positionRoles(act),
  token_a_account: tokenA,
  token_b_account: tokenB,
  signer: act.payer,
})

const refreshing = (act: PositionAct): PlainInstruction[] =>
  act.refreshes ? [DAMM_V2.instruction('refresh_vesting', { ...positionRoles(act), owner: act.payer }, {})] : []
