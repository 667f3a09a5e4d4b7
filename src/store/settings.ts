/** Settings that the database itself must remember, one text by name. */
import { newId } from './id.ts'
import type { Reader, Tx } from './store.ts'

export async function findSetting(reader: Reader, name: string): Promise<string | null> {
  const row = await reader.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value ?? null
}

/** Stores `value` unless there is one, and answers the one that stands. */
export async function settleSetting(tx: Tx, name: string, value: string): Promise<string> {
  await tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await findSetting(tx, name)) ?? value
}

/** More than a page: what is stored must find new room. */
const WRITE_PROBE = 'x'.repeat(8192)

/** Throws where the database takes no write at all: its disk is full, or it is read-only. Leaves nothing behind. */
export async function probeWrite(tx: Tx): Promise<void> {
  const name = newId('probe')
  await tx.insertInto('settings').values({ name, value: WRITE_PROBE }).execute()
  await tx.deleteFrom('settings').where('name', '=', name).execute()
}
