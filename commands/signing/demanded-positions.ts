/** Lists the calls that open or close a position in a DAMM v2 pool, and that add, withdraw, lock or vest its liquidity. */
import { hexOf } from '../../src/solana/bytes.ts'
import { SOL_DECIMALS } from '../../src/solana/constants.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { DAMM_V2 } from '../../src/solana/programs/damm-v2.ts'
import {
  type Call,
  closes,
  demanding,
  opens,
  provesDecimals,
  type Signing,
  same,
  unexpectedBuild,
  type Wanted,
  wraps,
} from './demand.ts'

export interface AskedPosition {
  pool: string
  position: string
  /** Mints of the pool, which the program compares with it. */
  mintA: string
  mintB: string
  /** Liquidity in the program's units; null is all that can be withdrawn. */
  liquidity: string | null
}

const program = DAMM_V2.id

/** Releases what a schedule owes the position; it moves nothing, and anyone may call it. */
const refreshes = ({ pool, position }: Pick<AskedPosition, 'pool' | 'position'>, owner: string): Call => ({
  program,
  call: 'refresh_vesting',
  fields: { pool, position, owner },
  least: 0,
})

export interface AskedAddition extends Omit<AskedPosition, 'position' | 'liquidity'> {
  position: Wanted
  /** As the API computed it. The program takes for it what its price says, and never more than the maxima. */
  liquidity: string
  /** Decimals with which amounts were converted; the chain checks them, except for SOL, whose decimals are known. */
  decimalsA: number
  decimalsB: number
  /** The most raw units that may leave, as the transaction enforces it. */
  mostA: { stated: string; isAllowed: (units: bigint) => boolean }
  mostB: { stated: string; isAllowed: (units: bigint) => boolean }
}

async function adds(of: Signing, asked: AskedAddition): Promise<Call[]> {
  const { pool, position, mintA, mintB, mostA, mostB } = asked
  const { payer, accounts } = of
  const limit =
    ({ stated, isAllowed }: AskedAddition['mostA']) =>
    (units: string) =>
      units === stated && isAllowed(BigInt(units))
  const sides = [
    { mint: mintA, own: await accounts(mintA, payer), decimals: asked.decimalsA, most: mostA },
    { mint: mintB, own: await accounts(mintB, payer), decimals: asked.decimalsB, most: mostB },
  ] as const
  for (const { mint, decimals } of sides) {
    if (mint === WRAPPED_SOL && decimals !== SOL_DECIMALS) {
      throw unexpectedBuild(`SOL has ${SOL_DECIMALS} decimals, not ${decimals}`)
    }
  }
  const calls = await Promise.all(
    sides.map(async ({ mint, own, decimals, most }) =>
      mint === WRAPPED_SOL
        ? wraps(of, payer, BigInt(most.stated))
        : [opens(payer, payer, mint), provesDecimals(own, mint, decimals, payer)],
    ),
  )
  return [
    ...calls.flat(),
    {
      program,
      call: 'add_liquidity',
      fields: {
        pool,
        position,
        token_a_mint: mintA,
        token_b_mint: mintB,
        token_a_account: sides[0].own,
        token_b_account: sides[1].own,
        signer: payer,
        liquidity_delta: asked.liquidity,
        token_a_amount_threshold: limit(mostA),
        token_b_amount_threshold: limit(mostB),
      },
    },
  ]
}

export const demandsAddition = demanding(
  'liquidity for this position from your own accounts, and never more than the maxima',
  adds,
)

export const demandsOpening = demanding(
  'a new position of yours with liquidity from your own accounts, and never more than the maxima',
  async (of: Signing, asked: Omit<AskedAddition, 'position'> & { nftMint: string }): Promise<Call[]> => {
    const position = same()
    const { payer } = of
    const opened: Call = {
      program,
      call: 'create_position',
      fields: { owner: payer, payer, pool: asked.pool, position, position_nft_mint: asked.nftMint },
    }
    return [opened, ...(await adds(of, { ...asked, position }))]
  },
)

export const demandsRemoval = demanding(
  'liquidity of this position, paid to your own accounts, and nothing else',
  async (of: Signing, asked: AskedPosition & { leastA: Wanted; leastB: Wanted }): Promise<Call[]> => {
    const { pool, position, mintA, mintB, liquidity, leastA, leastB } = asked
    const { payer, accounts } = of
    const own = { a: await accounts(mintA, payer), b: await accounts(mintB, payer) }
    const wrapped = [mintA, mintB].includes(WRAPPED_SOL) ? await accounts(WRAPPED_SOL, payer) : null
    const fields = {
      pool,
      position,
      token_a_mint: mintA,
      token_b_mint: mintB,
      token_a_account: own.a,
      token_b_account: own.b,
      signer: payer,
      token_a_amount_threshold: leastA,
      token_b_amount_threshold: leastB,
    }
    return [
      opens(payer, payer, mintA),
      opens(payer, payer, mintB),
      refreshes(asked, payer),
      liquidity === null
        ? { program, call: 'remove_all_liquidity', fields }
        : { program, call: 'remove_liquidity', fields: { ...fields, liquidity_delta: liquidity } },
      ...(wrapped === null ? [] : [closes(payer, wrapped)]),
    ]
  },
)

export const demandsPermanentLock = demanding(
  'liquidity of this position locked for good, and nothing else',
  ({ payer }: Signing, asked: Pick<AskedPosition, 'pool' | 'position'> & { liquidity: string }): Call[] => {
    const { pool, position, liquidity } = asked
    return [
      refreshes(asked, payer),
      {
        program,
        call: 'permanent_lock_position',
        fields: { pool, position, signer: payer, permanent_lock_liquidity: liquidity },
      },
    ]
  },
)

export interface AskedVesting extends Pick<AskedPosition, 'pool' | 'position'> {
  /** Unix seconds or a slot; null is when the transaction runs. */
  cliffPoint: bigint | null
  frequency: bigint
  cliffLiquidity: bigint
  liquidityPerPeriod: bigint
  periods: number
}

export const demandsVesting = demanding(
  'liquidity of this position locked by this schedule, and nothing else',
  ({ payer }: Signing, asked: AskedVesting): Call[] => [
    refreshes(asked, payer),
    {
      program,
      call: 'lock_inner_position',
      fields: { pool: asked.pool, position: asked.position, signer: payer },
      data: vestingData(asked),
    },
  ],
)

const vestingData = ({ cliffPoint, frequency, cliffLiquidity, liquidityPerPeriod, periods }: AskedVesting): string =>
  hexOf(
    DAMM_V2.data('lock_inner_position', {
      cliff_point: cliffPoint,
      period_frequency: frequency,
      cliff_unlock_liquidity: cliffLiquidity,
      liquidity_per_period: liquidityPerPeriod,
      number_of_period: periods,
    }),
  )

/** Fees go to the payer's own accounts, and the rent to the payer. The program closes only an empty position. */
export const demandsPositionClosing = demanding(
  'this position closed, with its fees and its rent for you, and nothing else',
  async ({ payer, accounts }: Signing, asked: Omit<AskedPosition, 'liquidity'>): Promise<Call[]> => {
    const { pool, position, mintA, mintB } = asked
    const [token_a_account, token_b_account] = [await accounts(mintA, payer), await accounts(mintB, payer)]
    const wrapped = [mintA, mintB].includes(WRAPPED_SOL) ? await accounts(WRAPPED_SOL, payer) : null
    const claim: Call = {
      program,
      call: 'claim_position_fee',
      fields: { pool, position, token_a_account, token_b_account, signer: payer },
      least: 0,
    }
    return [
      opens(payer, payer, mintA),
      opens(payer, payer, mintB),
      claim,
      ...(wrapped === null ? [] : [closes(payer, wrapped)]),
      { program, call: 'close_position', fields: { pool, position, owner: payer, rent_receiver: payer } },
    ]
  },
)
