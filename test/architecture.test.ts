/** Holds the table of design: which room may import which, and the house's rules for files. */
import { describe, expect, it } from 'vitest'
import { isAddress } from '../src/solana/addresses.ts'
import { HOUSE_ROOMS, ROOM_PATHS, roomOfFile } from '../tools/rooms.ts'
import {
  circlesOf,
  FILES,
  IMPORTS,
  importsOfLocalnet,
  shareOfRepeatedNames,
  textOf,
  topLevelNames,
} from './support/house.ts'

/** Packages that cost start-up time or memory: loaded by import() where they are used. */
const HEAVY = [/^@solana\//, /^@meteora-ag\//, /^@metaplex-foundation\//, /^litesvm$/]
const DRIVERS = ['better-sqlite3', 'pg']

describe('the architecture', () => {
  it('is read from every source file', () => {
    expect(FILES.length).toBeGreaterThan(100)
    expect(IMPORTS.length).toBeGreaterThan(300)
    expect(FILES.filter((file) => roomOfFile(file) === undefined)).toEqual([])
  })

  it('lets a room import only what the table allows', () => {
    const breaches = IMPORTS.filter(({ to }) => to.endsWith('.ts')).filter(({ from, to, kind }) => {
      const [source, target] = [roomOfFile(from)!, roomOfFile(to)]
      if (target === undefined || target === source) return target === undefined
      const { value, type = [], lazy = [] } = HOUSE_ROOMS[source]
      if (lazy.includes(target)) return kind === 'static'
      return !value.includes(target) && !(kind === 'type' && type.includes(target))
    })
    expect(breaches.map(({ from, to, kind }) => `${from} → ${to} (${kind})`)).toEqual([])
  })

  it('loads chain SDKs, database drivers and the daemon only on first use', () => {
    const eager = IMPORTS.filter(({ from, to, kind }) => {
      if (kind !== 'static') return false
      if (HEAVY.some((pattern) => pattern.test(to))) return true
      if (DRIVERS.includes(to)) return true
      return (from.startsWith('bin/') || from.startsWith('commands/')) && to.startsWith('daemon/')
    })
    expect(eager.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
  })

  it('has no circle of operations, and none of values anywhere', () => {
    const isOperation = (file: string) => file.startsWith('src/operations/')
    expect(circlesOf(IMPORTS.filter(({ from, to }) => isOperation(from) && isOperation(to)))).toEqual([])
    expect(circlesOf(IMPORTS.filter(({ kind }) => kind === 'static'))).toEqual([])
  })

  it('reaches into the embedded chain from few places: the connection, trials and rehearsals, who serves it, who looks at its journal', () => {
    expect([...new Set(importsOfLocalnet.map(({ from }) => from))].sort()).toEqual([
      'commands/machine/localnet.ts',
      'daemon/localnet.ts',
      'src/chain/connection.ts',
      'src/chain/copied-chain.ts',
      'src/chain/programs/dbc/launch-trial.ts',
    ])
    expect(importsOfLocalnet.length).toBeLessThanOrEqual(14)
  })

  it('asks the database in the store only', () => {
    const query = /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(|\bsql(<[^>]*>)?`/
    const outside = FILES.filter((file) => !file.startsWith('src/store/'))
    expect(outside.filter((file) => query.test(textOf(file)))).toEqual([])
    expect(IMPORTS.filter(({ from, to }) => to === 'kysely' && !from.startsWith('src/store/'))).toEqual([])
  })

  it('keeps the nouns out of following: a resource adds a projection, and following never names one', () => {
    const nouns = FILES.flatMap((file) => /^src\/operations\/([^/]+)\/projection\.ts$/.exec(file)?.[1] ?? [])
    expect(nouns.length).toBeGreaterThanOrEqual(5)
    // Folders of which the records are made by another folder's projection.
    const resources = [...nouns, 'collections', 'fee-claims', 'merkle-trees', 'nfts', 'stakes']
    const singular = resources.map((noun) => noun.replace(/s$/, '').replaceAll('-', '.?'))
    const named = new RegExp(`(?:${singular.join('|')})s?`, 'i')
    const following = FILES.filter((file) => file.startsWith('src/following/'))
    expect(following.length).toBeGreaterThan(10)
    expect(following.filter((file) => named.test(textOf(file)))).toEqual([])
    const list = IMPORTS.filter(({ from }) => from === 'src/operations/projections.ts').map(({ to }) => to)
    expect(list).toEqual(expect.arrayContaining(nouns.map((noun) => `src/operations/${noun}/projection.ts`)))
  })

  it('names files in kebab-case and has no drawer for leftovers', () => {
    const names = FILES.map((file) => file.split('/').at(-1)!)
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name))).toEqual([])
    expect(FILES.filter((file) => /\b(utils?|helpers?|common)\b/.test(file))).toEqual([])
  })

  it('has named exports only, and files that say what they are for in their first line', () => {
    const texts = FILES.map((file) => [file, textOf(file)] as const)
    expect(texts.filter(([, text]) => /^export default/m.test(text)).map(([file]) => file)).toEqual([])
    expect(texts.filter(([, text]) => !/^(#!.*\n)?(\/\*\*|\/\/) /.test(text)).map(([file]) => file)).toEqual([])
  })

  it('has a file for every room, and one name for one thing: few names are defined in two files', () => {
    expect(ROOM_PATHS.filter((room) => !FILES.some((file) => roomOfFile(file) === room))).toEqual([])
    const names = topLevelNames()
    expect(names.length).toBeGreaterThan(3_000)
    const exportedTwice = names.filter(({ exportedBy }) => exportedBy.length > 1)
    expect(exportedTwice.map(({ name, exportedBy }) => `${name}: ${exportedBy.join(', ')}`)).toEqual([])
    expect(shareOfRepeatedNames(names)).toBeLessThan(0.12)
  })

  it('has constants of the chain, atomic writes and waiting in one place each', () => {
    const code = FILES.map((file) => [file, textOf(file)] as const)
    const outside = (home: RegExp, pattern: RegExp) =>
      code.filter(([file, text]) => !home.test(file) && pattern.test(text)).map(([file]) => file)

    expect(outside(/^src\/solana\//, /18_?446_?744_?073_?709_?551_?615|\b[12]n (?:\*\*|<<) 64n/)).toEqual([])
    // An export replaces a whole folder, which is no file to write at once.
    expect(
      outside(/^src\/files\.ts$|^commands\/ui\/whole-folder\.ts$/, /\b(?:rename|link)(?:Sync)?\b[^}]*\} from 'node:fs/),
    ).toEqual([])
    expect(outside(/^src\/timing\.ts$/, /new Promise(?:<\w+>)?\(\((\w+)\) => setTimeout\(\1,/)).toEqual([])
    expect(outside(/^src\/timing\.ts$/, /const (?:SECOND|MINUTE|HOUR|DAY)_MS =/)).toEqual([])

    const addresses = new Map<string, number>()
    for (const [, text] of code) {
      for (const [, address] of text.matchAll(/'([1-9A-HJ-NP-Za-km-z]{32,44})'/g)) {
        if (isAddress(address!)) addresses.set(address!, (addresses.get(address!) ?? 0) + 1)
      }
    }
    expect([...addresses.keys()].length).toBeGreaterThan(20)
    expect([...addresses].filter(([, times]) => times > 1)).toEqual([])
  })
})
