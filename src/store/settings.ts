/** Settings that the database itself must remember, one text by name. */
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
