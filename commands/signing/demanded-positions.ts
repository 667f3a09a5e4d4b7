/** Lists the calls that withdraw or lock liquidity of a position in a DAMM v2 pool. */
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type Call, closes, demanding, opens, type Signing, type Wanted } from './demand.ts'

export interface AskedPosition {
  pool: string
  position: string
  /** Mints of the pool, which the program compares with it. */
  mintA: string
  mintB: string
  /** Liquidity in the program's units; null is all that can be withdrawn. */
  liquidity: string | null
}

const program = PROGRAMS.dammV2.id

/** Releases what a schedule owes the position; it moves nothing, and anyone may call it. */
const refreshes = ({ pool, position }: Pick<AskedPosition, 'pool' | 'position'>, owner: string): Call => ({
  program,
  call: 'refresh_vesting',
  fields: { pool, position, owner },
  least: 0,
})

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
