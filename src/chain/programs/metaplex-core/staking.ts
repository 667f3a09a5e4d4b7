/** Builds the transactions that freeze an asset in its owner's wallet, and that release it. */
import type { TransactionInstruction } from '@solana/web3.js'
import { stakeMemo } from '../../../solana/memos.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { memoInstruction } from '../memos.ts'
import { loadCore } from './sdk.ts'
import type { AssetState } from './types.ts'

interface AssetTransaction extends Envelope {
  /** The asset, which the payer owns and which is in a collection. */
  asset: AssetState
  platformId: string
}

export interface Freeze extends AssetTransaction {
  /** Address of a key that must sign the release, or null when the owner can release it. */
  authority: string | null
  /**
   * Handling of a plugin that exists and is not frozen: use it unchanged, or replace it because its authority is
   * another.
   */
  existing: 'none' | 'use' | 'replace'
}

/** The owner is the only signer. */
export async function buildFreeze(input: Freeze): Promise<UnsignedTransaction> {
  const { core, context, signer, key, instructions } = await loadCore()
  const { asset, payer, authority, existing, platformId } = input
  const own = {
    asset: key(asset.address),
    ...(asset.collection === null ? {} : { collection: key(asset.collection) }),
    payer: signer(payer),
    authority: signer(payer),
  }
  const plugin = {
    type: 'FreezeDelegate',
    frozen: true,
    authority:
      authority === null ? ({ type: 'Owner' } as const) : ({ type: 'Address', address: key(authority) } as const),
  } as const
  const builders =
    existing === 'use'
      ? [core.updatePlugin(context, { ...own, plugin: { type: 'FreezeDelegate', frozen: true } })]
      : [
          ...(existing === 'replace'
            ? [core.removePlugin(context, { ...own, plugin: { type: 'FreezeDelegate' } })]
            : []),
          core.addPlugin(context, { ...own, plugin }),
        ]
  return compileUnsigned(input, [
    ...instructions(...builders),
    ...(await stakeMemoInstructions('stake', input, platformId)),
  ])
}

export interface Release extends AssetTransaction {
  /** Address of the key that the plugin was given to, which also signs, or null when it is the owner's. */
  authority: string | null
}

/** The plugin's authority thaws it, and the owner removes it. The asset is then as before the stake. */
export async function buildRelease(input: Release): Promise<UnsignedTransaction> {
  const { core, context, signer, key, instructions } = await loadCore()
  const { asset, payer, authority, platformId } = input
  const accounts = {
    asset: key(asset.address),
    ...(asset.collection === null ? {} : { collection: key(asset.collection) }),
    payer: signer(payer),
  }
  const thaw = core.updatePlugin(context, {
    ...accounts,
    authority: signer(authority ?? payer),
    plugin: { type: 'FreezeDelegate', frozen: false },
  })
  const remove = core.removePlugin(context, {
    ...accounts,
    authority: signer(payer),
    plugin: { type: 'FreezeDelegate' },
  })
  return compileUnsigned(input, [
    ...instructions(thaw, remove),
    ...(await stakeMemoInstructions('release', input, platformId)),
  ])
}

const stakeMemoInstructions = async (
  verb: 'stake' | 'release',
  { asset, payer }: AssetTransaction,
  platformId: string,
): Promise<TransactionInstruction[]> => [await memoInstruction(stakeMemo(verb, asset.address, platformId), [payer])]
