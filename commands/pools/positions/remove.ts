/** `svc pools positions remove`: withdraws liquidity of a position. */
import { paths } from '../../../src/api/paths.ts'
import type { LiquidityRemoval } from '../../../src/api/pool-positions.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { DAMM_V2 } from '../../../src/solana/programs/damm-v2.ts'
import { integer, verb } from '../../cli/command.ts'
import { type Call, closes, demanding, opens } from '../../signing/demand.ts'
import { previewLine } from '../../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
import {
  amountTexts,
  CHOICE,
  type Chosen,
  choiceFields,
  chosenOf,
  DEFAULT_SLIPPAGE_BPS,
  decimalsOfBoth,
  EXAMPLE_POOL,
  EXAMPLE_POSITION,
  noteShare,
  ONE_PART,
  POSITION,
  partFields,
  partLines,
  partOf,
  refreshes,
} from './parts.ts'

/** What a removal was asked for, and the answer to it. */
interface Removal {
  position: string
  chosen: Chosen
  slippage_bps: number
  data: Pick<
    LiquidityRemoval,
    'pool_address' | 'mint_a' | 'mint_b' | 'removed_liquidity' | 'amount_a' | 'amount_b' | 'minimum_a' | 'minimum_b'
  >
}

const demandsRemoval = demanding(
  'liquidity of this position, paid to your own accounts, and nothing else',
  async ({ payer, accounts }, { position, chosen, slippage_bps, data }: Removal): Promise<Call[]> => {
    const { pool_address: pool, mint_a: mintA, mint_b: mintB } = data
    const isLeast = (stated: string, amount: string) => (units: string) =>
      units === stated && BigInt(units) >= (BigInt(amount) * BigInt(10_000 - slippage_bps)) / 10_000n
    const wrapped = [mintA, mintB].includes(WRAPPED_SOL) ? await accounts(WRAPPED_SOL, payer) : null
    const program = DAMM_V2.id
    const fields = {
      pool,
      position,
      token_a_mint: mintA,
      token_b_mint: mintB,
      token_a_account: await accounts(mintA, payer),
      token_b_account: await accounts(mintB, payer),
      signer: payer,
      token_a_amount_threshold: isLeast(data.minimum_a, data.amount_a),
      token_b_amount_threshold: isLeast(data.minimum_b, data.amount_b),
    }
    const liquidity_delta = chosen.kind === 'liquidity' ? chosen.liquidity : data.removed_liquidity
    return [
      opens(payer, payer, mintA),
      opens(payer, payer, mintB),
      refreshes(pool, position, payer),
      chosen.kind === 'all'
        ? { program, call: 'remove_all_liquidity', fields }
        : { program, call: 'remove_liquidity', fields: { ...fields, liquidity_delta } },
      ...(wrapped === null ? [] : [closes(payer, wrapped)]),
    ]
  },
)

export const removeVerb = verb({
  about: 'Withdraw liquidity of a position to your wallet',
  details:
    'Pays both tokens to the wallet that holds the position, SOL unwrapped. The transaction fails if less than the shown minimum would arrive. Unclaimed fees stay in the position.',
  calls: [paths.positions.remove, ...ACT_CALLS],
  args: POSITION,
  flags: {
    ...CHOICE,
    slippage_bps: integer(
      `How much less than shown to accept, in hundredths of a percent (default ${DEFAULT_SLIPPAGE_BPS})`,
      { min: 0, max: 10_000 },
    ),
    ...ACT_SIGNING,
  },
  needs: [ONE_PART],
  examples: [
    `svc pools positions remove ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --percent 25`,
    `svc pools positions remove ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --all --dry-run`,
  ],
  run({ address, position, all: _, percent, liquidity, slippage_bps = DEFAULT_SLIPPAGE_BPS, ...flags }, session) {
    const chosen = chosenOf({ percent, liquidity })
    return runAct<LiquidityRemoval>(session, flags, {
      what: `Withdraw ${partOf(chosen)} of the position ${position}`,
      call: (body, options) =>
        session.client.positions.remove({ address, position, slippage_bps, ...choiceFields(chosen), ...body }, options),
      demand(of, data) {
        // The program itself knows what all is.
        if (chosen.kind !== 'all') noteShare(of, chosen, data.removed_liquidity)
        return demandsRemoval(of, { position, chosen, slippage_bps, data })
      },
      decimals: (data) => decimalsOfBoth(['amount_a', 'amount_b', 'minimum_a', 'minimum_b'], data),
      preview(data) {
        const [a, b] = amountTexts(data, data.amount_a, data.amount_b)
        const [leastA, leastB] = amountTexts(data, data.minimum_a, data.minimum_b)
        return [
          previewLine('receives', a),
          previewLine('and', b),
          previewLine('at least', `${leastA} (${slippage_bps / 100} % less)`),
          previewLine('and', leastB),
          ...partLines(data),
        ]
      },
      show: ({ pool_address, removed_liquidity, amount_a, amount_b, minimum_a, minimum_b, ...data }) => ({
        pool_address,
        position,
        removed_liquidity,
        amount_a,
        amount_b,
        minimum_a,
        minimum_b,
        ...partFields(data),
      }),
    })
  },
})
