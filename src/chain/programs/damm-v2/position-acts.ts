/** Builds what the owner of a position does with its liquidity: withdraws it, or locks it for good. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import type { TokenAmounts } from './liquidity.ts'
import type { DammV2Position } from './positions.ts'
import { dammV2Instruction, loadSdk } from './program.ts'
import { type PoolAccounts, poolKeys, tokenAccounts } from './swap.ts'

/** Compute limits if the transaction cannot be simulated, above the highest measured costs. */
export const POSITION_ACT_UNITS = { remove: 200_000, lock: 60_000 } as const

interface PositionAct extends Envelope {
  pool: PoolAccounts
  /** The payer holds its NFT, and signs. */
  position: Pick<DammV2Position, 'position' | 'positionNftAccount'>
  /** Whether a schedule has released liquidity that the position does not show yet. */
  refreshes: boolean
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
