/** Reads the holders of a token or a collection at one slot, and stores them. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Chain } from '../../chain/connection.ts'
import { ownerKinds } from '../../chain/holders/owner-kinds.ts'
import { type HeldAddress, type HoldersAtSlot, readHolders } from '../../chain/holders/read-holders.ts'
import type { Context } from '../../context.ts'
import { Overtaken } from '../../platform/errors.ts'
import { SECOND_MS, turnsOf } from '../../platform/timing.ts'
import { TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { newId } from '../../store/id.ts'
import { insertHolderSnapshot } from '../../store/resources/holder-snapshots.ts'
import { holderSnapshotRecord } from './holder-snapshot-record.ts'
import { packHolders } from './pack-holders.ts'

type CreateHolderSnapshotRoute = Api['holderSnapshots']['create']

/** Milliseconds of work after which other requests get their turn. */
const TURN_MS = 8
/** The token or collection that is read now, by chain. Two at once would take twice the memory and strain the node. */
const readings = new WeakMap<Chain, string>()

/** Throws Overtaken while another snapshot is read, and the errors of `readHolders` and `ownerKinds`. */
export async function createHolderSnapshot(
  context: Context,
  { mint, collection, owners, allow_confidential }: Input<CreateHolderSnapshotRoute>,
): Promise<Result<CreateHolderSnapshotRoute>> {
  const { chain, clock } = context
  const address = (mint === undefined ? { collection } : { mint }) as HeldAddress
  const reading = readings.get(chain)
  if (reading !== undefined) {
    throw new Overtaken(
      `The holders of ${reading} are being read, and only one snapshot is read at a time: try again when it is done`,
    )
  }
  readings.set(chain, mint ?? collection ?? '')
  try {
    const holders = await readHolders(chain, address, { allowConfidential: allow_confidential })
    const nextTurn = turnsOf(TURN_MS)
    const order = await holders.owners.sorted(nextTurn)
    const kinds = await ownerKinds(chain, addressesIn(holders, order), { owners, minSlot: holders.slot, nextTurn })
    const packed = await packHolders(holders.owners, order, kinds, nextTurn)
    const row = {
      id: newId('hsn'),
      address: mint ?? collection ?? '',
      mint: mint ?? null,
      collection: collection ?? null,
      token_program: holders.program === null ? null : holders.program === TOKEN_PROGRAM ? 'spl' : 'token2022',
      decimals: holders.decimals,
      slot: holders.slot,
      block_time: await readBlockTime(chain, holders.slot),
      supply: holders.supply.toString(),
      accounts: holders.accounts,
      holders: order.length,
      withheld: holders.withheld.toString(),
      confidential: holders.confidential.toString(),
      owners,
      kinds_json: JSON.stringify(packed.kinds),
      programs_json: JSON.stringify(packed.programs),
      pieces: packed.pieces.length,
      holders_sha256: packed.sha256,
      external_uid: context.externalUid ?? null,
      metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
      created_at: clock.now(),
    } as const
    return await context.commit(async (tx) => holderSnapshotRecord(await insertHolderSnapshot(tx, row, packed.pieces)))
  } finally {
    readings.delete(chain)
  }
}

function* addressesIn({ owners }: HoldersAtSlot, order: Uint32Array): Generator<Uint8Array> {
  for (const index of order) yield owners.at(index).owner
}

/** Unix milliseconds; null if the node no longer has it, which does not affect the holders. */
async function readBlockTime(chain: Chain, slot: number): Promise<number | null> {
  try {
    const seconds = await chain.call<unknown>('getBlockTime', [slot])
    return Number.isSafeInteger(seconds) && (seconds as number) > 0 && (seconds as number) < 1e11
      ? (seconds as number) * SECOND_MS
      : null
  } catch {
    return null
  }
}
