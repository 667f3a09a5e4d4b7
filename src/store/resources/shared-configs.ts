/** Storage of the config accounts shared by the launches of a preset. */
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type SharedConfigRow = Row<'shared_configs'>
export type SharedConfigKey = Pick<SharedConfigRow, 'genesis' | 'preset' | 'content_sha256'>

export async function findSharedConfig(
  reader: Reader,
  { genesis, preset, content_sha256 }: SharedConfigKey,
): Promise<SharedConfigRow | null> {
  const row = await reader
    .selectFrom('shared_configs')
    .selectAll()
    .where('genesis', '=', genesis)
    .where('preset', '=', preset)
    .where('content_sha256', '=', content_sha256)
    .executeTakeFirst()
  return row ?? null
}

/**
 * Stores the account in place of the one at `replaced`, or as the first if that is null. Returns false if another
 * request has stored one meanwhile.
 */
export async function settleSharedConfig(
  tx: Tx,
  row: NewRow<'shared_configs'>,
  replaced: string | null,
): Promise<boolean> {
  if (replaced === null) {
    const inserted = await tx
      .insertInto('shared_configs')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .returning('address')
      .executeTakeFirst()
    return inserted !== undefined
  }
  const { address, secret, data_sha256, created_at } = row
  const { numUpdatedRows } = await tx
    .updateTable('shared_configs')
    .set({ address, secret, data_sha256, created_at })
    .where('genesis', '=', row.genesis)
    .where('preset', '=', row.preset)
    .where('content_sha256', '=', row.content_sha256)
    .where('address', '=', replaced)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
