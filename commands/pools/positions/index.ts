/** `svc pools positions`: liquidity of DAMM v2 pools that a wallet holds in positions. */
import { paths } from '../../../src/api/paths.ts'
import type { PositionClosing, PositionLock } from '../../../src/api/pool-positions.ts'
import type { PoolPositionTransfer } from '../../../src/api/position-transfers.ts'
import { TOKEN_2022_PROGRAM, WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { DAMM_V2 } from '../../../src/solana/programs/damm-v2.ts'
import { Amount } from '../../cli/amounts.ts'
import { required, text, type Verb, verb } from '../../cli/command.ts'
import { claimFees } from '../../fees/one-claim.ts'
import { type Flat, flat } from '../../signing/built-transactions.ts'
import { type Call, closes, demanding, opens, type Signing, unexpectedBuild } from '../../signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGNING, WALLET_ADDRESS } from '../../signing/flags.ts'
import { signerAddress } from '../../signing/platform-wallet.ts'
import { previewLine } from '../../signing/preview.ts'
import { runSigned } from '../../signing/run.ts'
import { ACT_CALLS, ACT_SIGNING, runAct } from '../../signing/run-act.ts'
import { addVerb, openVerb } from './add.ts'
import {
  amountTexts,
  CHOICE,
  choiceFields,
  chosenOf,
  decimalsOfBoth,
  EXAMPLE_POOL,
  EXAMPLE_POSITION,
  noteShare,
  ONE_PART,
  POOL,
  POSITION,
  partFields,
  partLines,
  partOf,
  percentOfParts,
  refreshes,
  unitOf,
} from './parts.ts'
import { removeVerb } from './remove.ts'
import { vestVerb } from './vest.ts'

// `svc pools positions lock`: locks liquidity of a position for good.

const demandsPermanentLock = demanding(
  'liquidity of this position locked for good, and nothing else',
  ({ payer }, { pool, position, liquidity }: { pool: string; position: string; liquidity: string }) => [
    refreshes(pool, position, payer),
    {
      program: DAMM_V2.id,
      call: 'permanent_lock_position',
      fields: { pool, position, signer: payer, permanent_lock_liquidity: liquidity },
    },
  ],
)

const lockVerb = verb({
  about: 'Lock liquidity of a position for good',
  details:
    'Nobody can ever withdraw it, you included, and nothing unlocks it. The position keeps earning fees, which you can claim, and it can be sent to another wallet. For a lock that ends see `svc pools positions vest`.',
  calls: [paths.positions.lock, ...ACT_CALLS],
  args: POSITION,
  flags: { ...CHOICE, ...ACT_SIGNING },
  needs: [ONE_PART],
  examples: [
    `svc pools positions lock ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --all`,
    `svc pools positions lock ${EXAMPLE_POOL} ${EXAMPLE_POSITION} --percent 50 --dry-run`,
  ],
  run({ address, position, all: _, percent, liquidity, ...flags }, session) {
    const chosen = chosenOf({ percent, liquidity })
    return runAct<PositionLock>(session, flags, {
      what: `Lock ${partOf(chosen)} of the position ${position} for good`,
      call: (body, options) =>
        session.client.positions.lock({ address, position, ...choiceFields(chosen), ...body }, options),
      demand(of, data) {
        noteShare(of, chosen, data.newly_locked_liquidity)
        const locked = chosen.kind === 'liquidity' ? chosen.liquidity : data.newly_locked_liquidity
        return demandsPermanentLock(of, { pool: data.pool_address, position, liquidity: locked })
      },
      decimals: (data) => decimalsOfBoth(['amount_a', 'amount_b'], data),
      preview(data) {
        const [a, b] = amountTexts(data, data.amount_a, data.amount_b)
        return [previewLine('locks', a), previewLine('and', `${b}, which nobody can ever withdraw`), ...partLines(data)]
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
})

// `svc pools positions transfer`: sends positions of a DAMM v2 pool to another wallet or a multisig's vault.

/** The most positions of one transaction. */
const MOST_POSITIONS = 4

const demandsTransfer = demanding(
  'these positions to this wallet, and nothing else',
  async ({ payer, accounts }: Signing, asked: { mints: readonly string[]; to: string }): Promise<Call[]> =>
    (
      await Promise.all(
        asked.mints.slice(0, MOST_POSITIONS).map(async (mint): Promise<Call[]> => {
          const destination = await accounts(mint, asked.to)
          const fields = { mint, destination, amount: 1, decimals: 0, authority: payer }
          return [
            opens(payer, asked.to, mint),
            { program: TOKEN_2022_PROGRAM, call: 'transferChecked', fields },
            // The program closes only an account that is empty.
            closes(payer, () => true),
          ]
        }),
      )
    ).flat(),
)

/**
 * The NFTs of these positions. Throws a failure if a position is not that of its NFT, or another than the only one that
 * was asked for.
 */
async function checkedNfts(
  of: Signing,
  { pool_address, positions }: Pick<PoolPositionTransfer, 'pool_address' | 'positions'>,
  only: string | undefined,
): Promise<string[]> {
  for (const { position, nft_mint } of positions) {
    if ((await of.position(nft_mint)) !== position) throw unexpectedBuild(`${nft_mint} is not the NFT of ${position}`)
  }
  if (only === undefined) of.note(`they are positions of the pool ${pool_address}, as the API reads it`)
  else if (positions.length !== 1 || positions[0]?.position !== only) {
    throw unexpectedBuild(`it sends ${positions.map(({ position }) => position).join(', ') || 'nothing'}, not ${only}`)
  }
  return positions.map(({ nft_mint }) => nft_mint)
}

const { submit, get, simulate } = paths.transactions

const transferVerb = verb({
  about: "Send positions of a migrated pool to another wallet or a multisig's vault",
  details:
    'Whoever holds the NFT of a position owns its liquidity and its fees, also the unclaimed ones: claim them first with `svc pools positions claim`. Locked liquidity stays locked. Without --position all that you hold are sent, four in a transaction. For the vault of a multisig add --allow-programs.',
  calls: [paths.pools.transferPositions, simulate, submit, get],
  args: POOL,
  flags: {
    to: required(text('Wallet that gets the positions', WALLET_ADDRESS)),
    position: text('Only this position, instead of all that you hold', WALLET_ADDRESS),
    allow_programs: ALLOW_PROGRAMS,
    ...SIGNING,
  },
  examples: [
    `svc pools positions transfer ${EXAMPLE_POOL} --to 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 -k owner.json`,
    `svc pools positions transfer ${EXAMPLE_POOL} --to 7Kqa3YXKZzUhDpVB3XcxZcQnGs5Bs2Tn1zZ1mcKjqAVA --allow-programs --dry-run`,
  ],
  run: ({ address, to, position, ...flags }, session) =>
    runSigned<Flat<PoolPositionTransfer>>(session, flags, {
      what: ({ positions }) =>
        `Send ${positions.length === 1 ? 'a position' : `${positions.length} positions`} of ${address} to ${to}`,
      build: async (payer) =>
        flat(
          await session.client.pools.transferPositions({
            address,
            payer,
            new_owner: to,
            ...programsField(flags),
            ...buildFields(flags),
            ...(position === undefined ? {} : { position }),
          }),
        ),
      demand: async (of, data) => demandsTransfer(of, { mints: await checkedNfts(of, data, position), to }),
      preview: ({ positions, remaining_positions }) => [
        ...positions.map((each) => previewLine('position', each.position)),
        ...(remaining_positions === 0
          ? []
          : [previewLine('left', `${remaining_positions} smaller positions: run it again`)]),
      ],
      show: ({ pool_address, owner, new_owner, positions, remaining_positions }) => ({
        pool_address,
        owner,
        new_owner,
        positions: positions.map((each) => each.position),
        remaining_positions,
      }),
    }),
})

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
    const holder = owner ?? (await signerAddress(session, flags))
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
