/** Reads the chain's own clock, with which programs compare their times whatever the clock of this machine shows. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { SYSVAR } from '../../solana/programs/sysvar.ts'
import { askNode } from '../nodes/rpc-faults.ts'

export interface ChainTime {
  slot: number
  epoch: bigint
  /** Time of the chain's clock in Unix seconds. */
  unixSeconds: number
}

/** Decodes the clock's account. Throws internal_error when the node leaves it out. */
export const chainTimeOf = (account: ClockAccount | null): Promise<ChainTime> =>
  askNode('Reading the clock', async () => decodeClock(account))

type ClockAccount = Pick<ChainAccount, 'owner' | 'data'>

/** Throws an Error when there is no account, as in the answer of a proxy without its node. */
function decodeClock(account: ClockAccount | null): ChainTime {
  const clock = SYSVAR.decode('clock', account)
  if (clock === null) throw new Error('the node does not return the clock')
  const { slot, epoch, unixTimestamp } = clock
  return { slot: Number(slot), epoch, unixSeconds: Number(unixTimestamp) }
}
