/** Questions of commands: what is asked, how answers are judged, and the one command line that says the same. */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Verb } from '../../commands/cli/command.ts'
import { openFieldChecks } from '../../commands/cli/field-checks.ts'
import { declaredInputs, readInput } from '../../commands/cli/input-values.ts'
import { readInputs } from '../../commands/cli/inputs.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import type { ParsedCommand } from '../../commands/cli/parsed-command.ts'
import { readCommand } from '../../commands/cli/program.ts'
import { answeredCommandLine } from '../../commands/cli/questions.ts'
import { shellQuoted } from '../../commands/cli/shell-words.ts'
import type { Question, Ui } from '../../commands/ui/ui.ts'
import { commandLine, onTerminal } from './command-line.ts'

const verbs: [command: string, verb: Verb][] = []
for (const { name, load } of NOUNS) {
  const noun = await load()
  if ('verb' in noun) verbs.push([name, noun.verb])
  else for (const [verb, declared] of Object.entries(noun.verbs)) verbs.push([`${name} ${verb}`, declared])
}

/** The words of a command line as a shell reads them. */
const wordsOf = (line: string): string[] =>
  execFileSync('sh', ['-c', `set -f; printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)

/** The examples of a verb that a shell takes as one command, parsed. */
async function examplesOf({ examples }: Verb): Promise<ParsedCommand[]> {
  const plain = examples.filter((example) => /^svc [^<>|&;$`]*$/.test(example))
  const parsed = await Promise.all(plain.map((example) => readCommand(wordsOf(example).slice(1))))
  return parsed.filter((one) => 'verb' in one)
}

/** Answers each question with what its declaration is called by, and keeps what was noted. */
function answering(answers: Record<string, string>) {
  const asked: Question[] = []
  const notes: string[] = []
  const ui = {
    interactive: true,
    async ask(question: Question) {
      asked.push(question)
      const [, answer = ''] =
        Object.entries(answers)
          .toSorted(([one], [other]) => other.length - one.length)
          .find(([about]) => question.message.startsWith(about)) ?? []
      expect(question.check(answer), question.message).toBeUndefined()
      return answer
    },
    note: (text: string) => void notes.push(text),
  } as unknown as Ui
  return { ui, asked, notes }
}

describe('the questions of', () => {
  const asking = verbs.filter(([, verb]) => declaredInputs(verb).some(([, { required }]) => required))

  it('most commands are many', () => expect(asking.length).toBeGreaterThan(60))

  it.each(asking)('svc %s take what its examples take, and lead to the same command', async (command, verb) => {
    process.env.SVC_DATA_DIR = '/nonexistent'
    const examples = await examplesOf(verb)
    for (const example of examples) {
      const given = declaredInputs(verb).filter(([key, { required }]) => required && example.raw[key] !== undefined)
      const answers = Object.fromEntries(given.map(([key, { about }]) => [about, [example.raw[key]].flat().join(',')]))
      const rest = Object.fromEntries(
        Object.entries(example.raw).filter(([key]) => !given.some(([own]) => own === key) && key in verb.flags),
      )
      const { ui, asked, notes } = answering(answers)
      const bare: ParsedCommand = { ...example, raw: rest }
      const argv = command.split(' ')
      const inputs = await readInputs(bare, { argv, ui })
      const direct = await readInputs(example, { argv, ui })
      for (const [key] of given) expect(inputs[key], key).toEqual(direct[key])
      expect(asked.length).toBeGreaterThanOrEqual(given.length)
      if (given.length === 0) continue
      const line = /^The same as one command:\n {2}(.*)$/s.exec(notes[0] ?? '')?.[1] ?? ''
      const again = await readCommand(wordsOf(line).slice(1))
      if (!('verb' in again)) throw new Error(`${line} is no command`)
      const typed = await readInputs(again, { argv, ui })
      for (const [key] of given) expect(typed[key], line).toEqual(direct[key])
    }
  })
})

it('values in the examples pass the schema of their fields, and wrong ones do not', async () => {
  let judged = 0
  for (const [, verb] of verbs) {
    const check = await openFieldChecks(verb)
    for (const { raw } of await examplesOf(verb)) {
      for (const [key, input] of declaredInputs(verb)) {
        if (raw[key] === undefined || !(input.required || input.asked)) continue
        expect(check(key, input, readInput(key, input, raw[key], key)), `${key} ${raw[key]}`).toBeUndefined()
        if (check(key, input, '\0 wrong') !== undefined) judged++
      }
    }
  }
  expect(judged).toBeGreaterThan(100)
})

it('any answer is quoted so that a shell reads that answer', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
        { minLength: 1 },
      ),
      (words) => {
        expect(wordsOf(words.map(shellQuoted).join(' '))).toEqual(words)
      },
    ),
    { numRuns: 50 },
  )
  const revoke = verbs.find(([command]) => command === 'tokens revoke')![1]
  const line = answeredCommandLine(
    revoke,
    ['tokens', 'revoke'],
    [
      ['mint', '-x'],
      ['keypair', '-k file'],
      ['type', "it's"],
    ],
  )
  expect(line).toBe("svc tokens revoke '--keypair=-k file' -- -x 'it'\\''s'")
})

describe('on a terminal', () => {
  const cli = commandLine()

  it('a wrong answer is judged at once by the schema and stays to be mended', async () => {
    const { exitCode, screen } = await onTerminal(
      cli,
      ['keys', 'create'],
      [
        ['Name of the key', `${'x'.repeat(101)}\r`],
        ['<=100 characters', `${'\u007f'.repeat(2)}\r`],
        ['The same as one command', ''],
      ],
    )
    expect(exitCode, screen).toBe(0)
    expect(screen).toContain(`svc keys create --name ${'x'.repeat(99)}`)
    expect(JSON.parse((await cli.svc(['keys', 'list', '--json'])).stdout)[0].name).toBe('x'.repeat(99))
  })

  it('Ctrl-C after an answer tells the command line as far as it was answered', async () => {
    const { exitCode, screen } = await onTerminal(
      cli,
      ['tokens', 'create'],
      [
        ['Name: 1 to 20', 'My Token\r'],
        ['Symbol: up to 10', '\u0003'],
      ],
    )
    expect(exitCode).toBe(130)
    expect(screen).toContain("svc tokens create --name 'My Token'")
  })

  it('what most people set is asked for after what is required, and Enter leaves it out', async () => {
    const answers: [string, string][] = [
      ['Name: 1 to 20', 'My Token\r'],
      ['Symbol: up to 10', 'MTK\r'],
      ['Where its metadata is', 'no url\r'],
      ['must be a URI', `${'\u007f'.repeat(6)}https://example.com/t.json\r`],
      ['First supply', '1000\r'],
      ['Decimals', '\r'],
    ]
    const { screen } = await onTerminal(cli, ['tokens', 'create', '--dry-run'], answers, 60)
    expect(screen.replace(/\r?\n/g, '')).toContain(
      "svc tokens create --dry-run --name 'My Token' --symbol MTK --uri https://example.com/t.json --supply 1000",
    )
  })
})
