/** Reads the chain's own clock, with which programs compare their times whatever the clock of this machine shows. */
import { askNode } from '../nodes/rpc-faults.ts'

const SLOT_AT = 0
const EPOCH_AT = 16
const UNIX_TIMESTAMP_AT = 32
const CLOCK_BYTES = 40

export interface ChainTime {
  slot: number
  epoch: bigint
  /** Time of the chain's clock in Unix seconds. */
  unixSeconds: number
}

/** Decodes the clock's account. Throws internal_error when the node leaves it out. */
export const chainTimeOf = (account: { data: Uint8Array } | null): Promise<ChainTime> =>
  askNode('Reading the clock', async () => decodeClock(account))

/** Throws an Error when there is no account, as in the answer of a proxy without its node. */
function decodeClock(account: { data: Uint8Array } | null): ChainTime {
  if (account === null || account.data.length < CLOCK_BYTES) throw new Error('the node does not return the clock')
  const data = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  return {
    slot: Number(data.readBigUInt64LE(SLOT_AT)),
    epoch: data.readBigUInt64LE(EPOCH_AT),
    unixSeconds: Number(data.readBigInt64LE(UNIX_TIMESTAMP_AT)),
  }
}
