/** Holds the table of rooms: which room may import which, what is loaded on use, and where queries stand. */
import { describe, expect, it } from 'vitest'
import { mayImport, ROOM_PATHS, RULES, roomOfFile } from '../tools/rooms.ts'
import { circlesOf, FILES, IMPORTS, textOf } from '../tools/source.ts'

/** Packages that cost start-up time or memory: loaded by import() where they are used. */
const LOADED_ON_USE = [/^@solana\//, /^@meteora-ag\//, /^@metaplex-foundation\//, /^(litesvm|better-sqlite3|pg)$/]

describe('the architecture', () => {
  it('covers every source file, and every room has one', () => {
    expect(FILES.length).toBeGreaterThan(1_000)
    expect(IMPORTS.length).toBeGreaterThan(4_000)
    expect(FILES.filter((file) => roomOfFile(file) === undefined)).toEqual([])
    expect(RULES.flatMap(({ rooms }) => rooms).toSorted()).toEqual(ROOM_PATHS.toSorted())
    expect(ROOM_PATHS.filter((room) => !FILES.some((file) => roomOfFile(file) === room))).toEqual([])
  })

  it('lets a room import only the rooms in the table', () => {
    const breaches = IMPORTS.filter(({ to }) => /\.tsx?$/.test(to)).filter(({ from, to, kind }) => {
      const [source, target] = [roomOfFile(from), roomOfFile(to)]
      return source === undefined || target === undefined || !mayImport(source, target, kind)
    })
    expect(breaches.map(({ from, to, kind }) => `${from} → ${to} (${kind})`)).toEqual([])
  })

  it('loads chain SDKs and database drivers only on first use', () => {
    const product = IMPORTS.filter(({ from }) => !from.startsWith('tools/'))
    const eager = product.filter(({ to, kind }) => kind === 'static' && LOADED_ON_USE.some((name) => name.test(to)))
    expect(eager.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('has no circular imports', () => {
    expect(circlesOf(IMPORTS.filter(({ kind }) => kind !== 'dynamic'))).toEqual([])
  })

  it('queries the database only in the store', () => {
    const query = /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(|\bsql(<[^>]*>)?`/
    const outside = FILES.filter((file) => !file.startsWith('src/store/') && !file.startsWith('tools/'))
    expect(outside.filter((file) => query.test(textOf(file)))).toEqual([])
    expect(IMPORTS.filter(({ from, to }) => to === 'kysely' && !from.startsWith('src/store/'))).toEqual([])
  })
})
