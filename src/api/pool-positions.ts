/** Positions of DAMM v2 pools: who holds which liquidity, and what its owner may do with it. */
import { z } from '@hono/zod-openapi'
import { MAX_U128 } from '../solana/u64.ts'
import { address, digits, mintAddress, poolAddress, u64Digits } from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { eitherMode } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { nullOr, timestamp } from './scalars.ts'

const positionAddress = address.meta({
  description: 'Address of the position: GET /v2/pools/{address}/positions lists those of a wallet',
  example: 'GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
})
const liquidityUnits = digits.meta({
  description: 'Liquidity in the units of the program, digits only',
  example: '29999999999999999998',
})
const liquidityField = liquidityUnits
  .refine((text) => /^[0-9]{1,39}$/.test(text) && BigInt(text) <= MAX_U128, 'must fit in 128 bits')
  .refine((text) => /[1-9]/.test(text), 'must be more than 0')
const unitField = z.enum(['seconds', 'slots']).meta({ description: 'What the pool counts in' })
const wantedField = u64Digits.optional()
const wantedAmounts = {
  amount_a: wantedField.meta({
    description: 'Most raw units of token A to add at the present price. Give this, `amount_b`, or both',
  }),
  amount_b: wantedField.meta({ description: 'Most raw units of token B to add at the present price' }),
}
const shareField = z.int().min(1).max(10_000).optional().meta({
  description:
    'Part of the liquidity that can be withdrawn now, in hundredths of a percent, rounded down (default 10000: all of it)',
})
const slippageField = z
  .int()
  .min(0)
  .max(10_000)
  .default(100)
  .meta({ description: 'How far the amounts may move until the transaction runs, in hundredths of a percent' })

/** The tokens of a pool, in the order of the program: in pools that svc makes, A is the token and B is SOL. */
const sides = {
  pool_address: poolAddress,
  mint_a: mintAddress,
  mint_b: mintAddress,
  decimals_a: z.int().min(0).max(255),
  decimals_b: z.int().min(0).max(255),
}

const parts = {
  liquidity: liquidityUnits.meta({ description: 'All of it: the sum of the next three' }),
  unlocked_liquidity: liquidityUnits.meta({ description: 'Can be withdrawn now' }),
  vesting_liquidity: liquidityUnits.meta({ description: 'A schedule releases it later' }),
  locked_liquidity: liquidityUnits.meta({
    description: 'Is locked for good: it earns fees, and nobody can withdraw it',
  }),
}

const schedule = z
  .object({
    unit: unitField,
    cliff_point: digits.meta({ description: 'Unix seconds or the slot of the cliff', example: '1790000000' }),
    cliff_at: nullOr(timestamp).meta({ description: 'Null if the pool counts slots' }),
    cliff_liquidity: liquidityUnits,
    frequency: digits.meta({ description: 'Seconds or slots of a period after the cliff', example: '2592000' }),
    periods: z.int().min(0).max(65_535),
    liquidity_per_period: liquidityUnits,
    released_liquidity: liquidityUnits.meta({ description: 'What has come due, whether it was withdrawn or not' }),
    ends_at: nullOr(timestamp).meta({ description: 'When the last part is released; null if the pool counts slots' }),
  })
  .openapi('PositionSchedule')

const heldPosition = z
  .object({
    position: positionAddress,
    nft_mint: mintAddress.meta({ description: 'Mint of the NFT: whoever holds it owns the position' }),
    ...parts,
    amount_a: digits.meta({ description: 'Raw units of token A that all of its liquidity is worth now' }),
    amount_b: digits,
    share_bps: z
      .int()
      .min(0)
      .max(10_000)
      .meta({ description: "Part of the pool's liquidity, in hundredths of a percent, rounded down" }),
    fee_a: digits.meta({ description: 'Raw units of token A that a claim would pay now' }),
    fee_b: digits,
    delegate: address.nullable().meta({ description: 'Wallet that may act for the owner, or null' }),
    schedule: schedule.nullable().meta({
      description: 'Schedule in the position that still holds liquidity; others have accounts of their own',
    }),
  })
  .openapi('HeldPosition')
export type HeldPosition = z.output<typeof heldPosition>

const heldPositions = z
  .object({
    ...sides,
    owner: address,
    unit: unitField,
    point: digits.meta({ description: 'Now, in Unix seconds or as a slot', example: '1790000000' }),
    positions: z.array(heldPosition).meta({ description: 'The largest first' }),
    remaining_positions: z.int().min(0).meta({ description: 'Smaller positions, on the next pages' }),
    next_cursor: z.string().nullable().meta({ description: 'Cursor of the next page; null on the last one' }),
  })
  .openapi('HeldPositions')
export type HeldPositions = z.output<typeof heldPositions>

/** What goes into a pool. */
const paid = {
  added_liquidity: liquidityUnits,
  amount_a: digits.meta({
    description: 'Raw units of token A that leave at the present price, its transfer fee included',
  }),
  amount_b: digits,
  maximum_a: digits.meta({ description: 'If more of token A would leave, the transaction fails' }),
  maximum_b: digits,
}

const afterwards = { description: 'The parts are those that the position has afterwards' }

const liquidityAddition = eitherMode({ ...sides, position: positionAddress, ...paid, ...parts }).openapi(
  'LiquidityAddition',
  afterwards,
)
export type LiquidityAddition = z.output<typeof liquidityAddition>

const positionOpening = eitherMode({
  ...sides,
  position: positionAddress,
  nft_mint: mintAddress.meta({ description: 'Mint of the new NFT: whoever holds it owns the position' }),
  ...paid,
}).openapi('PositionOpening')
export type PositionOpening = z.output<typeof positionOpening>

const liquidityRemoval = eitherMode({
  ...sides,
  position: positionAddress,
  removed_liquidity: liquidityUnits,
  amount_a: digits.meta({ description: 'Raw units of token A that arrive at the present price' }),
  amount_b: digits,
  minimum_a: digits.meta({ description: 'With less of token A the transaction fails' }),
  minimum_b: digits,
  ...parts,
}).openapi('LiquidityRemoval', afterwards)
export type LiquidityRemoval = z.output<typeof liquidityRemoval>

const worth = {
  amount_a: digits.meta({ description: 'Raw units of token A that this liquidity is worth at the present price' }),
  amount_b: digits,
}

const positionLock = eitherMode({
  ...sides,
  position: positionAddress,
  newly_locked_liquidity: liquidityUnits,
  ...worth,
  ...parts,
}).openapi('PositionLock', afterwards)
export type PositionLock = z.output<typeof positionLock>

const positionVesting = eitherMode({
  ...sides,
  position: positionAddress,
  vested_liquidity: liquidityUnits,
  ...worth,
  schedule,
  ...parts,
}).openapi('PositionVesting', afterwards)
export type PositionVesting = z.output<typeof positionVesting>

const positionClosing = eitherMode({
  ...sides,
  position: positionAddress,
  nft_mint: mintAddress.meta({ description: 'Mint of the NFT that is burned' }),
  fee_a: digits.meta({ description: 'Raw units of token A that are claimed in the same transaction' }),
  fee_b: digits,
}).openapi('PositionClosing')
export type PositionClosing = z.output<typeof positionClosing>

const poolParams = z.object({ address: poolAddress })
const positionParams = z.object({ address: poolAddress, position: positionAddress })
const holder = address.meta({ description: 'Wallet that holds the NFT of the position, pays and signs' })

const owner = address.meta({ description: 'Wallet that pays and signs, and owns the position' })
const ADDING =
  'Adds as much liquidity as the amounts buy at the present price, from the tokens and the SOL of the payer. The pool takes both tokens in the ratio of its price, so one amount implies the other. If the price moves so far that more than a maximum would leave, the transaction fails.'
const SIGNED = 'With `mode: signed` the platform wallet acts for itself, whatever `payer` says, if its policy permits.'

const POSITIONS_TAG: Tag = {
  name: 'Positions',
  description:
    'Liquidity of DAMM v2 pools in positions: list, open, add, withdraw, lock for good or for a time, close.',
}

export const poolPositions = {
  list: defineRoute({
    at: ['get', '/v2/pools/{address}/positions'],
    tag: POSITIONS_TAG,
    summary: 'List the positions of a wallet in a pool',
    description:
      'Read from the chain, whoever made the pool: what each position is worth, what can be withdrawn, what is locked or released later, and its unclaimed fees. The address may be that of the curve that became the pool.',
    params: poolParams,
    query: listQuery({ owner: address.meta({ description: 'Wallet that holds the positions' }) }, 50),
    data: heldPositions,
  }),
  open: defineRoute({
    at: ['post', '/v2/pools/{address}/positions'],
    tag: POSITIONS_TAG,
    summary: 'Build a new position with its first liquidity',
    description: `The payer gets the NFT of the position, whose generated key has already signed. ${ADDING} ${SIGNED}`,
    params: poolParams,
    body: buildBody({ payer: owner, ...wantedAmounts, slippage_bps: slippageField }),
    example: { amount_b: '1000000000' },
    data: positionOpening,
    signed: '*',
    payable: 'payer',
    says: ({ address }) => `Open a position in the pool ${address}`,
  }),
  add: defineRoute({
    at: ['post', '/v2/pools/{address}/positions/{position}/additions'],
    tag: POSITIONS_TAG,
    summary: 'Build the addition of liquidity',
    description: `${ADDING} The new liquidity can be withdrawn. ${SIGNED}`,
    params: positionParams,
    body: buildBody({ payer: holder, ...wantedAmounts, slippage_bps: slippageField }),
    example: { amount_b: '1000000000' },
    data: liquidityAddition,
    signed: '*',
    payable: 'payer',
    says: ({ address, position }) => `Add liquidity to the position ${position} in the pool ${address}`,
  }),
  remove: defineRoute({
    at: ['post', '/v2/pools/{address}/positions/{position}/removals'],
    tag: POSITIONS_TAG,
    summary: 'Build the withdrawal of liquidity',
    description: `Pays both tokens to the holder of the position, SOL unwrapped. The transaction fails if the price moves so far that less than a minimum would arrive. Unclaimed fees stay in the position. Locked liquidity, and what a schedule has not released yet, cannot be withdrawn. ${SIGNED}`,
    params: positionParams,
    body: buildBody({
      payer: holder,
      share_bps: shareField,
      liquidity: liquidityField.optional().meta({ description: 'Liquidity to withdraw, in place of a part' }),
      slippage_bps: slippageField,
    }),
    data: liquidityRemoval,
    signed: '*',
    payable: 'payer',
    says: ({ address, position }) => `Withdraw liquidity of the position ${position} in the pool ${address}`,
  }),
  lock: defineRoute({
    at: ['post', '/v2/pools/{address}/positions/{position}/locks'],
    tag: POSITIONS_TAG,
    summary: 'Build the permanent lock of liquidity',
    description: `Nobody can ever withdraw locked liquidity, and nobody can unlock it. Its fees can still be claimed, and the position can still be sent to another wallet. ${SIGNED}`,
    params: positionParams,
    body: buildBody({
      payer: holder,
      share_bps: shareField,
      liquidity: liquidityField.optional().meta({ description: 'Liquidity to lock, in place of a part' }),
    }),
    data: positionLock,
    signed: '*',
    payable: 'payer',
    says: ({ address, position }) => `Lock liquidity of the position ${position} in the pool ${address} for good`,
  }),
  vest: defineRoute({
    at: ['post', '/v2/pools/{address}/positions/{position}/vestings'],
    tag: POSITIONS_TAG,
    summary: 'Build a lock of liquidity that a schedule releases',
    description: `A part is released at the cliff, and the rest in equal parts at the end of each period after it; what does not divide evenly is added to the cliff. Nobody can release it earlier or stop the schedule. The position earns fees meanwhile. It has room for one schedule: until that one has ended, open another position. ${SIGNED}`,
    params: positionParams,
    body: buildBody({
      payer: holder,
      share_bps: shareField,
      liquidity: liquidityField.optional().meta({ description: 'Liquidity to vest, in place of a part' }),
      cliff_at: timestamp.optional().meta({
        description:
          'When the first part is released, for pools that count seconds (default when the transaction runs)',
      }),
      cliff_slot: u64Digits.optional().meta({ description: 'The same for pools that count slots' }),
      cliff_share_bps: z.int().min(0).max(10_000).optional().meta({
        description: 'Part that the cliff releases, in hundredths of a percent (default 0, or all without periods)',
      }),
      frequency: z.int().min(1).optional().meta({ description: 'Seconds or slots of a period; required with periods' }),
      periods: z.int().min(0).max(65_535).optional().meta({
        description: 'Number of periods after the cliff (default 0); required with frequency',
      }),
    }),
    example: { cliff_at: '2028-01-01T00:00:00.000Z', frequency: 2_592_000, periods: 12 },
    data: positionVesting,
    signed: '*',
    payable: 'payer',
    says: ({ address, position }) => `Vest liquidity of the position ${position} in the pool ${address}`,
  }),
  close: defineRoute({
    at: ['post', '/v2/pools/{address}/positions/{position}/closings'],
    tag: POSITIONS_TAG,
    summary: 'Build the closing of an empty position',
    description: `Burns its NFT and returns the rent of its accounts to the holder. Fees that it still has are claimed in the same transaction. A position with liquidity is refused. ${SIGNED}`,
    params: positionParams,
    body: buildBody({ payer: holder }),
    data: positionClosing,
    signed: '*',
    payable: 'payer',
    says: ({ address, position }) => `Close the position ${position} in the pool ${address}`,
  }),
}
