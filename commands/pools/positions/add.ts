/** `svc pools positions open` and `add`: put tokens and SOL into a pool. */
import { paths } from '../../../src/api/paths.ts'
import type { LiquidityAddition, PositionOpening } from '../../../src/api/pool-positions.ts'
import { SOL_DECIMALS } from '../../../src/solana/constants.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { DAMM_V2 } from '../../../src/solana/programs/damm-v2.ts'
import { rawUnits } from '../../cli/amounts.ts'
import { integer, text, verb } from '../../cli/command.ts'
import type { Session } from '../../cli/session.ts'
import {
  type Call,
  demanding,
  opens,
  provesDecimals,
  type Signing,
  same,
  unexpectedBuild,
  type Wanted as WantedField,
  wraps,
} from '../../signing/demand.ts'
import { previewLine } from '../../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
import {
  amountTexts,
  DEFAULT_SLIPPAGE_BPS,
  decimalsOfBoth,
  EXAMPLE_POOL,
  EXAMPLE_POSITION,
  POOL,
  POSITION,
  partFields,
  partLines,
  type Sides,
} from './parts.ts'

const AMOUNTS = {
  amount_a: text('Most whole units of token A to add, like 1000; `svc pools positions list` says which token it is', {
    placeholder: 'AMOUNT',
  }),
  amount_b: text('Most whole units of token B, which is SOL in the pools that svc makes', { placeholder: 'AMOUNT' }),
  slippage_bps: integer(
    `How much more than shown may leave, in hundredths of a percent (default ${DEFAULT_SLIPPAGE_BPS})`,
    { min: 0, max: 10_000 },
  ),
}
const AMOUNTS_DETAILS =
  'The pool takes both tokens in the ratio of its price, so one amount implies the other; with both, neither is exceeded. The transaction fails if more than the shown maximum would leave.'
type Typed = { amount_a?: string | undefined; amount_b?: string | undefined; slippage_bps: number }

/** The wanted amounts in raw units, with the decimals that they were converted with. */
interface Wanted extends Sides {
  a: bigint | null
  b: bigint | null
}

/** Reads the decimals of both tokens from the API, which the transaction then proves. */
async function readWanted(session: Session, address: string, owner: string, typed: Typed): Promise<Wanted> {
  const { data } = await session.client.positions.list({ address, owner })
  const units = (amount: string | undefined, decimals: number, flag: string) =>
    amount === undefined ? null : rawUnits(amount, decimals, flag)
  return {
    ...data,
    a: units(typed.amount_a, data.decimals_a, '--amount-a'),
    b: units(typed.amount_b, data.decimals_b, '--amount-b'),
  }
}

const wantedFields = ({ a, b }: Wanted, { slippage_bps }: Typed) => ({
  slippage_bps,
  ...(a === null ? {} : { amount_a: String(a) }),
  ...(b === null ? {} : { amount_b: String(b) }),
})

type Paid = Pick<LiquidityAddition, keyof Sides> &
  Pick<LiquidityAddition, 'pool_address' | 'added_liquidity' | 'amount_a' | 'amount_b' | 'maximum_a' | 'maximum_b'>

/** An addition as it was requested, and the answer to it. */
interface Addition {
  data: Paid
  wanted: Wanted
  typed: Typed
}

/**
 * The calls that add liquidity. The program takes for it what its price says, and never more than the maxima. Throws a
 * failure if the answer has other tokens or decimals than those that the amounts were converted with.
 */
async function adds(of: Signing, position: WantedField, { data, wanted, typed }: Addition): Promise<Call[]> {
  for (const name of ['mint_a', 'mint_b', 'decimals_a', 'decimals_b'] as const) {
    if (data[name] !== wanted[name])
      throw unexpectedBuild(`its ${name} is ${data[name]}, and was ${wanted[name]} before`)
  }
  const { payer, accounts } = of
  const { mint_a: mintA, mint_b: mintB, maximum_a, maximum_b } = data
  const [textA, textB] = amountTexts(data, maximum_a, maximum_b)
  /** Of a token without an amount, only the API knows how much goes in. */
  const mostOf = (amount: bigint | null, stated: string, said: string, flag: string) => {
    if (amount === null && stated !== '0') of.apiSays(`up to ${said} go in too`, flag)
    const limit = amount === null ? null : amount + (amount * BigInt(typed.slippage_bps)) / 10_000n
    return (units: string) => units === stated && (limit === null || BigInt(units) <= limit)
  }
  const most = {
    a: mostOf(wanted.a, maximum_a, textA, '--amount-a'),
    b: mostOf(wanted.b, maximum_b, textB, '--amount-b'),
  }
  const sides = [
    { mint: mintA, own: await accounts(mintA, payer), decimals: wanted.decimals_a, maximum: maximum_a },
    { mint: mintB, own: await accounts(mintB, payer), decimals: wanted.decimals_b, maximum: maximum_b },
  ] as const
  for (const { mint, decimals } of sides) {
    if (mint === WRAPPED_SOL && decimals !== SOL_DECIMALS) {
      throw unexpectedBuild(`SOL has ${SOL_DECIMALS} decimals, not ${decimals}`)
    }
  }
  const calls = await Promise.all(
    sides.map(async ({ mint, own, decimals, maximum }) =>
      mint === WRAPPED_SOL
        ? wraps(of, payer, BigInt(maximum))
        : [opens(payer, payer, mint), provesDecimals(own, mint, decimals, payer)],
    ),
  )
  return [
    ...calls.flat(),
    {
      program: DAMM_V2.id,
      call: 'add_liquidity',
      fields: {
        pool: data.pool_address,
        position,
        token_a_mint: mintA,
        token_b_mint: mintB,
        token_a_account: sides[0].own,
        token_b_account: sides[1].own,
        signer: payer,
        liquidity_delta: data.added_liquidity,
        token_a_amount_threshold: most.a,
        token_b_amount_threshold: most.b,
      },
    },
  ]
}

const demandsAddition = demanding(
  'liquidity for this position from your own accounts, and never more than the maxima',
  (of, { position, ...addition }: Addition & { position: string }) => adds(of, position, addition),
)

const demandsOpening = demanding(
  'a new position of yours with liquidity from your own accounts, and never more than the maxima',
  async (of, addition: Addition & { nftMint: string }): Promise<Call[]> => {
    const position = same()
    const { payer } = of
    const opened: Call = {
      program: DAMM_V2.id,
      call: 'create_position',
      fields: { owner: payer, payer, pool: addition.data.pool_address, position, position_nft_mint: addition.nftMint },
    }
    return [opened, ...(await adds(of, position, addition))]
  },
)

function paidLines(data: Paid, { slippage_bps }: Typed): string[] {
  const [a, b] = amountTexts(data, data.amount_a, data.amount_b)
  const [mostA, mostB] = amountTexts(data, data.maximum_a, data.maximum_b)
  return [
    previewLine('adds', a),
    previewLine('and', b),
    previewLine('at most', `${mostA} (${slippage_bps / 100} % more)`),
    previewLine('and', mostB),
  ]
}

const PAID_FIELDS = ['amount_a', 'amount_b', 'maximum_a', 'maximum_b'] as const
const paidFields = ({ added_liquidity, amount_a, amount_b, maximum_a, maximum_b }: Paid) => ({
  added_liquidity,
  amount_a,
  amount_b,
  maximum_a,
  maximum_b,
})

export const openVerb = verb({
  about: 'Open a position in a pool with its first liquidity',
  details: `You get the NFT of the position, and with it the liquidity and its fees. ${AMOUNTS_DETAILS}`,
  calls: [paths.positions.open, paths.positions.list, ...ACT_CALLS],
  args: POOL,
  flags: { ...AMOUNTS, ...ACT_SIGNING },
  needs: [['amount_a', 'amount_b']],
  examples: [
    `svc pools positions open ${EXAMPLE_POOL} --amount-b 2`,
    `svc pools positions open ${EXAMPLE_POOL} --amount-a 50000 --amount-b 2 --slippage-bps 50 --dry-run`,
  ],
  run({ address, amount_a, amount_b, slippage_bps = DEFAULT_SLIPPAGE_BPS, ...flags }, session) {
    const typed = { amount_a, amount_b, slippage_bps }
    let wanted: Wanted
    return runAct<PositionOpening>(session, flags, {
      what: `Open a position in the pool ${address}`,
      async call(body, options) {
        wanted = await readWanted(session, address, body.payer, typed)
        return session.client.positions.open({ address, ...wantedFields(wanted, typed), ...body }, options)
      },
      demand(of, data) {
        if (data.pool_address !== address) of.apiSays(`${address} became the pool ${data.pool_address}`, '<address>')
        return demandsOpening(of, { data, wanted, typed, nftMint: data.nft_mint })
      },
      decimals: (data) => decimalsOfBoth(PAID_FIELDS, data),
      preview: (data) => [
        previewLine('pool', data.pool_address),
        previewLine('position', data.position),
        ...paidLines(data, typed),
      ],
      show: (data) => ({
        pool_address: data.pool_address,
        position: data.position,
        nft_mint: data.nft_mint,
        ...paidFields(data),
      }),
    })
  },
})

export const addVerb = verb({
  about: 'Add liquidity to a position',
  details: `The new liquidity can be withdrawn, also if the rest of the position is locked. ${AMOUNTS_DETAILS}`,
  calls: [paths.positions.add, paths.positions.list, ...ACT_CALLS],
  args: POSITION,
  flags: { ...AMOUNTS, ...ACT_SIGNING },
  needs: [['amount_a', 'amount_b']],
  examples: [
    `svc pools positions add ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --amount-b 2`,
    `svc pools positions add ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --amount-a 50000 --amount-b 2 --dry-run`,
  ],
  run({ address, position, amount_a, amount_b, slippage_bps = DEFAULT_SLIPPAGE_BPS, ...flags }, session) {
    const typed = { amount_a, amount_b, slippage_bps }
    let wanted: Wanted
    return runAct<LiquidityAddition>(session, flags, {
      what: `Add liquidity to the position ${position}`,
      async call(body, options) {
        wanted = await readWanted(session, address, body.payer, typed)
        return session.client.positions.add({ address, position, ...wantedFields(wanted, typed), ...body }, options)
      },
      demand: (of, data) => demandsAddition(of, { data, wanted, typed, position }),
      decimals: (data) => decimalsOfBoth(PAID_FIELDS, data),
      preview: (data) => [...paidLines(data, typed), ...partLines(data)],
      show: (data) => ({ pool_address: data.pool_address, position, ...paidFields(data), ...partFields(data) }),
    })
  },
})
