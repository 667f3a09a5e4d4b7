/** Lists the calls about gold locks, collections, NFTs and stakes. */
import { DAY_SECONDS } from '../../src/platform/timing.ts'
import { bytesOfHex, hexOf } from '../../src/solana/bytes.ts'
import { goldLockMemo, stakeMemo } from '../../src/solana/memos.ts'
import type { Variant } from '../../src/solana/programs/field-types.ts'
import { JUPITER_LOCK } from '../../src/solana/programs/jupiter-lock.ts'
import { METAPLEX_CORE } from '../../src/solana/programs/metaplex-core.ts'
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
    program: JUPITER_LOCK.id,
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
    data: isGoldLock,
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
  const { id: program } = JUPITER_LOCK
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

/** Nobody can cancel it or name another recipient, and no transfer hook has accounts. */
function isGoldLock(hex: string): boolean {
  const args = JUPITER_LOCK.argsOf('create_vesting_escrow_v2', bytesOfHex(hex))
  if (args === null || args.remaining_accounts_info !== null) return false
  return args.cancel_mode === 0 && args.update_recipient_mode === 0
}

/** A claim without accounts of a transfer hook. */
export const isPlainLockClaim = (hex: string): boolean =>
  JUPITER_LOCK.argsOf('claim_v2', bytesOfHex(hex))?.remaining_accounts_info === null

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

const core = (call: string, fields: Call['fields'], data: Uint8Array | ((hex: string) => boolean)): Call => ({
  program: METAPLEX_CORE.id,
  call,
  fields,
  data: typeof data === 'function' ? data : hexOf(data),
})
const NO_PLUGINS = { plugins: [], external_plugin_adapters: [] }

export const makesCollection = (
  { payer }: Signing,
  { collection, authority, ...texts }: NameAndUri & { collection: string; authority: string },
): Call[] => [
  core(
    'create_collection_v2',
    { collection, update_authority: authority, payer },
    METAPLEX_CORE.data('create_collection_v2', { ...texts, ...NO_PLUGINS }),
  ),
]

/** Changes the update authority and neither name nor URI. */
export const givesCollection = ({ payer }: Signing, { collection, to }: { collection: string; to: string }): Call[] => [
  core(
    'update_collection_v1',
    { collection, payer, authority: payer, new_update_authority: to },
    METAPLEX_CORE.data('update_collection_v1', {}),
  ),
]

/** If the platform signs for a collection, its own wallet is the authority. */
export const mintsNft = (
  { payer }: Signing,
  { asset, collection, owner, ...texts }: AskedAsset & NameAndUri & { owner: string },
) => [
  core(
    'create_v2',
    { asset, collection, owner, payer, update_authority: METAPLEX_CORE.id },
    METAPLEX_CORE.data('create_v2', { data_state: { name: 'AccountState', value: null }, ...texts, ...NO_PLUGINS }),
  ),
]

interface AskedStake extends AskedAsset {
  platform_id: string
  platform_fee: number
}

/** The plugin that freezes an asset. The owner or a wallet of the platform can thaw it. */
const FREEZE = 'FreezeDelegate'
const REMOVES = METAPLEX_CORE.data('remove_plugin_v1', { plugin_type: { name: FREEZE, value: null } })
const sets = (frozen: boolean) =>
  METAPLEX_CORE.data('update_plugin_v1', { plugin: { name: FREEZE, value: { frozen } } })
const adds = (init_authority: Variant) =>
  hexOf(METAPLEX_CORE.data('add_plugin_v1', { plugin: { name: FREEZE, value: { frozen: true } }, init_authority }))

export async function stakesNft(of: Signing, asked: AskedStake & { thawedBy: string | undefined }): Promise<Call[]> {
  const own = { asset: asked.asset, collection: asked.collection, payer: of.payer, authority: of.payer }
  const addsFreeze = (hex: string) => {
    const given = METAPLEX_CORE.argsOf('add_plugin_v1', bytesOfHex(hex))?.init_authority
    if (!given || hex !== adds(given)) return false
    if (given.name === 'Owner') return asked.thawedBy === undefined
    if (given.name !== 'Address') return false
    const { address } = given.value as { address: string }
    if (asked.thawedBy === undefined) of.apiSays(`only ${address} can release it`, '--thawed-by')
    return asked.thawedBy === undefined || address === asked.thawedBy
  }
  return [
    { ...core('remove_plugin_v1', own, REMOVES), least: 0 },
    { ...core('add_plugin_v1', own, addsFreeze), group: 'freeze' },
    { ...core('update_plugin_v1', own, sets(true)), group: 'freeze' },
    ...stakeEnd(of.payer, 'stake', asked),
  ]
}

export const burnsNft = ({ payer }: Signing, { asset, collection }: AskedAsset): Call[] => [
  core('burn_v1', { asset, collection, payer, authority: payer }, METAPLEX_CORE.data('burn_v1', {})),
]

/** The one who can thaw it must sign. */
export const releasesNft = ({ payer }: Signing, asked: AskedStake): Call[] => {
  const own = { asset: asked.asset, collection: asked.collection, payer }
  return [
    core('update_plugin_v1', own, sets(false)),
    core('remove_plugin_v1', { ...own, authority: payer }, REMOVES),
    ...stakeEnd(payer, 'release', asked),
  ]
}

const stakeEnd = (
  payer: string,
  step: 'stake' | 'release',
  { asset, platform_id, platform_fee }: AskedStake,
): Call[] => [writesMemo(stakeMemo(step, asset, platform_id)), ...platformFee(payer, platform_fee)]
