/** Holds the table of design: which room may import which, and the house's rules for files. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAddress } from '../src/solana/addresses.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FILES = ['bin', 'src', 'commands', 'daemon'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`),
)

interface Import {
  from: string
  to: string
  kind: 'type' | 'static' | 'dynamic'
}

const IMPORT = /(?:^|\n)\s*(import|export)\s+(type\s+)?(?:[^'";]*?\s+from\s+)?'([^']+)'|import\(\s*'([^']+)'\s*\)/g

function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(IMPORT)].map(([, , type, target, dynamic]) => {
    const specifier = (dynamic ?? target)!
    const to = specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), specifier)) : specifier
    return { from: file, to, kind: dynamic ? 'dynamic' : type ? 'type' : 'static' }
  })
}

const IMPORTS = FILES.flatMap(importsOf)

/** A room is the first matching prefix. */
const ROOMS = [
  'bin',
  'commands',
  'daemon',
  'src/operations',
  'src/following',
  'src/policy',
  'src/chain',
  'src/localnet',
  'src/solana',
  'src/store',
  'src/storage',
  'src/merkle',
  'src/api',
  'src/client.ts',
  'src/context.ts',
  'src/config.ts',
  'src/settings.ts',
  'src/project-file.ts',
  'src/errors.ts',
  'src/files.ts',
  'src/file-lock.ts',
  'src/timing.ts',
  'src/log.ts',
  'src/redaction.ts',
  'src/version.ts',
] as const
type Room = (typeof ROOMS)[number]

const roomOf = (file: string): Room | undefined => ROOMS.find((room) => file === room || file.startsWith(`${room}/`))

const ROOMS_BELOW = [
  'src/errors.ts',
  'src/files.ts',
  'src/file-lock.ts',
  'src/timing.ts',
  'src/log.ts',
  'src/config.ts',
  'src/redaction.ts',
  'src/version.ts',
] as const

/** What each room may import besides itself; `type` marks what may be imported as a type only, `lazy` by `import()` and as a type. */
const MAY: Record<Room, { value: readonly Room[]; type?: readonly Room[]; lazy?: readonly Room[] }> = {
  bin: { value: ROOMS },
  commands: {
    value: ['src/api', 'src/errors.ts', 'src/files.ts', 'src/timing.ts', 'src/merkle', 'src/solana', 'src/config.ts'],
    type: ['src/client.ts'],
  },
  daemon: {
    value: ROOMS.filter((room) => room.startsWith('src/') && room !== 'src/client.ts'),
    type: ['src/client.ts'],
  },
  'src/operations': {
    value: [
      'src/api',
      'src/following',
      'src/policy',
      'src/chain',
      'src/solana',
      'src/store',
      'src/storage',
      'src/merkle',
      'src/context.ts',
      ...ROOMS_BELOW,
    ],
  },
  // What it does with resources it gets as a list of projections.
  'src/following': {
    value: ['src/chain', 'src/solana', 'src/store', 'src/context.ts', 'src/errors.ts', 'src/timing.ts', 'src/log.ts'],
    type: ['src/api'],
  },
  'src/policy': { value: ['src/solana'] },
  'src/chain': { value: ['src/policy', 'src/solana', ...ROOMS_BELOW], type: ['src/api'], lazy: ['src/localnet'] },
  // Its journal is a database file of this installation, opened like every other.
  'src/localnet': { value: ['src/solana', 'src/files.ts'] },
  'src/solana': { value: [] },
  'src/store': { value: ROOMS_BELOW, type: ['src/api'] },
  'src/storage': { value: ROOMS_BELOW, type: ['src/api'] },
  'src/merkle': { value: ['src/solana'] },
  'src/api': { value: ['src/solana'] },
  'src/client.ts': { value: ['src/api', 'src/errors.ts', 'src/timing.ts'] },
  'src/context.ts': {
    value: [],
    type: ['src/api', 'src/chain', 'src/store', 'src/storage', 'src/merkle', ...ROOMS_BELOW],
  },
  'src/config.ts': { value: ['src/settings.ts', 'src/project-file.ts', 'src/errors.ts'] },
  'src/project-file.ts': { value: ['src/settings.ts', 'src/errors.ts', 'src/files.ts'] },
  'src/settings.ts': { value: [] },
  'src/errors.ts': { value: [] },
  'src/files.ts': { value: ['src/errors.ts'] },
  'src/file-lock.ts': { value: [] },
  'src/timing.ts': { value: [] },
  'src/log.ts': { value: [] },
  'src/redaction.ts': { value: ['src/config.ts'] },
  'src/version.ts': { value: [] },
}

/** Each circle of files that import one another, from where it was come upon. */
function circlesOf(imports: readonly Import[]): string[] {
  const graph = new Map<string, string[]>()
  for (const { from, to } of imports) graph.set(from, [...(graph.get(from) ?? []), to])
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return circles
}

/** Packages that cost start-up time or memory: loaded by import() where they are used. */
const HEAVY = [/^@solana\//, /^@meteora-ag\//, /^@metaplex-foundation\//, /^litesvm$/]
const DRIVERS = ['better-sqlite3', 'pg']

describe('the architecture', () => {
  it('is read from every source file', () => {
    expect(FILES.length).toBeGreaterThan(100)
    expect(IMPORTS.length).toBeGreaterThan(300)
    expect(FILES.filter((file) => roomOf(file) === undefined)).toEqual([])
  })

  it('lets a room import only what the table allows', () => {
    const breaches = IMPORTS.filter(({ to }) => to.endsWith('.ts')).filter(({ from, to, kind }) => {
      const [source, target] = [roomOf(from)!, roomOf(to)]
      if (target === undefined || target === source) return target === undefined
      const { value, type = [], lazy = [] } = MAY[source]
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

  it('reaches into the embedded chain from few places: the connection, who serves it, and who looks at its journal', () => {
    const inside = (file: string) => file.startsWith('src/localnet/')
    const reaching = IMPORTS.filter(({ from, to }) => inside(to) && !inside(from))
    expect([...new Set(reaching.map(({ from }) => from))].sort()).toEqual([
      'bin/localnet.ts',
      'daemon/localnet.ts',
      'src/chain/connection.ts',
    ])
    expect(reaching.length).toBeLessThanOrEqual(7)
  })

  it('asks the database in the store only', () => {
    const query = /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(|\bsql(<[^>]*>)?`/
    const outside = FILES.filter((file) => !file.startsWith('src/store/'))
    expect(outside.filter((file) => query.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
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
    expect(following.filter((file) => named.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
    const list = IMPORTS.filter(({ from }) => from === 'src/operations/projections.ts').map(({ to }) => to)
    expect(list).toEqual(expect.arrayContaining(nouns.map((noun) => `src/operations/${noun}/projection.ts`)))
  })

  it('names files in kebab-case and has no drawer for leftovers', () => {
    const names = FILES.map((file) => file.split('/').at(-1)!)
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name))).toEqual([])
    expect(FILES.filter((file) => /\b(utils?|helpers?|common)\b/.test(file))).toEqual([])
  })

  it('has named exports only, and files that say what they are for in their first line', () => {
    const texts = FILES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const)
    expect(texts.filter(([, text]) => /^export default/m.test(text)).map(([file]) => file)).toEqual([])
    expect(texts.filter(([, text]) => !/^(#!.*\n)?(\/\*\*|\/\/) /.test(text)).map(([file]) => file)).toEqual([])
  })

  it('has constants of the chain, atomic writes and waiting in one place each', () => {
    const code = FILES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const)
    const outside = (home: RegExp, pattern: RegExp) =>
      code.filter(([file, text]) => !home.test(file) && pattern.test(text)).map(([file]) => file)

    expect(outside(/^src\/solana\//, /18_?446_?744_?073_?709_?551_?615|\b[12]n (?:\*\*|<<) 64n/)).toEqual([])
    // An export replaces a whole folder, which is no file to write at once.
    expect(
      outside(/^src\/files\.ts$|^commands\/airdrops\/export\.ts$/, /\b(?:rename|link)(?:Sync)?\b[^}]*\} from 'node:fs/),
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
