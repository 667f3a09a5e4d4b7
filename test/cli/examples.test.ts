/** The examples of every command are command lines that work: they parse, and nothing that is required is missing. */
import { describe, expect, it } from 'vitest'
import type { CommandInput, Verb } from '../../commands/cli/command.ts'
import { readInputs } from '../../commands/cli/inputs.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import type { ParsedCommand } from '../../commands/cli/parsed-command.ts'
import { readCommand } from '../../commands/cli/program.ts'
import { commandLine } from './command-line.ts'
import { commandOf, NOBODY } from './example-words.ts'

const { svc } = commandLine()

const loaded = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const verbs: [string, Verb][] = loaded.flatMap(({ name, noun }) =>
  'verb' in noun
    ? [[name, noun.verb] as [string, Verb]]
    : Object.entries(noun.verbs).map(([verb, declared]) => [`${name} ${verb}`, declared] as [string, Verb]),
)

const A_VAULT = '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g'
const FLAG = /\s-{1,2}[a-z]/

describe('The choices of a flag or argument', () => {
  const choosing = verbs.flatMap(([command, { args, flags }]) =>
    Object.values({ ...args, ...flags }).flatMap((input) => (input.choices ? [{ command, input }] : [])),
  )

  it('are in its help word for word', async () => {
    expect(choosing.length).toBeGreaterThan(60)
    for (const { command, input } of choosing) {
      const words = input.topic === undefined ? [...command.split(' '), '--help'] : ['help', input.topic]
      const answer = await readCommand(words)
      const help = ('text' in answer ? answer.text : '').split(/[^\w.-]+/).map((word) => word.replace(/\.$/, ''))
      for (const choice of input.choices ?? []) expect(help, `${command} ${input.about}`).toContain(choice)
    }
  })

  it('have a meaning for each choice and no other', () => {
    for (const { command, input } of choosing) {
      for (const choice of Object.keys(input.meanings ?? {})) expect(input.choices, command).toContain(choice)
    }
    expect(choosing.filter(({ input }) => input.meanings !== undefined).length).toBeGreaterThan(15)
  })

  it('are shown with their meanings, and listed if the text names only some', async () => {
    const { stdout } = await svc(['fees', 'claim', '--help'])
    expect(stdout.replace(/\s+/g, ' ')).toContain('surplus: what a full curve leaves besides its liquidity;')
    const gold = await svc(['gold', 'list', '--help'])
    expect(gold.stdout.replace(/\s+/g, ' ')).toContain(
      '(locked; unlockable: its time is over, and it is not taken back yet; unlocked)',
    )
  })
})

/** A typed value of an input, or the one that a rule such as `kind=dbc` names. */
const typedValue = ({ kind, choices, min }: CommandInput, value?: string) =>
  value ?? (kind === 'boolean' ? true : kind === 'integer' ? String(min ?? 1) : (choices?.[0] ?? 'x'))

describe('Inputs that exclude or need one another', () => {
  const inputsOf = ({ args, flags }: Verb): Record<string, CommandInput> => ({ ...args, ...flags })
  const rules = verbs.flatMap(([command, verb]) =>
    Object.entries(inputsOf(verb)).flatMap(([key, { conflicts = [], needs = [] }]) => [
      ...conflicts.map((rule) => ({ command, verb, key, rule, words: 'cannot be used with' })),
      ...needs.map((rule) => ({ command, verb, key, rule, words: 'needs' })),
    ]),
  )
  const declared = rules.filter(({ verb, rule }) => (rule.split('=')[0] ?? '') in inputsOf(verb))
  /** What is typed for these inputs and for all that they need. */
  const typedFor = (verb: Verb, wanted: readonly string[], raw: ParsedCommand['raw'] = {}): ParsedCommand['raw'] => {
    for (const rule of wanted) {
      const [key = '', value] = rule.split('=')
      const input = inputsOf(verb)[key]
      if (input === undefined || key in raw) continue
      raw[key] = typedValue(input, value)
      typedFor(verb, input.needs ?? [], raw)
    }
    return raw
  }
  const refusal = (verb: Verb, raw: ParsedCommand['raw'], squads?: string) =>
    readInputs(
      { verb, command: 'x', raw, globals: {} as ParsedCommand['globals'] },
      {
        argv: [],
        ui: NOBODY,
        squads: async () => squads,
      },
    ).then(
      () => 'nothing',
      (error: Error) => error.message,
    )

  it('name inputs that some command has beside them', () => {
    expect(declared.length).toBeGreaterThan(400)
    for (const { command, key, rule } of rules) {
      const found = declared.some((each) => each.key === key && each.rule === rule)
      expect(found, `${command}: ${key} beside ${rule}`).toBe(true)
    }
    for (const [command, verb] of verbs) {
      for (const key of verb.needs.flat()) expect(Object.keys(inputsOf(verb)), command).toContain(key)
    }
  })

  it('are refused together or alone, in every command', async () => {
    for (const { command, verb, key, rule, words } of declared) {
      const raw = words === 'needs' ? { [key]: typedValue(inputsOf(verb)[key]!) } : typedFor(verb, [key, rule])
      expect(await refusal(verb, raw), `${command}: ${key} beside ${rule}`).toContain(words)
    }
  })

  it('count the vault of the setting, unless --squads overrides it', async () => {
    const signed = declared.find(({ key, rule }) => key === 'signed' && rule === 'squads')!
    expect(await refusal(signed.verb, { signed: true }, A_VAULT)).toBe(
      'the setting squads cannot be used with --signed',
    )
    expect(await refusal(signed.verb, { signed: true, squads: 'none' }, A_VAULT)).not.toContain('cannot be used')
    expect(await refusal(signed.verb, { signed: true, squads: A_VAULT })).toBe('--squads cannot be used with --signed')
  })
})

describe('The examples', () => {
  it.each(verbs)('of `svc %s` are at least two, differ, and show a flag', (_, { examples }) => {
    expect(examples.length).toBeGreaterThanOrEqual(2)
    expect(new Set(examples).size).toBe(examples.length)
    expect(examples.some((example) => FLAG.test(example))).toBe(true)
  })

  it.each(verbs)('of `svc %s` are commands with everything that it requires', async (command, verb) => {
    for (const example of verb.examples) {
      expect(await commandOf(example), example).toBe(command)
    }
  })

  it.each(verbs)('of `svc %s` have values instead of placeholders', (_, { examples }) => {
    for (const example of examples) {
      // A shell would take `<id>` for a redirection.
      expect(example).not.toMatch(/<[a-z_]+>|…|\.\.\.|\$[A-Z]|\b(?:ID|MINT|WALLET|HEX|FILE|ADDRESS)\b/)
    }
  })
})
