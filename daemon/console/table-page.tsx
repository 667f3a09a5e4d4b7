/** A page that is one table. */
import type { Child } from 'hono/jsx'
import type { ConsolePage } from './page.ts'
import { readTable, Table, type TableOf } from './table.tsx'
import type { View } from './view.ts'

/** `above` stands before the table. */
export const tablePage = <Row,>({
  table,
  above,
  ...page
}: Omit<ConsolePage, 'content'> & { table: TableOf<Row>; above?(view: View): Child }): ConsolePage => ({
  ...page,
  async content(view) {
    const shown = await readTable(view, table)
    return {
      table: shown,
      body: (
        <>
          {above?.(view)}
          <Table view={view} shown={shown} />
        </>
      ),
    }
  },
})
