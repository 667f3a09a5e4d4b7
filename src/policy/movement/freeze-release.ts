/** The one power that a wallet gives up where it cosigns: to keep an asset frozen, of the very asset that is released. */
import type { DecodedMessage } from '../../solana/messages.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { TouchedAccount, TouchedAccounts } from './touched-accounts.ts'

/** UpdatePluginV1 (6) of a FreezeDelegate (1) to not frozen (0). */
const THAW = [6, 1, 0]

/** What of an asset of Metaplex Core a release is recognized by. */
export interface AssetSnapshot {
  owner: string
  /** Its FreezeDelegate plugin; null where it has none. */
  freeze: { frozen: boolean; authority: { type: string; address?: string } } | null
  /** Everything that the program's decoder reads of it. */
  decoded: object
}

/** The asset that a transaction may release, as it was and will be; null where no asset stands there, or none that can be read. */
export interface AssetRelease {
  asset: string
  before: AssetSnapshot | null
  after: AssetSnapshot | null
}

/**
 * The accounts, with the asset counted as a stranger's where the transaction is its release and does nothing else to it;
 * else as they are, so that every rule sees what the wallet would lose. A release is recognized by its effect: the
 * wallet's FreezeDelegate is gone and all else of the asset stays; and the wallet acts on Metaplex Core for it alone.
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

/** Whether the only instruction of Metaplex Core that names the wallet is the thaw of this asset. */
function thawsAlone(wallet: string, asset: string, { keys, instructions }: DecodedMessage): boolean {
  const place = keys.indexOf(wallet)
  const [thaw, ...others] = instructions.filter(
    ({ programIdIndex, accounts }) => keys[programIdIndex] === PROGRAMS.core.id && accounts.includes(place),
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

/** Fields that change with the removal of a plugin: the plugin itself, and where in the data each plugin stands. */
const PLUGIN_FIELDS = new Set(['freezeDelegate', 'pluginHeader', 'header'])
const PLACE_FIELDS = new Set(['offset', 'dataOffset'])

/** All that was decoded but the freeze plugin, as text to compare. */
function unfrozenPartsOf({ decoded }: AssetSnapshot): string {
  const rest = Object.fromEntries(Object.entries(decoded).filter(([name]) => !PLUGIN_FIELDS.has(name)))
  return JSON.stringify(rest, (name, value) => (PLACE_FIELDS.has(name) ? undefined : comparable(value)))
}

function comparable(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  return value instanceof Uint8Array ? [...value] : value
}
