/** Help that the build wrote is the help that commander shows. */
import { Command, Help } from 'commander'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Noun, Verb } from '../../commands/cli/command.ts'
import { helpText } from '../../commands/cli/help.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { helpModel, readCommand } from '../../commands/cli/program.ts'
import { writtenHelp } from '../../commands/cli/written-help.ts'

/** Output that is not a terminal has no columns. */
const toFile = () => undefined
const nouns = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const verbsOf = (noun: Noun): [string, Verb][] => ('verbs' in noun ? Object.entries(noun.verbs) : [['', noun.verb]])

describe('help', () => {
  it.each(nouns)('of $name as the build wrote it is what the parser shows', async ({ name, noun }) => {
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
  ])('of %j is left to the parser', (argv) => {
    expect(writtenHelp(argv, toFile)).toBeUndefined()
  })

  it('is laid out as commander does it, at every width', () => {
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
        expect(helpText(helpModel(command, helper), columns)).toBe(helper.formatHelp(command, helper))
      }),
    )
  })
})
