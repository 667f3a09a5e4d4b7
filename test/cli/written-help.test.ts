/** Help that the build wrote is the help that commander shows. */
import { Command, Help } from 'commander'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Noun, Verb } from '../../commands/cli/command.ts'
import { helpText } from '../../commands/cli/help.ts'
import { NOUNS, rootHelp } from '../../commands/cli/nouns.ts'
import { flagName } from '../../commands/cli/parsed-command.ts'
import { helpModel, readCommand } from '../../commands/cli/program.ts'
import { writtenHelp } from '../../commands/cli/written-help.ts'
import { IDEMPOTENCY_KEY, SIGNING } from '../../commands/signing/flags.ts'

/** Output that is not a terminal has no columns. */
const toFile = () => undefined
const nouns = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const verbsOf = (noun: Noun): [string, Verb][] => ('verbs' in noun ? Object.entries(noun.verbs) : [['', noun.verb]])

describe('The help', () => {
  it.each(nouns)('of $name that the build wrote is what the parser shows', async ({ name, noun }) => {
    const groups = 'verbs' in noun ? Object.keys(noun.groups ?? {}).map((group) => [group]) : []
    for (const [verb] of 'verbs' in noun ? [[''], ...groups, ...verbsOf(noun)] : [['']]) {
      const words = [name, ...(verb ? verb.split(' ') : [])]
      const { text } = (await readCommand([...words, '--help'])) as { text: string }
      expect(writtenHelp([...words, '--help'], toFile), words.join(' ')).toBe(text)
      expect(writtenHelp([...words, '-h'], toFile)).toBe(text)
      expect(writtenHelp(['help', ...words], toFile)).toBe(text)
    }
  })

  it.each([
    [['keys', 'bogus', '--help']],
    [['keys', '', '--help']],
    [['bogus', '--help']],
    [['../package', '--help']],
    [['keys', 'constructor', '--help']],
    [['keys', 'list', '--json', '--help']],
    [['help']],
    [['keys', 'list']],
  ])('of %j comes from the parser', (argv) => {
    expect(writtenHelp(argv, toFile)).toBeUndefined()
  })

  it('shows examples before the commands, in lines that fit and that a shell joins again', async () => {
    const words = ['pools', 'create', '--help']
    const text = writtenHelp(words, () => 80)!
    const [, examples = ''] = /\nExamples:\n([\s\S]*?)\n\n/.exec(text) ?? []
    expect(Math.max(...examples.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    const joined = examples
      .replace(/ \\\n {4}/g, ' ')
      .split('\n')
      .map((line) => line.trim())
    const { noun } = nouns.find(({ name }) => name === 'pools')!
    expect(joined).toEqual('verbs' in noun ? noun.verbs.create?.examples : [])
    expect(text).toMatch(/\nExamples:[\s\S]*\nOptions:[\s\S]*\nOptions of every command: `svc help options`\n$/)
    const ofNoun = writtenHelp(['pools', '--help'], () => 80)!
    expect(ofNoun).toMatch(/\nExamples:\n {2}svc pools [\s\S]*\nCommands:\n/)
    expect(ofNoun).not.toContain('--api-key-file')
  })

  it('of the options of every command is that of svc itself', async () => {
    const { text } = (await readCommand(['help', 'options'])) as { text: string }
    expect(text).toContain('--api-key-file <file>')
    expect(rootHelp()).toContain(text)
  })

  it('of the options that sign is written once, and the help of a command names its own', async () => {
    const { text } = (await readCommand(['help', 'signing'])) as { text: string }
    const names = Object.keys({ ...SIGNING, idempotency_key: IDEMPOTENCY_KEY }).map(flagName)
    for (const name of names) expect(text).toMatch(new RegExp(`\\n  (-k, )?${name}[ \\n]`))
    const ofVerb = writtenHelp(['pools', 'swap', '--help'], () => 200)!
    const own = Object.keys(SIGNING).map(flagName).join(' ')
    expect(ofVerb).toContain(`\nSigning (\`svc help signing\`): ${own}\nOptions of every command: `)
    expect(ofVerb).not.toContain('\n  -k, --keypair')
  })

  it('has the layout of commander at every width', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '—', ',', '(', '.'), minLength: 1, maxLength: 14 })
    const text = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(' '))
    const flags = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 8 }), {
      maxLength: 5,
    })
    const width = fc.integer({ min: 0, max: 160 })
    const options = fc.tuple(flags, fc.array(text, { minLength: 5, maxLength: 5 }))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), options, width, (about, [names, texts], columns) => {
        const command = new Command('x').description(about.join('\n'))
        names.forEach((name, at) => void command.option(`--${name} <value>`, texts[at]))
        const helper = Object.assign(new Help(), { helpWidth: columns })
        const model = { ...helpModel(command, helper), after: '' }
        expect(helpText(model, columns)).toBe(helper.formatHelp(command, helper))
      }),
    )
  })
})
