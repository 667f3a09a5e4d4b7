/** Declares the two usual forms of commands: a paged list with filters, and one record. */
import type { RoutePath } from '../../src/api/route.ts'
import type { Client, ClientAnswer, ListMeta } from '../../src/client.ts'
import type { Drawing } from '../ui/drawing.ts'
import { DRAWN } from '../ui/drawing-flags.ts'
import {
  type CommandInputs,
  type CommandOutcome,
  type InputValues,
  integer,
  type Rows,
  text,
  toggle,
  type Verb,
  verb,
} from './command.ts'
import { type PageQuery, pagesOf } from './pages.ts'
import type { Session } from './session.ts'

interface Paging {
  limit?: string
  cursor?: string
}
const PAGING = {
  limit: integer('Items on a page, 1 to 100 (default 20)', { min: 1, max: 100 }),
  cursor: text('Continue after the page whose next_cursor this is', { placeholder: 'CURSOR' }),
  all: toggle('Follow the cursors to the end'),
}
const WHOLE_PAGING = {
  ...PAGING,
  limit: integer('Items on a page, 1 to 100 (default: all pages at once)', { min: 1, max: 100 }),
}

/** A list command: its filters are flags; `table` and `plain` show `columns`. */
export function listVerb<
  Row,
  A extends CommandInputs = Record<never, never>,
  F extends CommandInputs = Record<never, never>,
>(definition: {
  about: string
  at: RoutePath | readonly RoutePath[]
  args?: A
  filters?: F
  examples?: readonly string[]
  columns: readonly (keyof Row & string)[]
  /** The rows that `table` shows instead of `columns`, formatted for a terminal. */
  table?(items: readonly Row[], session: Session): Rows | Promise<Rows>
  /** What the user should know about the items. */
  notes?(items: readonly Row[], session: Session): readonly string[] | Promise<readonly string[]>
  /** The drawing that --plot shows below the items, and --svg writes; null if there is nothing to draw. */
  draw?(items: readonly Row[]): Drawing | null
  /** Whether all pages are read by default, unless --limit or --cursor request one. */
  whole?: boolean
  call(client: Client, query: InputValues<A> & InputValues<F> & Paging): Promise<ClientAnswer<Row[], ListMeta>>
}): Verb {
  const { about, at, args, filters, examples, columns, table, draw, whole = false, call } = definition
  return verb<CommandInputs, CommandInputs>({
    about,
    calls: (typeof at[0] === 'string' ? [at] : at) as readonly RoutePath[],
    ...(args ? { args } : {}),
    flags: { ...filters, ...(whole ? WHOLE_PAGING : PAGING), ...(draw ? DRAWN : {}) },
    ...(examples ? { examples } : {}),
    async run(input, session) {
      const { client, ui } = session
      const { all: everything, limit, cursor, plot, svg, ...query } = input as InputValues<typeof PAGING & typeof DRAWN>
      const all = everything || (whole && limit === undefined && cursor === undefined)
      const items: Row[] = []
      let next: string | null = null
      const list = ({ limit: full, ...paging }: PageQuery) => {
        const most = limit !== undefined || all ? { limit: String(limit ?? full) } : {}
        return call(client, { ...query, ...paging, ...most } as never)
      }
      for await (const { data, meta } of pagesOf(list, { after: cursor })) {
        items.push(...data)
        next = meta.next_cursor ?? null
        if (!all) break
        if (next !== null) ui.progress('Reading')(items.length, 0)
      }
      const own = (await definition.notes?.(items, session)) ?? []
      const outcome = {
        ...listOutcome(items, columns, own),
        ...(table === undefined || items.length === 0 ? {} : { table: await table(items, session) }),
      }
      const drawn = draw === undefined ? {} : await drawnOutcome(draw(items), { plot, svg })
      const notes = [...(outcome.notes ?? []), ...(drawn.notes ?? [])]
      if (next === null) return { ...outcome, ...drawn, notes }
      // An empty page can be followed by another.
      const emptyNote = items.length === 0 ? 'None on this page. ' : ''
      const more = `${emptyNote}More: repeat with --cursor ${next} (or --all)`
      return { ...outcome, ...drawn, hasMore: true, notes: [...own, ...(drawn.notes ?? []), more] }
    },
  })
}

/** The code for drawings is loaded only if one is requested. */
async function drawnOutcome(
  drawing: Drawing | null,
  { plot, svg }: { plot: boolean; svg: string | undefined },
): Promise<Pick<CommandOutcome, 'drawing' | 'notes'>> {
  if (!plot && svg === undefined) return {}
  if (drawing === null) return { notes: ['There is nothing to draw.'] }
  const { drawingLines, drawingSvg, writePicture } = await import('../ui/drawing.ts')
  return {
    ...(plot ? { drawing: drawingLines(drawing) } : {}),
    notes: svg === undefined ? [] : writePicture(svg, drawingSvg(drawing)),
  }
}

export const rowsOfRecords = <Row>(items: readonly Row[], columns: readonly (keyof Row & string)[]): Rows => ({
  columns,
  rows: items.map((item) => columns.map((column) => item[column])),
})

/** The outcome of a list: its records, their rows for `table` and `plain`, and notes. */
export function listOutcome<Row>(
  items: readonly Row[],
  columns: readonly (keyof Row & string)[],
  notes: readonly string[] = [],
): CommandOutcome {
  return {
    data: items,
    rows: rowsOfRecords(items, columns),
    notes: items.length === 0 ? ['None found.', ...notes] : notes,
  }
}

/** A command that returns one record. */
export function recordVerb<
  A extends CommandInputs = Record<never, never>,
  F extends CommandInputs = Record<never, never>,
>(definition: {
  about: string
  at: RoutePath
  args?: A
  flags?: F
  examples?: readonly string[]
  call(client: Client, input: InputValues<A> & InputValues<F>): Promise<{ data: unknown }>
}): Verb {
  const { at, call, ...rest } = definition
  return verb<A, F>({
    ...rest,
    calls: [at],
    run: async (input, { client }) => ({ data: (await call(client, input)).data }),
  })
}
