/** Reads which chain this is, how far it has come, how long a slot takes, and which consensus it has. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { isBlockhashValid, readHeights } from '../../chain/reads/heights.ts'
import { readSlotTime } from '../../chain/reads/slot-time.ts'
import type { Context } from '../../context.ts'

type ClusterRoute = Api['service']['cluster']

/** Throws internal_error when the node fails. Without performance samples the time of a slot is null. */
export async function readCluster(
  { chain }: Context,
  { blockhash }: Input<ClusterRoute>,
): Promise<Result<ClusterRoute>> {
  const [genesis_hash, heights, slot_ms, { consensus, alpenglowSlot }, blockhash_valid] = await Promise.all([
    chain.genesisHash(),
    readHeights(chain),
    readSlotTime(chain),
    chain.consensus.read(),
    blockhash === undefined ? undefined : isBlockhashValid(chain, blockhash),
  ])
  return {
    cluster: chain.cluster.label,
    genesis_hash,
    ...heights,
    slot_ms,
    consensus,
    alpenglow_slot: alpenglowSlot,
    ...(blockhash_valid === undefined ? {} : { blockhash_valid }),
  }
}
