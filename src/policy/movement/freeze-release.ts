/** Permits the only loss of control in cosigning: the wallet gives up its power to freeze an asset when it releases that asset. */
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { METAPLEX_CORE } from '../../solana/programs/metaplex-core.ts'
import type { TouchedAccount, TouchedAccounts } from './touched-accounts.ts'

const THAW = METAPLEX_CORE.data('update_plugin_v1', { plugin: { name: 'FreezeDelegate', value: { frozen: false } } })

/** The parts of a Metaplex Core asset that identify a release. */
export interface AssetSnapshot {
  owner: string
  /** The FreezeDelegate plugin of the asset, or null when it has none. */
  freeze: { frozen: boolean; authority: { type: string; address?: string } } | null
  /** Every field that the program's decoder reads. */
  decoded: object
}

/**
 * The asset that a transaction may release, before and after. A state is null when the address has no readable asset.
 */
export interface AssetRelease {
  asset: string
  before: AssetSnapshot | null
  after: AssetSnapshot | null
}

/**
 * If the transaction only releases the asset, returns the accounts with the asset counted as another owner's, else
 * unchanged. A release has this effect: the wallet's FreezeDelegate is gone, everything else in the asset is the same,
 * and the wallet acts on no other asset of Metaplex Core.
 */
export function withoutReleased(
  wallet: string,
  release: AssetRelease,
  message: DecodedMessage,
  accounts: TouchedAccounts,
): TouchedAccounts {
  const touched = accounts.get(release.asset)
  if (touched === undefined || !thawsAlone(wallet, release.asset, message)) return accounts
  if (!isReleased(wallet, release, touched)) return accounts
  return new Map([...accounts, [release.asset, { ...touched, offsets: [] }]])
}

/** Whether the thaw of this asset is the only instruction of Metaplex Core that names the wallet. */
function thawsAlone(wallet: string, asset: string, { keys, instructions }: DecodedMessage): boolean {
  const place = keys.indexOf(wallet)
  const [thaw, ...others] = instructions.filter(
    ({ programIdIndex, accounts }) => keys[programIdIndex] === METAPLEX_CORE.id && accounts.includes(place),
  )
  return (
    thaw !== undefined &&
    others.length === 0 &&
    keys[thaw.accounts[0] ?? -1] === asset &&
    thaw.data.length === THAW.length &&
    THAW.every((byte, i) => thaw.data[i] === byte)
  )
}

function isReleased(wallet: string, { before, after }: AssetRelease, touched: TouchedAccount): boolean {
  if (touched.before.account === null || touched.after.account === null) return false
  if (before === null || after === null || before.owner === wallet) return false
  const { freeze } = before
  const wasOurs = freeze?.frozen === true && freeze.authority.type === 'Address' && freeze.authority.address === wallet
  return wasOurs && after.freeze === null && unfrozenPartsOf(before) === unfrozenPartsOf(after)
}

/** Fields that change when a plugin is removed: the plugin itself and the offsets of the plugins in the data. */
const PLUGIN_FIELDS = new Set(['freezeDelegate', 'pluginHeader', 'header'])
const PLACE_FIELDS = new Set(['offset', 'dataOffset'])

/** Returns everything that was decoded except the freeze plugin, as text for comparison. */
function unfrozenPartsOf({ decoded }: AssetSnapshot): string {
  const rest = Object.fromEntries(Object.entries(decoded).filter(([name]) => !PLUGIN_FIELDS.has(name)))
  return JSON.stringify(rest, (name, value) => (PLACE_FIELDS.has(name) ? undefined : comparable(value)))
}

function comparable(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  return value instanceof Uint8Array ? [...value] : value
}
