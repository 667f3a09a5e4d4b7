/** `svc pools positions`: liquidity of DAMM v2 pools that a wallet holds in positions. */
import { paths } from '../../src/api/paths.ts'
import type { HeldPositions, LiquidityRemoval, PositionLock } from '../../src/api/pool-positions.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { Amount, groupedDecimalOf, rawUnits } from '../cli/amounts.ts'
import { integer, poolAddress, required, text, toggle, type Verb, verb } from '../cli/command.ts'
import type { Signing } from '../signing/demand.ts'
import { demandsPermanentLock, demandsRemoval } from '../signing/demanded-positions.ts'
import { buildFields, SIGNING, WALLET_ADDRESS } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { usage } from '../ui/problem.ts'

const POOL = { address: required(poolAddress('Address or symbol of the pool, or of the curve that became it')) }
const POSITION = { ...POOL, position: required(text('Position, as `svc pools positions list` shows it')) }

const CHOICE = {
  all: toggle('All that can be withdrawn now'),
  percent: { ...text('This part of it, like 25 or 12.5', { placeholder: 'PERCENT' }), field: 'share_bps' },
  liquidity: text("This much of it, in the program's units", { placeholder: 'UNITS' }),
}
interface Choice {
  all: boolean
  percent?: string | undefined
  liquidity?: string | undefined
}
const DEFAULT_SLIPPAGE_BPS = 100

const { submit, get, simulate } = paths.transactions

/** The chosen part; a preview says what the API made of a percentage. */
type Chosen = { kind: 'all' } | { kind: 'share'; bps: number } | { kind: 'liquidity'; liquidity: string }

/** Throws a usage problem unless exactly one of the flags is given. */
function chosenOf({ all, percent, liquidity }: Choice): Chosen {
  if ([all, percent !== undefined, liquidity !== undefined].filter(Boolean).length !== 1) {
    throw usage('give one of --all, --percent and --liquidity', { param: '--all' })
  }
  if (liquidity !== undefined) {
    const units = rawUnits(liquidity, 0, '--liquidity')
    if (units === 0n) throw usage('--liquidity must be more than 0', { param: '--liquidity' })
    return { kind: 'liquidity', liquidity: String(units) }
  }
  if (percent === undefined) return { kind: 'all' }
  const bps = rawUnits(percent, 2, '--percent')
  if (bps === 0n || bps > 10_000n) throw usage('--percent must be from 0.01 to 100', { param: '--percent' })
  return bps === 10_000n ? { kind: 'all' } : { kind: 'share', bps: Number(bps) }
}

/** Which part a percentage selects is known only to the API. */
function noteShare(of: Signing, chosen: Chosen, liquidity: string): void {
  if (chosen.kind !== 'share') return
  of.apiSays(`${chosen.bps / 100} % of what can be withdrawn are ${liquidity} units of liquidity`, '--liquidity')
}

const partOf = (chosen: Chosen): string =>
  chosen.kind === 'all'
    ? 'all liquidity'
    : chosen.kind === 'share'
      ? `${chosen.bps / 100} % of the liquidity`
      : `${chosen.liquidity} units of liquidity`

type Sides = Pick<HeldPositions, 'mint_a' | 'mint_b' | 'decimals_a' | 'decimals_b'>

const unitOf = (mint: string): string => (mint === WRAPPED_SOL ? 'SOL' : mint)

/** `1,000.5 MINT` and `2 SOL`. */
const amountTexts = ({ mint_a, mint_b, decimals_a, decimals_b }: Sides, a: string, b: string): [string, string] => [
  `${groupedDecimalOf(BigInt(a), decimals_a)} ${unitOf(mint_a)}`,
  `${groupedDecimalOf(BigInt(b), decimals_b)} ${unitOf(mint_b)}`,
]

/** `60 %` of a position; all digits stay exact until the last. */
const percentOfParts = (part: string, all: string): string => {
  const whole = BigInt(all)
  if (whole === 0n) return '0 %'
  const bps = (BigInt(part) * 10_000n) / whole
  return `${groupedDecimalOf(bps, 2)} %`
}

type Parts = Pick<PositionLock, 'liquidity' | 'unlocked_liquidity' | 'vesting_liquidity' | 'locked_liquidity'>

const partLines = ({ liquidity, unlocked_liquidity, vesting_liquidity, locked_liquidity }: Parts): string[] =>
  liquidity === '0'
    ? [previewLine('afterwards', 'the position is empty; its fees stay claimable')]
    : [
        previewLine(
          'afterwards',
          [
            `${percentOfParts(unlocked_liquidity, liquidity)} free`,
            ...(vesting_liquidity === '0' ? [] : [`${percentOfParts(vesting_liquidity, liquidity)} released later`]),
            `${percentOfParts(locked_liquidity, liquidity)} locked for good`,
          ].join(', '),
        ),
      ]

const partFields = ({ liquidity, unlocked_liquidity, vesting_liquidity, locked_liquidity }: Parts) => ({
  liquidity,
  unlocked_liquidity,
  vesting_liquidity,
  locked_liquidity,
})

type Built<D> = D & { transaction: string; last_valid_block_height: number }

const withTransaction = <D extends { tx: { transaction: string; last_valid_block_height: number } }>(data: D) => {
  const { transaction, last_valid_block_height } = data.tx
  return { data: { ...data, transaction, last_valid_block_height } }
}

const COLUMNS = ['position', 'token_a', 'token_b', 'free', 'released_later', 'locked', 'fee_a', 'fee_b'] as const

export const positionVerbs: Record<string, Verb> = {
  'positions list': verb({
    about: 'List the positions of a wallet in a pool, with what they are worth',
    details:
      'For pools of anybody. Free liquidity can be withdrawn now; what is locked for good earns fees, and nobody can ever withdraw it. Fees are claimed with `svc fees claim --kind damm_v2`.',
    calls: [paths.positions.list],
    args: POOL,
    flags: { owner: text('Wallet that holds them (default your keypair)', WALLET_ADDRESS) },
    examples: [
      'svc pools positions list CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
      'svc pools positions list CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --json',
    ],
    async run({ address, owner }, session) {
      const holder = owner ?? (await session.wallet.address())
      const { data } = await session.client.positions.list({ address, owner: holder })
      const { decimals_a, decimals_b, positions, remaining_positions: more } = data
      return {
        data,
        rows: {
          columns: COLUMNS,
          rows: positions.map((each) => [
            each.position,
            new Amount(each.amount_a, decimals_a),
            new Amount(each.amount_b, decimals_b),
            percentOfParts(each.unlocked_liquidity, each.liquidity),
            percentOfParts(each.vesting_liquidity, each.liquidity),
            percentOfParts(each.locked_liquidity, each.liquidity),
            new Amount(each.fee_a, decimals_a),
            new Amount(each.fee_b, decimals_b),
          ]),
        },
        notes: [
          positions.length === 0
            ? `${holder} has no positions in this pool.`
            : `Token A is ${unitOf(data.mint_a)}, token B is ${unitOf(data.mint_b)}.`,
          ...(more === 0 ? [] : [`${more} smaller positions are not shown.`]),
        ],
      }
    },
  }),
  'positions remove': verb({
    about: 'Withdraw liquidity of a position to your wallet',
    details:
      'Pays both tokens to the wallet that holds the position, SOL unwrapped. The transaction fails if less than the shown minimum would arrive. Unclaimed fees stay in the position.',
    calls: [paths.positions.remove, simulate, submit, get],
    args: POSITION,
    flags: {
      ...CHOICE,
      slippage_bps: integer(
        `How much less than shown to accept, in hundredths of a percent (default ${DEFAULT_SLIPPAGE_BPS})`,
        { min: 0, max: 10_000 },
      ),
      ...SIGNING,
    },
    examples: [
      'svc pools positions remove CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --percent 25',
      'svc pools positions remove CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --all --dry-run',
    ],
    run({ address, position, all, percent, liquidity, slippage_bps = DEFAULT_SLIPPAGE_BPS, ...flags }, session) {
      const chosen = chosenOf({ all, percent, liquidity })
      const isLeast = (stated: string, amount: string) => (units: string) =>
        units === stated && BigInt(units) >= (BigInt(amount) * BigInt(10_000 - slippage_bps)) / 10_000n
      return runSigned<Built<LiquidityRemoval>>(session, flags, {
        what: `Withdraw ${partOf(chosen)} of the position ${position}`,
        build: async (payer) =>
          withTransaction(
            (
              await session.client.positions.remove({
                address,
                position,
                payer,
                slippage_bps,
                ...(chosen.kind === 'share' ? { share_bps: chosen.bps } : {}),
                ...(chosen.kind === 'liquidity' ? { liquidity: chosen.liquidity } : {}),
                ...buildFields(flags),
              })
            ).data,
          ),
        demand(of, data) {
          noteShare(of, chosen, data.removed_liquidity)
          return demandsRemoval(of, {
            pool: data.pool_address,
            position,
            mintA: data.mint_a,
            mintB: data.mint_b,
            liquidity:
              chosen.kind === 'all' ? null : chosen.kind === 'share' ? data.removed_liquidity : chosen.liquidity,
            leastA: isLeast(data.minimum_a, data.amount_a),
            leastB: isLeast(data.minimum_b, data.amount_b),
          })
        },
        decimals: ({ decimals_a, decimals_b }) => ({
          amount_a: decimals_a,
          amount_b: decimals_b,
          minimum_a: decimals_a,
          minimum_b: decimals_b,
        }),
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
  }),
  'positions lock': verb({
    about: 'Lock liquidity of a position for good',
    details:
      'Nobody can ever withdraw it, you included, and nothing unlocks it. The position keeps earning fees, which you can claim, and it can be sent to another wallet.',
    calls: [paths.positions.lock, simulate, submit, get],
    args: POSITION,
    flags: { ...CHOICE, ...SIGNING },
    examples: [
      'svc pools positions lock CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --all',
      'svc pools positions lock CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --percent 50 --dry-run',
    ],
    run({ address, position, all, percent, liquidity, ...flags }, session) {
      const chosen = chosenOf({ all, percent, liquidity })
      return runSigned<Built<PositionLock>>(session, flags, {
        what: `Lock ${partOf(chosen)} of the position ${position} for good`,
        build: async (payer) =>
          withTransaction(
            (
              await session.client.positions.lock({
                address,
                position,
                payer,
                ...(chosen.kind === 'share' ? { share_bps: chosen.bps } : {}),
                ...(chosen.kind === 'liquidity' ? { liquidity: chosen.liquidity } : {}),
                ...buildFields(flags),
              })
            ).data,
          ),
        demand(of, data) {
          noteShare(of, chosen, data.newly_locked_liquidity)
          const locked = chosen.kind === 'liquidity' ? chosen.liquidity : data.newly_locked_liquidity
          return demandsPermanentLock(of, { pool: data.pool_address, position, liquidity: locked })
        },
        decimals: ({ decimals_a, decimals_b }) => ({ amount_a: decimals_a, amount_b: decimals_b }),
        preview(data) {
          const [a, b] = amountTexts(data, data.amount_a, data.amount_b)
          return [
            previewLine('locks', a),
            previewLine('and', `${b}, which nobody can ever withdraw`),
            ...partLines(data),
          ]
        },
        show: ({ pool_address, newly_locked_liquidity, amount_a, amount_b, ...data }) => ({
          pool_address,
          position,
          newly_locked_liquidity,
          amount_a,
          amount_b,
          ...partFields(data),
        }),
      })
    },
  }),
}
