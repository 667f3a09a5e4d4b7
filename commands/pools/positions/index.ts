/** `svc pools positions`: liquidity of DAMM v2 pools that a wallet holds in positions. */
import { paths } from '../../../src/api/paths.ts'
import type { PositionClosing } from '../../../src/api/pool-positions.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { DAMM_V2 } from '../../../src/solana/programs/damm-v2.ts'
import { Amount } from '../../cli/amounts.ts'
import { text, type Verb, verb } from '../../cli/command.ts'
import { claimFees } from '../../fees/one-claim.ts'
import { type Call, closes, demanding, opens } from '../../signing/demand.ts'
import { WALLET_ADDRESS } from '../../signing/flags.ts'
import { platformAddress } from '../../signing/platform-wallet.ts'
import { previewLine } from '../../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
import { signingWallet } from '../../signing/signing-wallet.ts'
import { addVerb, openVerb } from './add.ts'
import { lockVerb } from './lock.ts'
import {
  amountTexts,
  decimalsOfBoth,
  EXAMPLE_POOL,
  EXAMPLE_POSITION,
  POOL,
  POSITION,
  percentOfParts,
  unitOf,
} from './parts.ts'
import { removeVerb } from './remove.ts'
import { transferVerb } from './transfer.ts'
import { vestVerb } from './vest.ts'

// `svc pools positions list`: the positions of a wallet in a pool.

const COLUMNS = ['position', 'token_a', 'token_b', 'unlocked', 'vesting', 'locked', 'fee_a', 'fee_b'] as const

const positionListVerb = verb({
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

// `svc pools positions close`: closes an empty position, which returns its rent.

/** Fees go to the payer's own accounts, and the rent to the payer. The program closes only an empty position. */
const demandsPositionClosing = demanding(
  'this position closed, with its fees and its rent for you, and nothing else',
  async (
    { payer, accounts },
    { position, ...data }: Pick<PositionClosing, 'pool_address' | 'mint_a' | 'mint_b'> & { position: string },
  ): Promise<Call[]> => {
    const { pool_address: pool, mint_a: mintA, mint_b: mintB } = data
    const program = DAMM_V2.id
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

const closeVerb = verb({
  about: 'Close an empty position, which returns its rent',
  details:
    'All liquidity must be withdrawn before: `svc pools positions remove --all`. Fees that it still has are claimed in the same transaction. Its NFT is burned. A position with locked liquidity can never be closed.',
  calls: [paths.positions.close, ...ACT_CALLS],
  args: POSITION,
  flags: ACT_SIGNING,
  examples: [
    `svc pools positions close ${EXAMPLE_POOL} ${EXAMPLE_POSITION}`,
    `svc pools positions close ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --dry-run`,
  ],
  run: ({ address, position, ...flags }, session) =>
    runAct<PositionClosing>(session, flags, {
      what: `Close the position ${position}`,
      call: (body, options) => session.client.positions.close({ address, position, ...body }, options),
      demand: (of, data) => demandsPositionClosing(of, { ...data, position }),
      decimals: (data) => decimalsOfBoth(['fee_a', 'fee_b'], data),
      preview(data) {
        const [a, b] = amountTexts(data, data.fee_a, data.fee_b)
        return data.fee_a === '0' && data.fee_b === '0' ? [] : [previewLine('claims', a), previewLine('and', b)]
      },
      show: ({ pool_address, nft_mint, fee_a, fee_b }) => ({ pool_address, position, nft_mint, fee_a, fee_b }),
    }),
})

// `svc pools positions claim`: the fees of one position, claimed as `svc fees claim` does it.

const claimVerb = verb({
  about: 'Claim the fees of one position',
  details:
    'Locked and vesting liquidity earns them too. They are paid to the wallet that holds the position. `svc fees claim --kind damm_v2` claims those of several positions at once.',
  calls: [paths.feeClaims.create, ...ACT_CALLS],
  args: POSITION,
  flags: {
    owner: text('Wallet that holds it, if yours is only its delegate (`svc fees delegate`)', WALLET_ADDRESS),
    ...ACT_SIGNING,
  },
  examples: [
    `svc pools positions claim ${EXAMPLE_POOL} ${EXAMPLE_POSITION}`,
    `svc pools positions claim ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --signed --yes`,
  ],
  async run({ address, position, owner, ...flags }, session) {
    const holder = owner ?? (await (flags.signed ? platformAddress(session) : signingWallet(session, flags)))
    const request = { address, kind: 'damm_v2', owner: holder, position, splits: undefined } as const
    return claimFees(session, { ...flags, allow_programs: false }, request)
  },
})

export const positionVerbs: Record<string, Verb> = {
  'positions list': positionListVerb,
  'positions open': openVerb,
  'positions add': addVerb,
  'positions remove': removeVerb,
  'positions lock': lockVerb,
  'positions vest': vestVerb,
  'positions claim': claimVerb,
  'positions transfer': transferVerb,
  'positions close': closeVerb,
}
