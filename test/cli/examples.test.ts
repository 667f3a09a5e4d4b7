/** The examples of every command are command lines that work: they parse, and nothing that is required is missing. */
import { describe, expect, it } from 'vitest'
import type { Verb } from '../../commands/cli/command.ts'
import { readInputs } from '../../commands/cli/inputs.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { readCommand } from '../../commands/cli/program.ts'
import type { Ui } from '../../commands/ui/ui.ts'
import { commandLine } from './command-line.ts'
import { exampleWords } from './example-words.ts'

const { svc } = commandLine()

const loaded = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const verbs: [string, Verb][] = loaded.flatMap(({ name, noun }) =>
  'verb' in noun
    ? [[name, noun.verb] as [string, Verb]]
    : Object.entries(noun.verbs).map(([verb, declared]) => [`${name} ${verb}`, declared] as [string, Verb]),
)

/** A script's: a missing input is an error, never a question. */
const NOBODY = { interactive: false } as Ui
const FLAG = /\s-{1,2}[a-z]/

describe('The choices of a flag or argument', () => {
  const choosing = verbs.flatMap(([command, { args, flags }]) =>
    Object.values({ ...args, ...flags }).flatMap((input) => (input.choices ? [{ command, input }] : [])),
  )

  it('are in its help word for word', async () => {
    expect(choosing.length).toBeGreaterThan(60)
    for (const { command, input } of choosing) {
      const answer = await readCommand([...command.split(' '), '--help'])
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

describe('The examples', () => {
  it.each(verbs)('of `svc %s` are at least two, differ, and show a flag', (_, { examples }) => {
    expect(examples.length).toBeGreaterThanOrEqual(2)
    expect(new Set(examples).size).toBe(examples.length)
    expect(examples.some((example) => FLAG.test(example))).toBe(true)
  })

  it.each(verbs)('of `svc %s` are commands with everything that it requires', async (command, verb) => {
    for (const example of verb.examples) {
      const [program, ...argv] = exampleWords(example)
      expect(program, example).toBe('svc')
      const parsed = await readCommand(argv)
      if ('text' in parsed) throw new Error(`${example} is no command`)
      expect(parsed.command, example).toBe(command)
      expect(await readInputs(parsed, { argv, ui: NOBODY })).toBeTypeOf('object')
    }
  })

  it.each(verbs)('of `svc %s` have values instead of placeholders', (_, { examples }) => {
    for (const example of examples) {
      // A shell would take `<id>` for a redirection.
      expect(example).not.toMatch(/<[a-z_]+>|…|\.\.\.|\$[A-Z]|\b(?:ID|MINT|WALLET|HEX|FILE|ADDRESS)\b/)
    }
  })
})
