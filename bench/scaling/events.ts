/** Events whose only effect is a delivery. */
import { appendEvents, type NewEvent } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import type { Store } from '../../src/store/store.ts'

/** What an event of a pool holds, in length. */
const OBJECT = JSON.stringify({ resource_type: 'pool', filler: 'x'.repeat(400) })

export async function writeBenchEvents(store: Store, count: number): Promise<void> {
  const events = Array.from(
    { length: count },
    (_, n): NewEvent => ({
      id: newId('evt'),
      type: 'pool.live',
      resource_type: 'pool',
      resource_id: `pool-${n}`,
      object_json: OBJECT,
      external_uid: null,
      metadata_json: null,
      dedupe_key: newId('x'),
      created_at: Date.now(),
    }),
  )
  await store.write((tx) => appendEvents(tx, events))
}
