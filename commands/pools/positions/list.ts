/** `svc pools positions list`: the positions of a wallet in a pool. */
import { paths } from '../../../src/api/paths.ts'
import { Amount } from '../../cli/amounts.ts'
import { text, verb } from '../../cli/command.ts'
import { WALLET_ADDRESS } from '../../signing/flags.ts'
import { decimalsOfBoth, EXAMPLE_POOL, POOL, percentOfParts, unitOf } from './parts.ts'

const COLUMNS = ['position', 'token_a', 'token_b', 'unlocked', 'vesting', 'locked', 'fee_a', 'fee_b'] as const

export const positionListVerb = verb({
  about: 'List the positions of a wallet in a pool, with what they are worth',
  details:
    'For pools of anybody. Unlocked liquidity can be withdrawn now, and vesting liquidity later. Locked liquidity earns fees, and nobody can ever withdraw it. Fees are claimed with `svc pools positions claim`.',
  calls: [paths.positions.list],
  args: POOL,
  flags: {
    owner: text('Wallet that holds them (default your keypair)', WALLET_ADDRESS),
    cursor: text('Continue after the page whose next_cursor this is', { placeholder: 'CURSOR' }),
  },
  examples: [
    `svc pools positions list ${EXAMPLE_POOL}`,
    `svc pools positions list ${EXAMPLE_POOL} --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --json`,
  ],
  async run({ address, owner, cursor }, session) {
    const holder = owner ?? (await session.wallet.address())
    const { data } = await session.client.positions.list({
      address,
      owner: holder,
      ...(cursor === undefined ? {} : { cursor }),
    })
    const { positions, remaining_positions: more, next_cursor: next } = data
    const { amount_a: a = 0, amount_b: b = 0 } = decimalsOfBoth(['amount_a', 'amount_b'], data)
    return {
      data,
      rows: {
        columns: COLUMNS,
        rows: positions.map((each) => [
          each.position,
          new Amount(each.amount_a, a),
          new Amount(each.amount_b, b),
          percentOfParts(each.unlocked_liquidity, each.liquidity),
          percentOfParts(each.vesting_liquidity, each.liquidity),
          percentOfParts(each.locked_liquidity, each.liquidity),
          new Amount(each.fee_a, a),
          new Amount(each.fee_b, b),
        ]),
      },
      notes: [
        positions.length === 0
          ? `${holder} has no positions in this pool.`
          : `Token A is ${unitOf(data.mint_a)}, token B is ${unitOf(data.mint_b)}.`,
        ...(next === null ? [] : [`More (${more} smaller positions): repeat with --cursor ${next}`]),
      ],
    }
  },
})
