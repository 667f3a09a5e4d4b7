/** The one power that a wallet gives up where it cosigns: to keep an asset frozen, of the very asset that is released. */

import type { DecodedMessage } from '../../solana/messages.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { AssetState } from '../programs/metaplex-core/index.ts'
import { decodeAsset } from '../programs/metaplex-core/state.ts'
import type { Account } from '../runs.ts'
import type { Holding, Holdings } from './holdings.ts'

/** UpdatePluginV1 of a FreezeDelegate to not frozen. */
const THAW = [6, 1, 0]

/**
 * The holdings, with the asset counted as a stranger's where the transaction is its release and does nothing else to
 * it; else as they are, so that every rule sees what the wallet would lose. A release is told by its effect: the
 * wallet's FreezeDelegate is gone and all else of the asset stays; and the wallet acts on Metaplex Core for it alone.
 */
export async function withoutReleased(
  wallet: string,
  asset: string,
  message: DecodedMessage,
  holdings: Holdings,
): Promise<Holdings> {
  const holding = holdings.get(asset)
  if (holding === undefined || !thawsAlone(wallet, asset, message)) return holdings
  if (!(await isReleased(wallet, holding))) return holdings
  return new Map([...holdings, [asset, { ...holding, offsets: [] }]])
}

/** Whether the only instruction of the program that names the wallet is the thaw of this asset. */
function thawsAlone(wallet: string, asset: string, { keys, instructions }: DecodedMessage): boolean {
  const place = keys.indexOf(wallet)
  const naming = instructions.filter(
    ({ programIdIndex, accounts }) => keys[programIdIndex] === PROGRAMS.core.id && accounts.includes(place),
  )
  const [thaw] = naming
  return (
    naming.length === 1 &&
    keys[thaw!.accounts[0] ?? -1] === asset &&
    thaw!.data.length === THAW.length &&
    THAW.every((byte, i) => thaw!.data[i] === byte)
  )
}

async function isReleased(wallet: string, { address, before, after }: Holding): Promise<boolean> {
  const [old, now] = await Promise.all([stateOf(address, before.account), stateOf(address, after.account)])
  if (old === null || now === null || old.owner === wallet) return false
  const { freeze } = old
  const wasOurs = freeze?.frozen === true && freeze.authority.type === 'Address' && freeze.authority.address === wallet
  return wasOurs && now.freeze === null && restOf(old) === restOf(now)
}

/** Null for what is no asset, and for one that cannot be read: nothing is let pass then. */
async function stateOf(address: string, account: Account): Promise<AssetState | null> {
  const found = await decodeAsset(address, account).catch(() => null)
  return found?.kind === 'asset' ? found.asset : null
}

/** All that was decoded but the freeze plugin, and where in the data each plugin stands. */
function restOf({ decoded }: AssetState): string {
  const { freezeDelegate: _, pluginHeader: __, header: ___, ...rest } = decoded
  return JSON.stringify(rest, (name, value) =>
    name === 'offset' || name === 'dataOffset'
      ? undefined
      : typeof value === 'bigint'
        ? `${value}n`
        : value instanceof Uint8Array
          ? [...value]
          : value,
  )
}
