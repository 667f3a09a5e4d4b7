/** The one table: rows of a list of the API, with its filters, its pages by cursor, and the same rows as CSV. */
import type { Child } from 'hono/jsx'
import type { AnyRoute } from '../../src/api/route.ts'
import type { Client, ClientAnswer, ListMeta } from '../../src/client.ts'
import { csvLine } from '../../src/platform/csv-line.ts'
import { SameDetails } from './act.tsx'
import { type Same, sameAs } from './same.ts'
import { clean, plainText, Value, wordsOf } from './values.tsx'
import { changedQuery, linkTo, type View } from './view.ts'

/** A field of the row, or a column of its own. Without `text`, it is left out of the CSV. */
export type Column<Row> =
  | (keyof Row & string)
  | { head: string; cell(row: Row, view: View): Child; text?(row: Row): unknown }

type Query = Record<string, string>

export interface TableOf<Row> {
  title: string
  route: AnyRoute
  call(client: Client, query: Query): Promise<ClientAnswer<Row[], ListMeta>>
  columns: readonly Column<Row>[]
  /** What is said if there are no rows. */
  empty: string
}

/** Declares a table; its filters are those of the route. */
export const tableOf = <Row,>(table: TableOf<Row>): TableOf<Row> => table

/** A table with the rows of one page. */
export interface Shown {
  title: string
  empty: string
  heads: readonly string[]
  rows: readonly Child[][]
  csv: string
  filters: readonly Filter[]
  next: string | null
  same: Same
}

interface Filter {
  name: string
  value: string
  /** Null if it takes any text. */
  choices: readonly string[] | null
}

const PAGING = ['limit', 'cursor']

/** Asks for the page of rows that the view's query names; `given` are parameters of the path. */
export async function readTable<Row>(view: View, table: TableOf<Row>, given: Query = {}): Promise<Shown> {
  const { route, columns } = table
  const names = Object.keys(route.query?.shape ?? {}).filter((name) => !(name in given))
  const asked = names.flatMap((name) => {
    const value = view.query.get(name) ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  const query: Query = { ...given, ...Object.fromEntries(asked) }
  const { data, meta } = await table.call(view.client, query)
  return {
    title: table.title,
    empty: table.empty,
    heads: columns.map((column) => (typeof column === 'string' ? wordsOf(column) : column.head)),
    rows: data.map((row) => columns.map((column) => cellOf(column, row, view))),
    csv: csvOf(columns, data),
    filters: names
      .filter((name) => !PAGING.includes(name))
      .map((name) => ({ name, value: query[name] ?? '', choices: choicesOf(route.query.shape[name]) })),
    next: meta.next_cursor,
    same: sameAs(view, route, query),
  }
}

function cellOf<Row>(column: Column<Row>, row: Row, view: View): Child {
  if (typeof column !== 'string') return column.cell(row, view)
  return <Value name={column} value={row[column]} />
}

function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const written = columns.filter((column) => typeof column === 'string' || column.text !== undefined)
  const head = written.map((column) => (typeof column === 'string' ? column : column.head))
  const cells = (row: Row) =>
    written.map((column) => plainText(typeof column === 'string' ? row[column] : column.text?.(row)))
  return [head, ...rows.map(cells)].map(csvLine).join('')
}

/** A schema of zod, as far as its choices are read. */
interface Schema {
  def: { type: string; innerType?: Schema; in?: Schema; entries?: Record<string, string> }
}

/** The values of an enumeration behind optional and converted schemas; null for any other schema. */
function choicesOf(schema: Schema): string[] | null {
  const { type, innerType, in: input, entries } = schema.def
  if (type === 'enum') return Object.values(entries ?? {})
  const inner = innerType ?? input
  return inner === undefined ? null : choicesOf(inner)
}

/** A column whose value leads to the page of the row. */
export const linked = <Row,>(field: keyof Row & string, path: (row: Row) => string): Column<Row> => ({
  head: wordsOf(field),
  cell: (row) => (
    <a class="code" href={linkTo(path(row))}>
      {clean(String(row[field]))}
    </a>
  ),
  text: (row) => row[field],
})

/** A column of records, or lists of them, that are shown on demand. */
export const folded = <Row,>(field: keyof Row & string): Column<Row> => ({
  head: wordsOf(field),
  cell: (row) => (
    <details>
      <summary>Show</summary>
      <Value name={field} value={row[field]} />
    </details>
  ),
  text: (row) => row[field],
})

/** Rows below their heads, without filters and pages. */
export const Rows = ({ title, heads, rows, empty }: Pick<Shown, 'title' | 'heads' | 'rows' | 'empty'>) =>
  rows.length === 0 ? (
    <p class="none">{empty}</p>
  ) : (
    <section class="scroll" tabindex={0} aria-label={title}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell, at) => (
                <td data-head={heads[at]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )

interface RecordsProps<Row> extends Pick<Shown, 'title' | 'empty'> {
  records: readonly Row[]
  fields: readonly (keyof Row & string)[]
}

/** Some fields of records, without filters and pages. */
export const Records = <Row,>({ title, empty, records, fields }: RecordsProps<Row>) => (
  <Rows
    title={title}
    heads={fields.map(wordsOf)}
    rows={records.map((record) => fields.map((name) => <Value name={name} value={record[name]} />))}
    empty={empty}
  />
)

export const Table = ({ view, shown }: { view: View; shown: Shown }) => (
  <>
    <h2>{shown.title}</h2>
    {shown.filters.length > 0 && <Filters view={view} filters={shown.filters} />}
    <div id="rows" data-live>
      <Rows {...shown} />
    </div>
    <nav class="pages" aria-label={`Pages of ${shown.title}`}>
      {view.query.has('cursor') && <a href={linkTo(view.path, changedQuery(view, { cursor: undefined }))}>Newest</a>}
      {shown.next !== null && <a href={linkTo(view.path, changedQuery(view, { cursor: shown.next }))}>Older</a>}
      <a href={linkTo(view.path, changedQuery(view, { format: 'csv' }))} download="">
        CSV of these rows
      </a>
    </nav>
    <SameDetails same={shown.same} />
  </>
)

const Filters = ({ view, filters }: { view: View; filters: readonly Filter[] }) => (
  <search>
    <form class="filters" method="get" action={linkTo(view.path)}>
      {filters.map(({ name, value, choices }) => (
        <div>
          <label for={`filter-${name}`}>{wordsOf(name)}</label>
          {choices === null ? (
            <input id={`filter-${name}`} name={name} value={value} />
          ) : (
            <Choices
              name={name}
              value={value}
              options={[['', 'not set'], ...choices.map((choice) => [choice, choice])]}
            />
          )}
        </div>
      ))}
      <div>
        <label for="filter-limit">Rows</label>
        <Choices name="limit" value={view.query.get('limit') ?? ''} options={SIZES.map((size) => [size, size])} />
      </div>
      <button type="submit">Show</button>
    </form>
  </search>
)

const SIZES = ['20', '50', '100']

const Choices = ({ name, value, options }: { name: string; value: string; options: string[][] }) => (
  <select id={`filter-${name}`} name={name}>
    {options.map(([choice, text]) => (
      <option value={choice} selected={choice === value}>
        {text}
      </option>
    ))}
  </select>
)
