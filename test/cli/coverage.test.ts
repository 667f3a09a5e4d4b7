/** The command line covers the API: a command for every read, a flag for every filter, and no other words than the schemas'. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Verb } from '../../commands/cli/command.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { api } from '../../src/api/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'

const loaded = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const verbs: [string, Verb][] = loaded.flatMap(({ name, noun }) =>
  'verb' in noun
    ? [[name, noun.verb] as [string, Verb]]
    : Object.entries(noun.verbs).map(([verb, v]) => [`${name} ${verb}`, v] as [string, Verb]),
)
const routes = Object.values(api).flatMap((verbs) => Object.values(verbs) as AnyRoute[])
const calling = ({ method, path }: AnyRoute) =>
  verbs.filter(([, { calls }]) => calls.some(([m, p]) => m === method && p === path))

/** Presets are few, and `svc pools presets` reads all pages of them. */
const readsAll = (name: string, filter: string) => name === 'pools presets' && ['limit', 'cursor'].includes(filter)

describe('The command line', () => {
  it('has a command for every list and read of the API', () => {
    const reads = routes.filter(({ method }) => method === 'get')
    expect(reads.length).toBeGreaterThan(20)
    expect(reads.filter((route) => calling(route).length === 0).map(({ path }) => path)).toEqual([])
  })

  it('names the route that finds the multisig of a vault in every command that proposes', () => {
    const proposing = verbs.filter(([, { flags }]) => 'squads' in flags).map(([name]) => name)
    expect(proposing.length).toBeGreaterThan(20)
    const names = calling(api.multisigs.get).map(([name]) => name)
    expect(proposing.filter((name) => !names.includes(name))).toEqual([])
  })

  it('has a flag for every filter of a list', () => {
    const missing = routes.flatMap((route) =>
      route.list && route.query
        ? Object.keys(route.query.shape).flatMap((filter) =>
            calling(route).some(([name, { flags }]) => filter in flags || readsAll(name, filter))
              ? []
              : [`${route.path} ${filter}`],
          )
        : [],
    )
    expect(missing).toEqual([])
  })

  it('offers exactly the choices of the schema', () => {
    let compared = 0
    for (const route of routes) {
      for (const [name, schema] of Object.entries({ ...route.query?.shape, ...route.params?.shape })) {
        const options = enumOf(schema)
        for (const [command, { flags, args }] of calling(route)) {
          const { choices } = flags[name] ?? args[name] ?? {}
          if (!choices) continue
          compared++
          expect(choices, `${command} ${name}`).toEqual(options)
        }
      }
    }
    expect(compared).toBeGreaterThan(6)
  })

  it('declares inputs named like fields, each with a purpose', () => {
    for (const [command, { about, args, flags }] of verbs) {
      expect(about, command).toMatch(/^[A-Z]/)
      for (const [name, input] of Object.entries({ ...args, ...flags })) {
        expect(name, command).toMatch(/^[a-z][a-z_]*$/)
        expect(input.about.length, `${command} ${name}`).toBeGreaterThan(5)
      }
    }
  })

  it('is named beside every route that a message names as the next step', () => {
    const folder = new URL('../../src/operations/', import.meta.url)
    const lines = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => readFileSync(new URL(file, folder), 'utf8').split('\n'))
      .filter((line) => /\b(GET|POST|PUT|PATCH|DELETE) \/v2\//.test(line) && !/^\s*(\/\*)?\*|^\s*\/\//.test(line))
      // Names of operations are data, not a next step.
      .filter((line) => !/^\s*(operation: |const [A-Z]+(: .*Set\(\[| = ))?'[A-Z]+ \/v2\/[^']*'([:,\]]|$)/.test(line))
    expect(lines.length).toBeGreaterThan(3)
    const named = lines.map((line) => `${/\/v2\/[^`]*?, \\?`svc ([a-z -]+)/.exec(line)?.[1]} `)
    expect(lines.filter((_, i) => !verbs.some(([command]) => named[i]?.startsWith(`${command} `)))).toEqual([])
  })

  it('is described command by command in docs/cli.md', () => {
    const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
    expect(verbs.length).toBeGreaterThan(45)
    expect(verbs.filter(([command]) => !text.includes(`### svc ${command}\n`)).map(([command]) => command)).toEqual([])
  })
})

/** The words of an enumeration, below whatever wraps it. */
function enumOf(schema: unknown): unknown {
  const { options, def } = schema as { options?: unknown; def?: { innerType?: unknown; in?: unknown } }
  if (Array.isArray(options)) return options
  const inner = def?.innerType ?? def?.in
  return inner === undefined ? undefined : enumOf(inner)
}
