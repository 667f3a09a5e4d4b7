/** How a page of the console is written: its path, and what it shows of the API's answers. */
import type { Child } from 'hono/jsx'
import type { Place } from './layout.tsx'
import type { Part } from './stream.ts'
import type { Shown } from './table.tsx'
import type { View } from './view.ts'

interface PageContent {
  /** Instead of the page's own title. */
  title?: string
  body: Child
  /** The table whose rows `?format=csv` answers. */
  table?: Shown
}

/**
 * A page asks the API with `view.client`, and shows the answers with `Table`, `Fields`, `Chart` and `Act`.
 *
 * @example
 * export const keysPage: ConsolePage = {
 *   path: '/console/keys',
 *   title: 'Keys',
 *   inNavigation: true,
 *   async content(view) {
 *     const table = await readTable(view, KEYS)
 *     return { table, body: <Table view={view} shown={table} /> }
 *   },
 * }
 */
export interface ConsolePage {
  /** Parameters stand in braces: `/console/webhooks/{id}`. */
  path: string
  title: string
  inNavigation?: true
  /** Pages of the same place, with links above the content. */
  siblings?: readonly Place[]
  /** Parts of which a change makes an open page read itself again. */
  live?: readonly Part[]
  content(view: View): Promise<PageContent>
}
