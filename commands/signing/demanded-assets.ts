/** Lists the calls about gold locks, collections, NFTs and stakes. */
import { DAY_SECONDS } from '../../src/platform/timing.ts'
import { borshString } from '../../src/solana/borsh.ts'
import { goldLockMemo, stakeMemo } from '../../src/solana/memos.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { timeText } from '../ui/times.ts'
import { type Call, opens, platformFee, provesDecimals, type Signing, writesMemo } from './demand.ts'

interface AskedGold {
  mint: string
  escrow: string
  platform_id: string
  platform_fee: number
}

interface AskedLock extends AskedGold {
  amount: bigint
  /** Decimals with which the amount was converted; the chain checks them. */
  decimals: number
  days: number
}

export async function locksGold(of: Signing, asked: AskedLock) {
  const { payer } = of
  const { mint, escrow, amount, decimals, days } = asked
  const own = await of.accounts(mint, payer)
  let starts = 0
  const isNow = (seconds: string) => {
    starts = Number(seconds)
    if (of.isNow(seconds)) return true
    of.apiSays(`the lock starts at ${timeText(starts * 1000)} by the chain's clock`, '--days')
    return true
  }
  const lock: Call = {
    program: PROGRAMS.lock.id,
    call: 'create_vesting_escrow_v2',
    fields: {
      base: payer,
      sender: payer,
      recipient: payer,
      escrow,
      token_mint: mint,
      sender_token: own,
      vesting_start_time: isNow,
      cliff_time: (seconds) => Number(seconds) === starts + days * DAY_SECONDS,
      frequency: 1,
      cliff_unlock_amount: amount,
      amount_per_period: 0,
      number_of_period: 0,
    },
    // Nobody can cancel it or name another recipient.
    data: (hex) => hex.endsWith('000000') && hex.length === LOCK_DATA,
  }
  return [
    provesDecimals(own, mint, decimals, payer),
    opens(payer, escrow, mint),
    lock,
    ...goldEnd(payer, 'gold-lock', asked),
  ]
}

export async function unlocksGold(of: Signing, asked: AskedGold): Promise<Call[]> {
  const { payer } = of
  const { mint, escrow } = asked
  const own = await of.accounts(mint, payer)
  const { id: program } = PROGRAMS.lock
  return [
    opens(payer, payer, mint),
    {
      program,
      call: 'claim_v2',
      fields: { escrow, token_mint: mint, recipient: payer, recipient_token: own },
      data: isPlainLockClaim,
      least: 0,
    },
    { program, call: 'close_vesting_escrow', fields: { escrow, creator: payer, creator_token: own } },
    ...goldEnd(payer, 'gold-unlock', asked),
  ]
}

/** The name, the amount, and no accounts of a transfer hook. */
export const isPlainLockClaim = (hex: string) => hex.length === 17 * 2 && hex.endsWith('00')

/** Hex digits of the instruction: a name of 8 bytes, six numbers, two modes and an empty list. */
const LOCK_DATA = 59 * 2
const goldEnd = (
  payer: string,
  step: 'gold-lock' | 'gold-unlock',
  { platform_id, platform_fee }: AskedGold,
): Call[] => [writesMemo(goldLockMemo(step, platform_id)), ...platformFee(payer, platform_fee)]

interface AskedAsset {
  asset: string
  collection: string
}
interface NameAndUri {
  name: string
  uri: string
}

const core = (call: string, fields: Call['fields'], data: NonNullable<Call['data']>): Call => ({
  program: PROGRAMS.core.id,
  call,
  fields,
  data,
})

/** Name and URI, and two empty lists of plugins. */
const withoutPlugins = (head: string, { name, uri }: NameAndUri): string =>
  `${head}${[name, uri].map((text) => borshString(text).toString('hex')).join('')}${'0100000000'.repeat(2)}`

export const makesCollection = (
  { payer }: Signing,
  asked: NameAndUri & { collection: string; authority: string },
): Call[] => [
  core(
    'create_collection_v2',
    { collection: asked.collection, update_authority: asked.authority, payer },
    withoutPlugins('15', asked),
  ),
]

/** Changes the update authority and neither name nor URI. */
export const givesCollection = ({ payer }: Signing, asked: { collection: string; to: string }): Call[] => [
  core(
    'update_collection_v1',
    { collection: asked.collection, payer, authority: payer, new_update_authority: asked.to },
    '100000',
  ),
]

/** If the platform signs for a collection, its own wallet is the authority. */
export const mintsNft = (
  { payer }: Signing,
  { asset, collection, owner, ...texts }: AskedAsset & NameAndUri & { owner: string },
) => [
  core(
    'create_v2',
    { asset, collection, owner, payer, update_authority: PROGRAMS.core.id },
    withoutPlugins('1400', texts),
  ),
]

interface AskedStake extends AskedAsset {
  platform_id: string
  platform_fee: number
}

/** The data of calls about the plugin that freezes an asset. The owner or a wallet of the platform can thaw it. */
const [FREEZES, THAWS, REMOVES] = ['060101', '060100', '0401']
const ADDS = /^02010101(01|03([0-9a-f]{64}))$/

export async function stakesNft(of: Signing, asked: AskedStake & { thawedBy: string | undefined }): Promise<Call[]> {
  const { addressOf } = await import('../../src/solana/addresses.ts')
  const own = { asset: asked.asset, collection: asked.collection, payer: of.payer, authority: of.payer }
  const adds = (hex: string) => {
    const [found, , thawing] = ADDS.exec(hex) ?? []
    const wallet = thawing === undefined ? undefined : addressOf(Buffer.from(thawing, 'hex'))
    if (wallet !== undefined && asked.thawedBy === undefined) {
      of.apiSays(`only ${wallet} can release it`, '--thawed-by')
    }
    return found !== undefined && (asked.thawedBy === undefined || wallet === asked.thawedBy)
  }
  return [
    { ...core('remove_plugin_v1', own, REMOVES), least: 0 },
    { ...core('add_plugin_v1', own, adds), group: 'freeze' },
    { ...core('update_plugin_v1', own, FREEZES), group: 'freeze' },
    ...stakeEnd(of.payer, 'stake', asked),
  ]
}

export const burnsNft = ({ payer }: Signing, { asset, collection }: AskedAsset): Call[] => [
  core('burn_v1', { asset, collection, payer, authority: payer }, '0c00'),
]

/** The one who can thaw it must sign. */
export const releasesNft = ({ payer }: Signing, asked: AskedStake): Call[] => {
  const own = { asset: asked.asset, collection: asked.collection, payer }
  return [
    core('update_plugin_v1', own, THAWS),
    core('remove_plugin_v1', { ...own, authority: payer }, REMOVES),
    ...stakeEnd(payer, 'release', asked),
  ]
}

const stakeEnd = (
  payer: string,
  step: 'stake' | 'release',
  { asset, platform_id, platform_fee }: AskedStake,
): Call[] => [writesMemo(stakeMemo(step, asset, platform_id)), ...platformFee(payer, platform_fee)]
