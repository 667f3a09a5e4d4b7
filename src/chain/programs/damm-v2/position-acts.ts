/** Builds what the owner of a position does with its liquidity: adds, withdraws, locks or vests it, and closes the position. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { TOKEN_2022_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { decimalsProof } from '../tokens/index.ts'
import { positionAddresses } from './addresses.ts'
import { claimInstructions } from './claim.ts'
import type { TokenAmounts } from './liquidity.ts'
import type { DammV2Position, PositionSchedule } from './positions.ts'
import { dammV2Instruction, loadSdk } from './program.ts'
import type { DammV2Pool } from './state.ts'
import { type PoolAccounts, poolKeys, tokenAccounts, wrapping } from './swap.ts'

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
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  const position = await positionAddresses(input.nftMint)
  const owner = new PublicKey(input.payer)
  return compileUnsigned(input, [
    await dammV2Instruction('createPosition', [], {
      ...(await positionAccounts({ position })),
      owner,
      positionNftMint: new PublicKey(input.nftMint),
      pool: new PublicKey(input.pool.address),
      payer: owner,
      tokenProgram: new PublicKey(TOKEN_2022_PROGRAM),
      systemProgram: SystemProgram.programId,
    }),
    ...(await additionInstructions({ ...input, position })),
  ])
}

async function additionInstructions(input: LiquidityAddition): Promise<TransactionInstruction[]> {
  const { PublicKey } = await import('@solana/web3.js')
  const { pool, maximum, liquidity } = input
  const [{ toBn }, owner] = [await loadSdk(), new PublicKey(input.payer)]
  const [keys, accounts] = await Promise.all([poolKeys(pool), tokenAccounts(pool, owner)])
  const sides = [
    { mint: pool.tokenAMint, program: pool.tokenAProgram, decimals: pool.tokenADecimals },
    { mint: pool.tokenBMint, program: pool.tokenBProgram, decimals: pool.tokenBDecimals },
  ].filter(({ mint }) => mint !== WRAPPED_SOL)
  return [
    ...accounts.opening,
    ...(await Promise.all(sides.map((side) => decimalsProof(input.payer, side)))),
    ...(await wrapping(owner, pool.tokenAMint, accounts.tokenA, maximum.amountA)),
    ...(await wrapping(owner, pool.tokenBMint, accounts.tokenB, maximum.amountB)),
    await dammV2Instruction(
      'addLiquidity',
      [
        {
          liquidityDelta: toBn(liquidity),
          tokenAAmountThreshold: toBn(maximum.amountA),
          tokenBAmountThreshold: toBn(maximum.amountB),
        },
      ],
      {
        ...keys,
        ...(await positionAccounts(input)),
        tokenAAccount: accounts.tokenA,
        tokenBAccount: accounts.tokenB,
        signer: owner,
      },
    ),
    ...accounts.closing,
  ]
}

export interface LiquidityRemoval extends PositionAct {
  /** Null is all that can be withdrawn when the transaction runs. */
  liquidity: bigint | null
  /** With less of either token the transaction fails with ExceededSlippage. */
  minimum: TokenAmounts
}

/** Opens missing token accounts. The payer's wrapped SOL account is closed, and its whole balance becomes SOL. */
export async function buildLiquidityRemoval(input: LiquidityRemoval): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const [{ toBn }, owner] = [await loadSdk(), new PublicKey(input.payer)]
  const [keys, accounts] = await Promise.all([poolKeys(input.pool), tokenAccounts(input.pool, owner)])
  const named = {
    ...keys,
    ...(await positionAccounts(input)),
    tokenAAccount: accounts.tokenA,
    tokenBAccount: accounts.tokenB,
    signer: owner,
  }
  const [leastA, leastB] = [toBn(input.minimum.amountA), toBn(input.minimum.amountB)]
  return compileUnsigned(input, [
    ...accounts.opening,
    ...(await refreshing(input, owner)),
    input.liquidity === null
      ? await dammV2Instruction('removeAllLiquidity', [leastA, leastB], named)
      : await dammV2Instruction(
          'removeLiquidity',
          [
            {
              liquidityDelta: toBn(input.liquidity),
              tokenAAmountThreshold: leastA,
              tokenBAmountThreshold: leastB,
            },
          ],
          named,
        ),
    ...accounts.closing,
  ])
}

export interface PermanentLock extends PositionAct {
  liquidity: bigint
}

/** The fees remain claimable, but the liquidity can never be withdrawn. */
export async function buildPermanentLock(input: PermanentLock): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const [{ toBn }, owner] = [await loadSdk(), new PublicKey(input.payer)]
  return compileUnsigned(input, [
    ...(await refreshing(input, owner)),
    await dammV2Instruction('permanentLockPosition', [toBn(input.liquidity)], {
      ...(await positionAccounts(input)),
      pool: new PublicKey(input.pool.address),
      signer: owner,
    }),
  ])
}

export interface PositionVesting extends PositionAct {
  /** Without a cliff point, the cliff is when the transaction runs. */
  schedule: Omit<PositionSchedule, 'released' | 'cliffPoint'> & { cliffPoint: bigint | null }
}

/** Locks liquidity until a schedule releases it. The schedule is in the position itself, which has room for one. */
export async function buildPositionVesting(input: PositionVesting): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const { toBn } = await loadSdk()
  const [owner, { schedule }] = [new PublicKey(input.payer), input]
  const params = {
    cliffPoint: schedule.cliffPoint === null ? null : toBn(schedule.cliffPoint),
    periodFrequency: toBn(schedule.frequency),
    cliffUnlockLiquidity: toBn(schedule.cliffLiquidity),
    liquidityPerPeriod: toBn(schedule.liquidityPerPeriod),
    numberOfPeriod: schedule.periods,
  }
  return compileUnsigned(input, [
    ...(await refreshing(input, owner)),
    await dammV2Instruction('lockInnerPosition', [params], {
      ...(await positionAccounts(input)),
      pool: new PublicKey(input.pool.address),
      signer: owner,
    }),
  ])
}

export interface PositionClosing extends Omit<PositionAct, 'refreshes'> {
  position: Pick<DammV2Position, 'position' | 'positionNftAccount' | 'nftMint'>
  /** Whether it has fees, which must be claimed first. */
  claims: boolean
}

/** Burns the NFT of an empty position, and returns the rent of its accounts to the payer. */
export async function buildPositionClosing(input: PositionClosing): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const [owner, { pool, position }] = [new PublicKey(input.payer), input]
  return compileUnsigned(input, [
    ...(input.claims ? await claimInstructions({ owner: input.payer, pool, positions: [position] }) : []),
    await dammV2Instruction('closePosition', [], {
      ...(await positionAccounts(input)),
      positionNftMint: new PublicKey(position.nftMint),
      pool: new PublicKey(pool.address),
      rentReceiver: owner,
      owner,
      tokenProgram: new PublicKey(TOKEN_2022_PROGRAM),
    }),
  ])
}

async function positionAccounts({ position }: Pick<PositionAct, 'position'>) {
  const { PublicKey } = await import('@solana/web3.js')
  return {
    position: new PublicKey(position.position),
    positionNftAccount: new PublicKey(position.positionNftAccount),
  }
}

async function refreshing(input: PositionAct, owner: PublicKey): Promise<TransactionInstruction[]> {
  if (!input.refreshes) return []
  const { PublicKey } = await import('@solana/web3.js')
  const accounts = { ...(await positionAccounts(input)), pool: new PublicKey(input.pool.address), owner }
  return [await dammV2Instruction('refreshVesting', [], accounts)]
}
