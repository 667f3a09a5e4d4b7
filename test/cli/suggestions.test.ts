/** What was meant is said as a command that can be pasted, and what the API says of a field as what was typed. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Verb } from '../../commands/cli/command.ts'
import { inTypedWords, typedForParam } from '../../commands/cli/field-names.ts'
import { GLOBAL_OPTIONS, NOUNS } from '../../commands/cli/nouns.ts'
import { flagName, type ParsedCommand } from '../../commands/cli/parsed-command.ts'
import { readCommand } from '../../commands/cli/program.ts'
import { COMMAND_SYNONYMS, FLAG_SYNONYMS, VERB_SYNONYMS } from '../../commands/cli/synonyms.ts'
import { api } from '../../src/api/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import { ApiFailure } from '../../src/client.ts'
import { editDistance, nearestNames } from '../../src/platform/nearest.ts'
import { oneIn, runs } from '../support/runs.ts'
import { commandLine, MINT } from './command-line.ts'
import { exampleWords } from './example-words.ts'

const cli = commandLine()
const { svc } = cli
const nouns = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const verbs: [string, Verb][] = nouns.flatMap(({ name, noun }) =>
  'verb' in noun
    ? [[name, noun.verb] as [string, Verb]]
    : Object.entries(noun.verbs).map(([verb, declared]) => [`${name} ${verb}`, declared] as [string, Verb]),
)
const routes = Object.values(api).flatMap((own) => Object.values(own) as AnyRoute[])

/** The names of the fields of a schema, below whatever wraps it. */
function fieldsOf(schema: unknown): string[] {
  const { shape, def } = (schema ?? {}) as { shape?: object; def?: { innerType?: unknown; in?: unknown } }
  if (shape !== undefined) return Object.keys(shape)
  const inner = def?.innerType ?? def?.in
  return inner === undefined ? [] : fieldsOf(inner)
}

describe('A suggestion', () => {
  it.each([
    [['version'], 'svc --version'],
    [['polls', '--help'], 'svc pools --help'],
    [['help', 'polls', 'list'], 'svc pools list --help'],
    [['-o', 'plain', 'pols', 'get', 'x'], 'svc -o plain pools get x'],
    [['airdrops', 'create', 'list.csv'], 'svc airdrops init list.csv', 'svc airdrops launch list.csv'],
    [['login'], 'svc keys create', 'svc config set api-key-file'],
    [['init'], 'svc localnet start', 'svc doctor'],
    [['deploy', '--name', 'My Token'], "svc pools create --name 'My Token'", "svc tokens create --name 'My Token'"],
    [['create', 'token', '--name', 'x'], 'svc tokens create --name x'],
    [['claim', MINT], `svc airdrops claim ${MINT}`, `svc fees claim ${MINT}`],
    [['pools', 'burn', MINT], `svc tokens burn ${MINT}`, `svc nfts burn ${MINT}`],
    [['keys', 'rm', 'ID', '--yes'], 'svc keys delete ID --yes'],
    [['events', 'follow'], 'svc events watch'],
    [['fees', 'schedule', 'crate'], 'svc fees schedule create'],
    [['fees', 'schedules', 'list'], 'svc fees schedule list'],
    [['pools', 'list', '--cluster', 'devnet'], 'svc pools list -u devnet'],
    [['pools', 'list', '--cluster=devnet'], 'svc pools list -u devnet'],
    [['tx', 'sign', '@a.txt', '--keyfile', 'id.json'], 'svc tx sign @a.txt --keypair id.json'],
    [['keys', 'delete', 'ID', '--force'], 'svc keys delete ID --yes'],
    [['db', 'backup', 'x', '--froce'], 'svc db backup x --force'],
    [['pools', 'list', '--quite'], 'svc pools list --quiet'],
    [['-o', 'yaml', 'pools', 'list'], 'svc -o json pools list'],
    [['pools', 'list', '--output=txt'], 'svc pools list --output=plain'],
    [['-u', 'main', 'pools', 'list'], 'svc -u mainnet-beta pools list'],
    [['pools', 'list', '--status', 'migrate'], 'svc pools list --status migrated'],
    [['tokens', 'revoke', MINT, 'metdata'], `svc tokens revoke ${MINT} metadata`],
  ])('for %j is a whole command', async (argv, ...commands) => {
    const stderr = await cli.refused(argv, /^error: [^\n]*\n {2}next: [^\n]*\n$/)
    expect(stderr).toContain(`\n  next: did you mean ${commands.map((command) => `\`${command}\``).join(' or ')}?\n`)
  })

  it('for an environment variable is the variable with its value', async () => {
    const { exitCode, stderr } = await svc(['pools', 'list'], { env: { SVC_OUTPUT: 'yaml' } })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('output (SVC_OUTPUT) must be one of')
    expect(stderr).toContain('did you mean `SVC_OUTPUT=json`?')
  })

  it.each([
    [['zzzzzz'], '`svc --help` and `svc <noun> --help` list the commands'],
    [['zzzzzz', '--help'], '`svc --help` and `svc <noun> --help` list the commands'],
    [['pools', 'zzzzzz'], '`svc pools --help` shows its verbs'],
    [['pool', 'list', '--zzzzzz'], '`svc pools list --help` shows what it takes'],
    [['pools', 'list', '-x'], '`svc pools list --help` shows what it takes'],
    [['pools', 'list', '--status'], '`svc pools list --help` shows what it takes'],
    [['fees', 'schedule', 'get', 'a', 'b'], '`svc fees schedule get --help` shows what it takes'],
    [['health', 'x'], '`svc health --help` shows what it takes'],
  ])('for %j, which is near nothing, is the help', async (argv, next) => {
    const { exitCode, stderr } = await svc(argv)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`\n  next: ${next}\n`)
  })

  it('is one line without control characters for any input', async () => {
    const { stderr } = await svc(['pools', 'lits', '\u001b[31mred\nnext: rm -rf', "it's"])
    expect(stderr).not.toMatch(/\u001b/)
    expect(stderr.split('\n')).toHaveLength(3)
    expect((await svc(['pools', 'lits', 'x'.repeat(5_000)])).stderr.length).toBeLessThan(200)
  })

  it('of every table entry exists', async () => {
    const all = verbs.map(([command]) => command)
    const missing: string[] = []
    for (const command of Object.values(COMMAND_SYNONYMS).flat()) {
      const known = command.startsWith('-') || all.some((own) => `${command} `.startsWith(`${own} `))
      // The lines of the noun `wallet` apply where that noun is.
      if (!known && !command.startsWith('wallet ')) missing.push(command)
    }
    const verbWords = new Set(all.flatMap((command) => command.split(' ').slice(1)))
    missing.push(
      ...Object.values(VERB_SYNONYMS)
        .flat()
        .filter((verb) => !verbWords.has(verb)),
    )
    const flags = new Set([
      ...GLOBAL_OPTIONS.flatMap(({ flags }) => flags.match(/--?[a-z][a-z-]*/g) ?? []),
      ...verbs.flatMap(([, own]) => Object.keys(own.flags).map((key) => `--${key.replaceAll('_', '-')}`)),
      '--help',
    ])
    missing.push(
      ...Object.values(FLAG_SYNONYMS)
        .flat()
        .filter((flag) => !flags.has(flag.replace(/=.*/, ''))),
    )
    expect(missing).toEqual([])
    // A word that is right needs no table.
    const names = NOUNS.flatMap(({ name, aliases = [] }) => [name, ...aliases])
    expect(Object.keys(COMMAND_SYNONYMS).filter((word) => names.includes(word))).toEqual([])
  })
})

describe('The nearest names', () => {
  it('are those with the fewest edits, where a swap of neighbours is one', () => {
    expect(nearestNames('lsit', ['list', 'last', 'get'])).toEqual(['list'])
    expect(nearestNames('x'.repeat(10_000), ['list'])).toEqual([])
    expect(nearestNames('mig', ['migrated', 'live'])).toEqual(['migrated'])
  })

  it('have a distance that is zero to themselves, symmetric, and at most the longer length', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
    fc.assert(
      fc.property(word, word, (one, other) => {
        const steps = editDistance(one, other)
        expect(steps === 0).toBe(one === other)
        expect(editDistance(other, one)).toBe(steps)
        expect(steps).toBeLessThanOrEqual(Math.max(one.length, other.length))
        expect(steps).toBeGreaterThanOrEqual(Math.abs(one.length - other.length))
      }),
    )
  })
})

describe('A field of the API', () => {
  const typed = (command: string, verb: Verb, key: string): ParsedCommand => ({
    verb,
    command,
    raw: { [key]: 'x' },
    globals: { input: true, color: true, pager: true },
  })
  const failure = (param: string, message: string) =>
    new ApiFailure({ error: { code: 'bad_request', message, param }, meta: { request_id: 'req_1' } })

  it('is named in errors by the flag or argument that fills it, in every command', () => {
    let named = 0
    for (const [command, verb] of verbs) {
      const own = routes.filter(({ method, path }) => verb.calls.some(([m, p]) => m === method && p === path))
      const fields = new Set(own.flatMap(({ body, query, params }) => [body, query, params].flatMap(fieldsOf)))
      for (const [key, input] of Object.entries({ ...verb.args, ...verb.flags })) {
        if (!fields.has(input.field ?? key)) continue
        const shown = Object.hasOwn(verb.args, key) ? `<${key}>` : `--${key.replaceAll('_', '-')}`
        const param = input.field ?? key
        const error = inTypedWords(failure(param, `${param}: is wrong`), typed(command, verb, key)) as ApiFailure
        expect([command, error.message, error.param]).toEqual([command, `${shown}: is wrong`, shown])
        expect(error).toBeInstanceOf(ApiFailure)
        expect(error.envelope.error).toMatchObject({ message: `${param}: is wrong`, param })
        named++
      }
    }
    expect(named).toBeGreaterThan(250)
  })

  it.each([
    ['keys create', 'rate_limit_per_minute', 'per_minute', '--per-minute'],
    ['signer policy', 'lamports_per_day', 'per_day', '--per-day'],
    ['airdrops init', 'merkle_root', 'root', '--root'],
    ['pools create', 'buy_amount', 'buy', '--buy'],
    ['pools create', 'twitter_url', 'twitter', '--twitter'],
    ['pools create', 'base_mint', 'mint_keypair', '--mint-keypair'],
    ['pools transfer-creator', 'new_creator', 'to', '--to'],
    ['tokens create', 'initial_supply', 'supply', '--supply'],
    ['tokens create', 'initial_supply', 'initial_supply', '--initial-supply'],
    ['tokens create', 'payer', 'keypair', '--keypair'],
    ['tokens create', 'payer', 'payer', '--payer'],
    ['fees claim', 'splits.1.bps', 'split', '--split item 2 (bps)'],
    ['fees claim', 'splits.0', 'split_file', '--split-file item 1'],
    ['fees schedule create', 'filter.preset', 'preset', '--preset'],
    ['gold lock', 'lock_duration_days', 'days', '--days'],
    ['webhooks create', 'url', 'receiver', '<receiver>'],
    ['webhooks create', 'enabled_events.1', 'events', '--events item 2'],
    ['webhooks create', 'filter.types.0', 'filter', '--filter (types.0)'],
    ['pools get', 'unheard_of', 'address', undefined],
  ])('of another name: in `svc %s` %s is %s', (command, param, key, shown) => {
    const [, verb] = verbs.find(([own]) => own === command)!
    expect(typedForParam(typed(command, verb, key), param)).toBe(shown)
  })

  const other = 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4'
  it.each([
    ['tokens transfer', { address: MINT }, 'address', { mint: MINT, squads: other }, '<mint>'],
    ['tokens transfer', { address: other }, 'address', { mint: MINT, squads: other }, '--squads'],
    ['tokens transfer', { address: 'X' }, 'address', { mint: 'X' }, '<mint>'],
    ['fees claim', { address: other }, 'address', { pool: MINT }, undefined],
    ['fees claim', { address: other }, 'address', { pool: 'GOLD' }, '<pool>'],
    ['airdrops snapshot', { collection: other }, 'collection', { of: other }, '<of>'],
    ['fees delegate grant', { delegate: other }, 'delegate', { to: other }, '--to'],
    ['merkle diff', { id: 'new' }, 'id', { a: 'old', b: 'new' }, '<b>'],
    ['wallet send', { recipients: [{ wallet: other }] }, 'recipients.0.wallet', { to: other }, '<to>'],
    ['airdrops page', { id: 'second' }, 'id', { ids: ['first', 'second'] }, '<ids> item 2'],
    ['multisig create', { members: [{ address: other }] }, 'members.0.address', { member: [other] }, '--member'],
  ])('that was sent decides: in `svc %s` %j with %s of %j is %s', (command, input, param, raw, shown) => {
    const [, verb] = verbs.find(([own]) => own === command)!
    const envelope = { error: { code: 'bad_request', message: 'is wrong', param }, meta: { request_id: 'req_1' } }
    const error = inTypedWords(new ApiFailure(envelope, undefined, input), { ...typed(command, verb, ''), raw })
    expect((error as ApiFailure).param).toBe(shown ?? param)
  })

  it('is named as typed by every example of every command, whichever value the API refuses', {
    timeout: 120_000,
    tags: 'sampled',
  }, async () => {
    const atPath = routes.map(({ method, path }) => ({
      method,
      names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`),
    }))
    let sent: Record<string, unknown> | undefined
    const fieldsOfRequest = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
      const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
      const route = atPath.find(
        ({ method, pattern }) => method.toUpperCase() === request.method && pattern.test(pathname),
      )
      const [, ...parts] = route?.pattern.exec(pathname) ?? []
      const body = await text(request)
      return {
        ...Object.fromEntries(searchParams),
        ...(body === '' ? {} : JSON.parse(body)),
        ...Object.fromEntries(parts.map((part, i) => [route?.names[i], decodeURIComponent(part)])),
      }
    }
    // It refuses the first request of each command, and names every field that was sent.
    const server = createServer(async (request, response) => {
      sent ??= await fieldsOfRequest(request)
      const message = `fields ${Object.keys(sent)
        .map((field) => `[${field} \`${field}\`]`)
        .join(' ')}`
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { code: 'bad_request', message }, meta: { request_id: 'req_1' } }))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const api = ['--no-input', '--yes', '--api', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
    const own = cli.keypair('own.json')
    const wrong: string[] = []
    let named = 0
    for (const [, verb] of oneIn(3, verbs)) {
      for (const example of verb.examples) {
        const words = exampleWords(example).slice(1)
        // What is as long as an address or an id is typed for one input alone.
        const values = words.filter((word) => /^[\w-]{25,}$/.test(word))
        const isJson = words.includes('json') || words.includes('--json')
        if (verb.calls.length === 0 || values.length === 0 || isJson || words.includes('--payer')) continue
        const key = 'keypair' in verb.flags && !words.includes('--signed') ? ['--keypair', own.file] : []
        sent = undefined
        const { stderr } = await svc([...words, ...api, ...key], { env: { SVC_API_KEY: `svc_live_${'0'.repeat(32)}` } })
        const parsed = (await readCommand(words)) as ParsedCommand
        for (const [, field, shown] of stderr.replace(/\s+/g, ' ').matchAll(/\[(\w+) (.+?)\]/g)) {
          const value = [sent?.[field!]].flat()[0]
          if (typeof value !== 'string' || !values.includes(value)) continue
          const keys = Object.keys(parsed.raw).filter((name) => [parsed.raw[name]].flat().includes(value))
          const names = keys.map((name) => (Object.hasOwn(verb.args, name) ? `<${name}>` : flagName(name)))
          if (names.some((name) => shown === name || shown!.startsWith(`${name} item `))) named++
          else wrong.push(`${example}: ${field} is ${shown} instead of ${names}`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(named).toBeGreaterThan(runs(30, 100))
  })

  it('is replaced in a message only if it is marked as a name', async () => {
    const parsed = (await readCommand(['tokens', 'create', '--name', 'x', '--initial-supply', '1'])) as ParsedCommand
    const message = 'name: the name of a mint; leave `initial_supply` out, or give "token_program", not `pool.live`'
    expect((inTypedWords(failure('name', message), parsed) as ApiFailure).message).toBe(
      '--name: the name of a mint; leave --initial-supply out, or give --token-program, not `pool.live`',
    )
  })

  it('is a flag in text output, and the field in JSON', async () => {
    const argv = ['keys', 'create', '--name', 'x', '--scopes', 'fees:claim,nope']
    const plain = await svc(argv)
    expect(plain.exitCode).toBe(2)
    expect(plain.stderr).toMatch(/^error: --scopes item 2: /)
    const json = await svc([...argv, '--json'])
    expect(JSON.parse(json.stderr).error).toMatchObject({ param: 'scopes.1' })
    expect((await svc(['pools', 'get', 'not-an-address'])).stderr).toMatch(
      /^error: <address>: must be a base58 address/,
    )
  })
})
