/** One word for one thing: what was spelled another way before is still taken, and help says so. */
import { describe, expect, it } from 'vitest'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { nounHelp, readCommand } from '../../commands/cli/program.ts'
import { commandLine } from './command-line.ts'

const { svc } = commandLine()
const loaded = await Promise.all(NOUNS.map(async (entry) => ({ ...entry, noun: await entry.load() })))
const commandOf = async (...argv: string[]) => {
  const parsed = await readCommand(argv)
  return 'command' in parsed ? parsed.command : parsed.text
}

describe('A command', () => {
  // What a release has once spelled in one way is taken in that way for good.
  it.each([
    [['keys', 'revoke', 'ID'], 'keys delete'],
    [['tx', 'status', 'SIGNATURE'], 'tx get'],
    [['events', 'tail'], 'events watch'],
    [['webhooks', 'subscribe', 'https://example.com/hooks', '--events', 'pool.live'], 'webhooks create'],
    [['fees', 'history', '--kind', 'dbc'], 'fees list'],
  ])('is accepted in its old spelling, with options at any place: %j', async (argv, command) => {
    const [noun = '', verb = '', ...rest] = argv
    expect(await commandOf(...argv)).toBe(command)
    expect(await commandOf('-o', 'json', noun, '--profile', 'status', verb, ...rest, '--yes')).toBe(command)
    const { stdout } = await svc([noun, verb, '--help'])
    expect(stdout).toMatch(new RegExp(`^Usage: svc ${command} `))
    expect(stdout).toContain(`(also: ${verb})`)
    expect((await svc(['help', noun, verb])).stdout).toBe(stdout)
  })

  it.each([
    ['pool', 'pools'],
    ['transactions', 'tx'],
    ['api-keys', 'keys'],
    ['gold-locks', 'gold'],
    ['webhook-subscriptions', 'webhooks'],
    ['fee-claims', 'fees'],
    ['merkle-trees', 'merkle'],
  ])('is accepted with its noun spelled %s', async (alias, noun) => {
    expect(await commandOf('--json', alias, 'list', '--help')).toMatch(new RegExp(`^Usage: svc ${noun} `))
    expect((await svc([alias, '--help'])).stdout).toBe((await svc([noun, '--help'])).stdout)
    expect((await svc([noun, '--help'])).stdout).toContain(alias)
  })

  it('has aliases that exist and are not the name of another command', () => {
    const names = loaded.flatMap(({ name, aliases = [] }) => [name, ...aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const { name, noun } of loaded) {
      if (!('verbs' in noun)) continue
      for (const [alias, verb] of Object.entries(noun.aliases ?? {})) {
        expect([name, alias, Object.hasOwn(noun.verbs, alias)]).toEqual([name, alias, false])
        expect(Object.keys(noun.verbs), `${name} ${alias}`).toContain(verb)
        expect(nounHelp(name, noun)[alias]).toEqual(nounHelp(name, noun)[verb])
      }
    }
  })

  it('keeps an unknown verb as it was typed', async () => {
    expect(await readCommand(['tx', 'get', 'status'])).toMatchObject({
      command: 'tx get',
      raw: { signature: 'status' },
    })
    expect((await svc(['tx', 'constructor'])).stderr).toContain("unknown command 'constructor'")
  })
})
