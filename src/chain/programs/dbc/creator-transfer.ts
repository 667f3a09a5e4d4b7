/** Builds the transaction by which a pool's creator transfers its role, with everything that it has not claimed yet. */
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { openDbc } from './program.ts'
import type { DbcPool } from './types.ts'

/** Compute limit for a transfer that cannot be simulated: half more than the largest run used. */
export const CREATOR_TRANSFER_UNITS = 20_000

export interface CreatorTransfer extends Envelope {
  pool: Pick<DbcPool, 'address' | 'config' | 'creator'>
  /**
   * Address that becomes the creator. The program accepts any address except the present creator, even one without a
   * key.
   */
  newCreator: string
}

/** The pool's creator signs. The program refuses it (6022) between the end of the curve and its migration. */
export async function buildCreatorTransfer(transfer: CreatorTransfer): Promise<UnsignedTransaction> {
  const { methods, key, events } = await openDbc()
  const { pool, newCreator } = transfer
  const instruction = await methods
    .transferPoolCreator()
    .accountsStrict({
      virtualPool: key(pool.address),
      config: key(pool.config),
      creator: key(pool.creator),
      newCreator: key(newCreator),
      ...events,
    })
    .instruction()
  return compileUnsigned(transfer, [instruction])
}
