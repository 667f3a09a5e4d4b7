/** Named settings that are stored in the database. */
import { newId } from './id.ts'
import type { Reader, Tx } from './store.ts'

export async function findSetting(reader: Reader, name: string): Promise<string | null> {
  const row = await reader.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value ?? null
}

/** Stores `value` unless one exists, and returns the stored one. */
export async function settleSetting(tx: Tx, name: string, value: string): Promise<string> {
  await tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await findSetting(tx, name)) ?? value
}

/** Stores `value` in place of an earlier one. */
export async function storeSetting(tx: Tx, name: string, value: string): Promise<void> {
  await tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** Larger than a database page, so writing it needs new space. */
const WRITE_PROBE = 'x'.repeat(8192)

/** Throws if the database accepts no writes because the disk is full or it is read-only. It leaves no data behind. */
export async function probeWrite(tx: Tx): Promise<void> {
  const name = newId('probe')
  await tx.insertInto('settings').values({ name, value: WRITE_PROBE }).execute()
  await tx.deleteFrom('settings').where('name', '=', name).execute()
}
